#!/usr/bin/env bash
# Do threads repeat? Twenty runs of thread-churn and continuous-batching with threads that take turns
# (lockstep): every exact value and every curve is compared; twenty with threads at once (free): their spread.
# Usage: FRAGBENCH=path tests/figures/threads.sh [OUTDIR]
# shellcheck source-path=SCRIPTDIR source=common.bash
. "$(dirname "$0")/common.bash"

runs=20
workloads=(workloads/thread-churn.yaml workloads/continuous-batching.yaml)

# values ORDER FOLDER: order, workload, allocator, metric, value; the curve counts as one more.
values() {
    jq -r --arg order "$1" '
        [.units | to_entries[] | select(.value.assume == "exact") | .key] as $exact |
        .cells[] | .workload.name as $w | .allocator.name as $a | .repetitions[0].metrics as $m |
        $exact[] | [$order, $w, $a, ., ($m[.] | tostring)] | @tsv' "$2/result.json"
    jq -r '.cells[] | [.workload.name, .allocator.name, .repetitions[0].series] | @tsv' \
        "$2/result.json" |
        while IFS=$'\t' read -r workload allocator series; do
            printf '%s\t%s\t%s\tcurve\t%s\n' "$1" "$workload" "$allocator" \
                "$(sha256sum <"$2/$series" | cut -c 1-16)"
        done
}

lockstep_table() {
    awk -F '\t' -v OFS='\t' '
        $1 != "lockstep" { next }
        { cell = $2 OFS $3; key = cell OFS $4
          if (!(cell in count)) order[++cells] = cell
          if (!(key in first)) { first[key] = $5; count[cell]++ }
          else if (first[key] != $5 && !(key in bad)) { bad[key] = 1; differs[cell]++ } }
        END { print "workload", "allocator", "values compared", "differing"
              for (i = 1; i <= cells; i++) print order[i], count[order[i]], differs[order[i]] + 0 }' \
        "$work/all.tsv" | aligned 2
}

free_table() {
    awk -F '\t' -v OFS='\t' '
        $1 != "free" || ($4 != "peak_footprint_bytes" && $4 != "kept_bytes") { next }
        { key = $2 OFS $3 OFS $4; value = $5 / 1048576
          if (!(key in low)) { order[++keys] = key; low[key] = high[key] = value }
          if (value < low[key]) low[key] = value
          if (value > high[key]) high[key] = value; sum[key] += value; n[key]++ }
        END { print "workload", "allocator", "metric", "mean MiB", "from", "to", "spread"
              for (i = 1; i <= keys; i++) {
                  k = order[i]
                  mean = sum[k] / n[k]
                  spread = mean > 0 ? 100 * (high[k] - low[k]) / mean : 0
                  printf("%s\t%.1f\t%.1f\t%.1f\t%.1f %%\n", k, mean, low[k], high[k], spread) } }' \
        "$work/all.tsv" | aligned 3
}

main() {
    local run
    for ((run = 1; run <= runs; run++)); do
        bench "${workloads[@]}" --layouts 1 --no-timing -o "$work/lockstep-$run"
        bench "${workloads[@]}" --layouts 1 --no-timing --order free -o "$work/free-$run"
        values lockstep "$work/lockstep-$run" >>"$work/all.tsv"
        values free "$work/free-$run" >>"$work/all.tsv"
    done
    keep "$work/lockstep-1/result.json" lockstep.json
    keep "$work/free-1/result.json" free.json
    machine "$out/lockstep.json"
    echo
    echo "$runs runs in lockstep:"
    lockstep_table
    echo
    echo "$runs runs in free order:"
    free_table
}
main | tee "$out/output.txt"
