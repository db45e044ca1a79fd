# Shared by the bats files and update-exact.sh: a workload at its small scale, and assertions that
# read like a row of a table.
# shellcheck shell=bash disable=SC2034 # used by who loads it

[[ -x ${FRAGBENCH:-} ]] || {
    echo "set FRAGBENCH to the program under test" >&2
    exit 1
}
WORKLOADS=${WORKLOADS:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../../workloads" && pwd)}
contenders=ptmalloc2,jemalloc,tcmalloc,mimalloc

fail() {
    printf '%s\n' "$@" >&2
    return 1
}

# What the head comment of a workload names: "# Small scale: -L steps=160."
small_scale() { # NAME
    sed -nE 's/^# Small scale: (.*)\.$/\1/p' "$WORKLOADS/$1.yaml"
}

measure() { # NAME OPTION...: the result as JSON on stdout
    "$FRAGBENCH" run "$WORKLOADS/$1.yaml" --layouts 1 --no-timing -f -o "$1" --export json=- \
        "${@:2}" 2>"$1.log" || fail "$(cat "$1.log")"
}

measure_small() { # NAME OPTION...
    local -a scale
    read -ra scale <<<"$(small_scale "$1")"
    [[ ${#scale[@]} -gt 0 ]] || fail "$1.yaml names no small scale"
    measure "$1" "${scale[@]}" "${@:2}"
}

# result.json to {allocator: {metric: value, PHASE_footprint_bytes: value}}
by_contender='[.cells[] | {key: .allocator.name, value: ((.summary | map_values(.median))
    + ([.repetitions[0].phases[]? | {key: "\(.name | gsub("-"; "_"))_footprint_bytes",
        value: .footprint_bytes}] | from_entries))}] | from_entries'

skip_unless_done() { # RESULT.json: a missing allocator is no pass
    local other
    other=$(jq -r '[.cells[] | select(.status != "ok") | "\(.allocator.name) is \(.status)"]
        | join(", ")' "$1")
    [[ $other != *not-installed* ]] || skip "$other"
    [[ -z $other ]] || fail "$other" "$(jq -r '.cells[].status_detail // empty' "$1")"
}

replay() { # NAME OPTION...: what `holds` then speaks of; the default is all four at small scale
    measure_small "$1" -a "$contenders" "${@:2}" >result.json
    skip_unless_done result.json
    jq "$by_contender" result.json >values.json
}

# also one thread-churn -a ptmalloc2:arena_max=1: `holds` then speaks of it as "one".
also() { # LABEL NAME OPTION... with one allocator
    measure_small "$2" "${@:3}" >also.json
    skip_unless_done also.json
    jq -s --arg who "$1" '.[0] + {($who): (.[1] | '"$by_contender"' | to_entries[0].value)}' \
        values.json also.json >both.json
    mv both.json values.json
}

# What depends on a version of glibc that is to come: skips the rest of the test from it on.
until_glibc() { # VERSION
    local here
    here=$(jq -r '.host.libc' result.json | sed -nE 's/[^0-9]*([0-9]+\.[0-9]+).*/\1/p')
    [[ $(printf '%s\n' "$here" "$1" | sort -V | head -n 1) != "$1" ]] || skip "glibc $here"
}

# holds 'ptmalloc2.kept_bytes > 3 * jemalloc.kept_bytes'; sizes as "8 MiB" or "300 KiB".
holds() {
    local claim terms
    claim=$(sed -E 's/([0-9.]+) MiB/(\1 * 1048576)/g; s/([0-9.]+) KiB/(\1 * 1024)/g
        s/\b([a-z][a-z0-9]*)\.([a-z][a-z0-9_]*)/.\1.\2/g' <<<"$1")
    terms=$(grep -oE '\.[a-z][a-z0-9]*\.[a-z][a-z0-9_]*' <<<"$claim" | sort -u | paste -sd,)
    # null is less than any number: a metric that is n/a would satisfy "<".
    jq -e "([$terms] | all(. != null)) and ($claim)" values.json >/dev/null && return
    fail "does not hold: $1" "$(jq -c "[$terms]" values.json) = $terms"
}

everyone() { # 'ratio_peak < 1.05': holds for each of the four
    local name
    for name in ${contenders//,/ }; do
        holds "$name.$1" || return 1
    done
}
