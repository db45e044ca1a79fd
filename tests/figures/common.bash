# shellcheck shell=bash
# What the figure scripts share; sourced by each of them. Afterwards the current directory is the
# source tree's root and
#   figure   the script's name
#   out      the folder for what is kept: OUTDIR/<figure>
#   work     results/figures/<figure>: the raw results, curves included; not under version control
# The results are named by paths relative to the root, so no file that is kept names this machine's
# folders.
set -euo pipefail

fragbench=$(realpath "${FRAGBENCH:-$(dirname "${BASH_SOURCE[0]}")/../../build/release/bin/fragbench}")
figure=$(basename "$0" .sh)
out=$(realpath -m "${1:-$(dirname "${BASH_SOURCE[0]}")/../../results/reference}")/$figure
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
work=results/figures/$figure
rm -rf "$work"
mkdir -p "$work" "$out"

# bench ARGUMENT...: prints the command and runs it, with the table left out. A cell that fails
# ends the script: a figure with holes is none.
bench() {
    echo "\$ fragbench run $*"
    "$fragbench" run --progress never "$@" >/dev/null 2>"$work/messages" || {
        cat "$work/messages" >&2
        return 1
    }
}

# machine RESULT_JSON: the line that says where the numbers come from.
machine() {
    jq -r '.host as $h | "machine: \($h.cpu), \($h.ncpu) CPUs, \($h.memory_bytes / 1073741824 |
        round) GiB, \($h.kernel), \($h.libc), \($h.machine), THP \($h.thp); fragbench \(
        .fragbench.version); " + ([.cells[].allocator | "\(.name) \(.version)"] | unique |
        join(", "))' "$1"
}

# require_fixed_layout RESULT_JSON: fails unless every run had fixed addresses; without them nothing is exact.
require_fixed_layout() {
    jq -e 'all(.cells[]; .layout == "fixed")' "$1" >/dev/null || {
        echo "$figure: addresses cannot be fixed on this machine; the figure means nothing" >&2
        return 1
    }
}

# jq's own functions for the tables: fixed(digits) is a decimal with trailing zeros, mib from bytes.
# Numbers are not negative.
# shellcheck disable=SC2034 # used by the scripts
jq_format='def fixed(digits): . * pow(10; digits) | round | tostring |
    if digits == 0 then . else
        (if length <= digits then ("0" * (digits + 1 - length)) + . else . end) |
        .[:-digits] + "." + .[-digits:] end;
    def mib: . / 1048576 | fixed(1);'

# aligned LEFT: tab-separated lines to a table; the first LEFT columns to the left, the others
# to the right.
aligned() {
    awk -F '\t' -v left="$1" '
        { for (i = 1; i <= NF; i++) { cell[NR, i] = $i
              if (length($i) > width[i]) width[i] = length($i) }
          if (NF > columns) columns = NF }
        END { for (row = 1; row <= NR; row++) { line = sprintf("%-" width[1] "s", cell[row, 1])
                  for (i = 2; i <= columns; i++)
                      line = line sprintf("  %" (i > left ? "" : "-") width[i] "s", cell[row, i])
                  sub(/ +$/, "", line); print line } }'
}

# The AI patterns that tensor-arena is made for: a regular expression of workload names.
# shellcheck disable=SC2034 # used by the scripts
ai_workloads='^(inference-|kv-|torch-)|^(forward-pass|model-swap|variable-shapes|continuous-batching|frame-pipeline|embedding-batch|aligned-tensors|ort-dynamic)$'

# keep FROM NAME: keeps a result document under the figure's folder, with our own libraries where they
# are installed instead of in this machine's build folder.
keep() {
    sed "s|\"$(dirname "$fragbench")/libfragbench|\"/usr/local/libexec/fragbench/libfragbench|g" "$1" >"$out/$2"
}

# start_load keeps every CPU busy until stop_load, or the end of the (sub)shell that called it: its trap has to
# be set there.
load=()
stop_load() {
    [[ ${#load[@]} -gt 0 ]] || return 0
    kill "${load[@]}" 2>/dev/null || true
    wait "${load[@]}" 2>/dev/null || true
    load=()
}
start_load() {
    local cpu cpus
    trap stop_load EXIT
    trap 'exit 130' INT TERM
    cpus=$(nproc)
    for ((cpu = 0; cpu < cpus; cpu++)); do
        sha256sum /dev/zero >/dev/null &
        load+=($!)
    done
}

# libc by its path is preloaded itself: a program that is linked to another allocator has ptmalloc2 then, too.
# shellcheck disable=SC2034 # used by the scripts
libc=$(ldd /bin/sh | awk '$1 == "libc.so.6" { print $3 }')

# The median of the numbers on standard input.
median() {
    sort -n | awk '{ v[NR] = $1 }
        END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}

# The same of a list of numbers within awk: the text of a function middle(list).
# shellcheck disable=SC2034 # used by the scripts
awk_middle='function middle(list,    v, n, i, j, t) {
    n = split(list, v, " ")
    for (i = 2; i <= n; i++) { t = v[i] + 0
        for (j = i - 1; j > 0 && v[j] + 0 > t; j--) v[j + 1] = v[j]
        v[j + 1] = t }
    return n == 0 ? "" : n % 2 ? v[(n + 1) / 2] + 0 : (v[n / 2] + v[n / 2 + 1]) / 2 }'

# present [NAME...]: the programs of tests/real (all, or those named) that are installed; what is missing is told
# on standard error.
present() {
    local name reason names=("$@")
    [[ $# -gt 0 ]] || mapfile -t names < <(basename -s .sh -- tests/real/*.sh)
    for name in "${names[@]}"; do
        if reason=$(tests/real/"$name".sh check); then
            echo "$name"
        else
            echo "$name: left out: $reason" >&2
        fi
    done
}

# watch_arguments NAME DIR: what comes behind exec's options for a program of tests/real: a service is loaded by
# a driver, whose memory is not its own. One word a line.
watch_arguments() {
    local program=tests/real/$1.sh
    if grep -q '^serve()' "$program"; then
        printf '%s\n' --driver "$program load $2" -- "$program" serve "$2"
    else
        printf '%s\n' -- "$program" run "$2"
    fi
}
