#!/usr/bin/env bash
# Does a run repeat? Five separate runs as the machine is, five more with every CPU kept busy by
# another load; every value that result.json calls exact, and every curve, is compared.
# Usage: FRAGBENCH=path tests/figures/determinism.sh [OUTDIR]
# shellcheck source-path=SCRIPTDIR source=common.bash
. "$(dirname "$0")/common.bash"

runs=5

# values FOLDER: workload, allocator, layout, metric, value; one line each. The curve of a run
# counts as one more value: the checksum of its file.
values() {
    jq -r '[.units | to_entries[] | select(.value.assume == "exact") | .key] as $exact |
        .cells[] | .workload.name as $w | .allocator.name as $a | .workload.trace_sha256 as $t |
        .repetitions[] | .layout as $l | .metrics as $m |
        ($exact[] | [$w, $a, $l, ., ($m[.] | tostring)]), [$w, $a, $l, "trace", $t] | @tsv' \
        "$1/result.json"
    jq -r '.cells[] | .workload.name as $w | .allocator.name as $a | .repetitions[] |
        [$w, $a, .layout, .series] | @tsv' "$1/result.json" |
        while IFS=$'\t' read -r workload allocator layout series; do
            printf '%s\t%s\t%s\tcurve\t%s\n' "$workload" "$allocator" "$layout" \
                "$(sha256sum <"$1/$series" | cut -c 1-16)"
        done
}

# repeat STATE: runs, and appends STATE and the values to the list of all.
repeat() {
    local run
    for ((run = 1; run <= runs; run++)); do
        bench workloads/kv-cache-growth.yaml workloads/size-shift.yaml --no-timing \
            -o "$work/$1-$run"
        require_fixed_layout "$work/$1-$run/result.json"
        values "$work/$1-$run" | sed "s/^/$1\t/" >>"$work/all.tsv"
    done
}

# Per value: how many different ones the quiet runs gave, and how many all of them.
digest() {
    awk -F '\t' -v OFS=, '
        BEGIN { print "workload,allocator,layout,metric,value,distinct_quiet,distinct_all" }
        { key = $2 OFS $3 OFS $4 OFS $5
          if (!(key in first)) { first[key] = $6; order[++keys] = key }
          if (!((key, $6) in seen)) { seen[key, $6] = 1; all[key]++ }
          if ($1 == "quiet" && !((key, $6) in quiet_seen)) { quiet_seen[key, $6] = 1; quiet[key]++ } }
        END { for (i = 1; i <= keys; i++)
                  print order[i], first[order[i]], quiet[order[i]], all[order[i]] }' "$work/all.tsv"
}

table() {
    awk -F , -v OFS='\t' -v runs="$runs" '
        BEGIN { print "workload", "allocator", "values compared", "differing, " runs " runs",
                "differing, " runs " + " runs " under load" }
        NR > 1 { cell = $1 OFS $2
            if (!(cell in count)) order[++cells] = cell
            count[cell]++; quiet[cell] += $6 > 1; all[cell] += $7 > 1 }
        END { for (i = 1; i <= cells; i++)
                  print order[i], count[order[i]], quiet[order[i]], all[order[i]] }' \
        "$out/values.csv" | aligned 2
    echo
    awk -F , 'NR > 1 && $7 > 1 { print "differs: " $1 " " $2 " layout " $3 " " $4; found++ }
        END { print found + 0 " of " NR - 1 " values differ" }' "$out/values.csv"
}

main() {
    repeat quiet
    echo "(every CPU busy with sha256sum:)"
    start_load
    repeat busy
    stop_load
    digest >"$out/values.csv"
    keep "$work/quiet-1/result.json" result.json
    machine "$out/result.json"
    echo
    table
}
main | tee "$out/output.txt"
