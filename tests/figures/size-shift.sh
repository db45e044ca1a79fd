#!/usr/bin/env bash
# The sizes of the Mesh paper's Redis experiment: every allocator's mean footprint against
# jemalloc's. results/reference/README.md says what of it can be compared with the paper.
# Usage: FRAGBENCH=path tests/figures/size-shift.sh [OUTDIR]
# shellcheck source-path=SCRIPTDIR source=common.bash
. "$(dirname "$0")/common.bash"

# The runs: allocator, layout, end of the phases refill and idle in ns, curve; tab-separated.
runs() {
    jq -r '.cells[] | .allocator.name as $a | .repetitions[] | . as $run |
        [$a, .layout, (("refill", "idle") as $phase | $run.checkpoints[] |
         select(.kind == "phase_end" and .phase == $phase) | .t_ns), .series] | @tsv' \
        "$work/result.json"
}

# mean_until T_NS CURVE: the footprint's mean in bytes, weighted by time; a sample holds until the
# next. What follows the last phase is teardown and not counted.
mean_until() {
    awk -F , -v until="$1" 'NR > 1 && $1 <= until {
            if (NR > 2) sum += last * ($1 - before)
            last = $2; before = $1 }
        END { printf "%.0f\n", (sum + last * (until - before)) / until }' "$2"
}

means() {
    echo "allocator,layout,mean_active_bytes,mean_with_idle_bytes"
    runs | while IFS=$'\t' read -r allocator layout refill idle series; do
        echo "$allocator,$layout,$(mean_until "$refill" "$work/$series"),$(
            mean_until "$idle" "$work/$series")"
    done
}

# Medians over the layouts, and the difference to jemalloc's.
table() {
    jq -r --rawfile means "$out/means.csv" "$jq_format"'
        def median: sort | .[(length - 1) / 2 | floor];
        def against($base): 100 * (. / $base - 1) | round |
            if . > 0 then "+\(.) %" else "\(.) %" end;
        ($means | split("\n")[1:-1] | map(split(",") | {a: .[0], active: (.[2] | tonumber),
            idle: (.[3] | tonumber)}) | group_by(.a) | map({key: .[0].a, value: {
            active: (map(.active) | median), idle: (map(.idle) | median)}}) |
            from_entries) as $mean | $mean.jemalloc as $j |
        (.cells[] | select(.allocator.name == "jemalloc").summary) as $js |
        ["allocator", "ratio mean", "ratio mean time", "mean MiB, 3 phases", "to jemalloc",
         "mean MiB, with idle", "to jemalloc", "end MiB", "to jemalloc"],
        (.cells[] | .allocator.name as $a | .summary as $s | $mean[$a] as $m |
         [$a, ($s.ratio_mean.median | fixed(2)),
          ($s.ratio_mean_time.median | fixed(2)),
          ($m.active | mib), ($m.active | against($j.active)),
          ($m.idle | mib), ($m.idle | against($j.idle)),
          ($s.end_footprint_bytes.median | mib),
          ($s.end_footprint_bytes.median | against($js.end_footprint_bytes.median))]) | @tsv' \
        "$out/result.json" | aligned 1
}

main() {
    bench workloads/size-shift.yaml --no-timing -o "$work" -f
    require_fixed_layout "$work/result.json"
    keep "$work/result.json" result.json
    means >"$out/means.csv"
    machine "$out/result.json"
    echo
    table
    echo
    jq -r "$jq_format"'.cells[0].summary | "live: \(.peak_live_bytes.median | mib) MiB at the peak, \(
        .end_live_bytes.median | mib) MiB at the end"' "$out/result.json"
    echo "the paper, on Redis: Mesh 39 % below jemalloc"
}
main | tee "$out/output.txt"
