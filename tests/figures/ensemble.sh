#!/usr/bin/env bash
# How much does a figure hang on addresses? Each cell in five fixed layouts; the relative range
# (largest - smallest) / median of five metrics.
# Usage: FRAGBENCH=path tests/figures/ensemble.sh [OUTDIR]
# shellcheck source-path=SCRIPTDIR source=common.bash
. "$(dirname "$0")/common.bash"

workloads=(kv-cache-growth size-shift inference-mixed)

# Every exact metric of every cell with its range, as CSV.
ranges() {
    jq -r '[.units | to_entries[] | select(.value.assume == "exact") | .key] as $exact |
        .cells[] | .workload.name as $w | .allocator.name as $a | .summary as $s |
        $exact[] | select($s[.] != null and $s[.].n > 0) | . as $m | $s[$m] |
        [$w, $a, $m, .n, .median, .min, .max,
         (if .median != 0 then (.max - .min) / (.median | fabs) else null end)] | @csv' "$1" |
        tr -d '"'
}

# One workload's table: median and relative range. A relative range of less than 1 MiB says nothing.
table() {
    jq -r "$jq_format"'
        def spread: if .max == .min then "0" else
            (100 * (.max - .min) / .median | fixed(2)) + " %" end;
        def ratio: (.median | fixed(2)), spread;
        def size: (.median | mib),
            (if .median < 1048576 then "n/a" else spread end);
        (["allocator", "ratio peak", "range", "kept MiB", "range", "end MiB", "range",
          "ratio mean", "range", "idle 10 s MiB", "range"]),
        (.cells[] | .summary as $s | [.allocator.name, ($s.ratio_peak | ratio),
         ($s.kept_bytes | size), ($s.end_footprint_bytes | size), ($s.ratio_mean | ratio),
         ($s.retained_idle_10s_bytes | size)]) | @tsv' "$1" | aligned 1
}

main() {
    local workload
    for workload in "${workloads[@]}"; do
        bench "workloads/$workload.yaml" --layouts 5 --no-timing -o "$work/$workload"
        require_fixed_layout "$work/$workload/result.json"
        keep "$work/$workload/result.json" "$workload.json"
    done
    machine "$out/${workloads[0]}.json"
    echo "workload,allocator,metric,n,median,min,max,relative_range" >"$out/ranges.csv"
    for workload in "${workloads[@]}"; do
        ranges "$out/$workload.json" >>"$out/ranges.csv"
        printf '\n%s\n' "$workload"
        table "$out/$workload.json"
    done
    printf '\nrange: (largest - smallest) / median over 5 layouts; n/a where the median is below 1 MiB\n'
}
main | tee "$out/output.txt"
