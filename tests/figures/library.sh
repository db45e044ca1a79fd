#!/usr/bin/env bash
# Every workload of the library at its default scale under the four outside allocators and our own:
# the tables of workloads/README.md and of results/reference/library, and how far tensor-arena
# keeps its goals.
# Usage: FRAGBENCH=path tests/figures/library.sh [OUTDIR [NAME...]]
# With names only those are run; what OUTDIR knows of the others is kept. Says on stderr how far it is.
# shellcheck source-path=SCRIPTDIR source=common.bash
. "$(dirname "$0")/common.bash"

allocators=(ptmalloc2 jemalloc tcmalloc mimalloc)
ours=(budgeted tensor-arena request-arena)
options=(-a "$(IFS=, && echo "${allocators[*]},${ours[*]}")" --layouts 1 --no-timing)
readme=workloads/README.md
known=$out/library.json

# One object a cell. A cell that did not end well has its status and no numbers.
rows() { # RESULT_JSON
    jq '[.cells[] | .summary as $s | {workload: .workload.name, allocator: .allocator.name, status,
        version: .allocator.version, params: .workload.params,
        ratio_peak: $s.ratio_peak.median, ratio_mean: $s.ratio_mean.median,
        kept_bytes: $s.kept_bytes.median, end_footprint_bytes: $s.end_footprint_bytes.median,
        peak_footprint_bytes: $s.peak_footprint_bytes.median,
        peak_live_bytes: $s.peak_live_bytes.median}]' "$1"
}

# A cell that fails does not end the script: its status is what the table then says.
measure() { # NAME
    local status=0
    "$fragbench" run --progress never "workloads/$1.yaml" "${options[@]}" -o "$work/$1" \
        >/dev/null 2>"$work/messages" || status=$?
    [[ $status -eq 0 || $status -eq 5 ]] || {
        cat "$work/messages" >&2
        return 1
    }
    rows "$work/$1/result.json" >"$work/rows.json"
    jq --slurpfile new "$work/rows.json" --arg name "$1" \
        '[.[] | select(.workload != $name)] + $new[0] | sort_by(.workload)' "$known" >"$work/all.json"
    cat "$work/all.json" >"$known"
}

measure_all() { # NAME...
    local name count=0 begun=$SECONDS
    for name in "$@"; do
        count=$((count + 1))
        local at=$SECONDS
        measure "$name"
        echo "[$count/$#] $name: $((SECONDS - at)) s" >&2
    done
    echo "$# workloads in $((SECONDS - begun)) s" >&2
}

# Rows of workloads that are no longer there go.
forget_others() { # NAME...
    jq --args '[.[] | select(.workload | IN($ARGS.positional[]))]' "$@" <"$known" >"$work/all.json"
    cat "$work/all.json" >"$known"
}

csv() {
    jq -r '["workload", "allocator", "version", "status", "ratio_peak", "ratio_mean", "kept_bytes",
            "end_footprint_bytes", "peak_footprint_bytes", "peak_live_bytes", "params"],
        (.[] | [.workload, .allocator, .version, .status, .ratio_peak, .ratio_mean, .kept_bytes,
            .end_footprint_bytes, .peak_footprint_bytes, .peak_live_bytes,
            (.params | to_entries | map("\(.key)=\(.value)") | join(" "))]) | @csv' "$known"
}

# What both tables share: a workload's cells by allocator, and a cell's text. n/a is the ratio's own.
jq_cells='def by_workload: group_by(.workload) | map({name: .[0].workload, params: .[0].params,
        cell: (map({key: .allocator, value: .}) | from_entries)});
    def ratio: if . == null then "n/a" else fixed(2) end;
    def text(what): if . == null then "" elif .status == "ok" or .status == "refused" then what
        else .status end;
    def row: "| " + join(" | ") + " |";'

# table TITLE VALUE_FILTER: one figure of every workload under every allocator.
table() {
    printf '%s:\n\n' "$1"
    jq -r "$jq_format $jq_cells"'
        ($ARGS.positional) as $allocators |
        (["workload"] + $allocators | row), ([":--"] + ($allocators | map("--:")) | row),
        (by_workload[] | . as $w | [.name] + ($allocators | map($w.cell[.] | text('"$2"'))) | row)' \
        --args "${allocators[@]}" "${ours[@]}" <"$known"
    echo
}

# tensor-arena against the best of the four on each AI workload, by the goals of docs/tensor-arena.md:
# best or within 2 % at the peak and at the end, geometric mean of ratio_peak at most 1.10.
goals() {
    jq -r --arg names "$ai_workloads" "$jq_format"'
        def best(metric): map(select(.allocator != "tensor-arena") | metric) | min;
        def word($own; $best): if $own <= 1.02 * $best then "kept" else
            "+\(($own / $best - 1) * 100 | fixed(0)) %" end;
        def gm: map(log) | add / length | exp;
        [.[] | select(.workload | test($names)) |
            select(.allocator | IN("ptmalloc2", "jemalloc", "tcmalloc", "mimalloc", "tensor-arena"))]
        | group_by(.workload)
        | map({name: .[0].workload, own: (.[] | select(.allocator == "tensor-arena")),
            peak: best(.peak_footprint_bytes), end: best(.end_footprint_bytes), all: .})
        | (["workload", "ratio peak", "peak MiB", "best of four", "goal", "end MiB",
            "best of four", "goal"] | join("\t")),
        (.[] | [.name, (.own.ratio_peak | if . == null then "n/a" else fixed(2) end),
            (.own.peak_footprint_bytes | mib), (.peak | mib), word(.own.peak_footprint_bytes; .peak),
            (.own.end_footprint_bytes | mib), (.end | mib),
            word(.own.end_footprint_bytes; .end)] | join("\t")),
        "geometric mean of ratio peak: " + ([("tensor-arena", "ptmalloc2", "jemalloc", "tcmalloc",
            "mimalloc") as $who | "\($who) \(map(.all[] | select(.allocator == $who) | .ratio_peak |
            values) | gm | fixed(3))"] | join(", "))' <"$known" >"$work/goals.tsv"
    sed '$d' "$work/goals.tsv" | aligned 1
    echo
    tail -n 1 "$work/goals.tsv"
}

# NAME and the first sentence of its description, tab-separated.
sentences() { # NAME...
    local name
    for name in "$@"; do
        printf '%s\t%s\n' "$name" "$("$fragbench" list workloads "$name" |
            sed -nE 's/^  description +//p' | sed -E 's/\. .*/./')"
    done
}

library() {
    jq -r --rawfile sentences "$work/sentences.tsv" "$jq_format $jq_cells"'
        ($ARGS.positional) as $allocators |
        ($sentences | split("\n")[:-1] | map(split("\t") | {key: .[0], value: .[1]}) |
            from_entries) as $sentence |
        (["workload", "pattern"] + $allocators + ["parameters"] | row),
        ([":--", ":--"] + ($allocators | map("--:")) + [":--"] | row),
        (by_workload[] | . as $w | ["[\(.name)](\(.name).yaml)", $sentence[.name]] +
            ($allocators | map($w.cell[.] |
                text("\(.ratio_peak | ratio) / \(if .kept_bytes == null then "n/a" else
                    .kept_bytes / 1048576 | if . < 0 then "-" + (-. | round | tostring) else
                    round | tostring end end)"))) +
            [.params | to_entries | map("`\(.key)=\(.value)`") | join(" ")] | row)' \
        --args "${allocators[@]}" <"$known"
}

# Puts standard input between the markers of the library's README.
into_readme() {
    cat >"$work/table.md"
    awk -v table="$work/table.md" '
        /^<!-- library:end -->/ { inside = 0; ended++ }
        !inside { print }
        /^<!-- library:begin/ { inside = 1; begun++; print ""
            while ((getline line <table) > 0) print line
            print "" }
        END { exit begun != 1 || ended != 1 || inside }' "$readme" >"$work/readme.md"
    cat "$work/readme.md" >"$readme"
}

main() {
    mapfile -t files < <(basename -s .yaml -- workloads/*.yaml)
    [[ -s $known ]] || echo '[]' >"$known"
    [[ $# -gt 0 ]] || set -- "${files[@]}"
    measure_all "$@"
    local last=${!#}
    forget_others "${files[@]}"
    csv >"$out/library.csv"
    { echo "\`fragbench run NAME ${options[*]}\`"
        echo
        machine "$work/$last/result.json"
        echo
        table "ratio peak" '.ratio_peak | ratio'
        table "ratio mean" '.ratio_mean | ratio'
        table "kept, MiB" '.kept_bytes / 1048576 | round'
        table "end footprint, MiB" '.end_footprint_bytes / 1048576 | round'; } >"$out/table.md"
    { echo "\$ fragbench run NAME ${options[*]}"
        machine "$work/$last/result.json"
        echo
        goals; } >"$out/output.txt"
    sentences "${files[@]}" >"$work/sentences.tsv"
    if jq -e --args '($ARGS.positional - map(.workload)) == []' "${files[@]}" <"$known" >/dev/null; then
        library | into_readme
    else
        echo "$readme left as it is: $known does not know every workload" >&2
    fi
}
main "${@:2}"
