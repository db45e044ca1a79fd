#!/usr/bin/env bash
# The negative controls: a cache that grows by design and a real leak. Neither is fragmentation, and
# the report must not say so. Kept is the report as it is printed, and what would tell a leak: growth
# of the live bytes, a ratio near 1, nothing that a purge gets back.
# Usage: FRAGBENCH=path tests/figures/controls.sh [OUTDIR]; takes 1 minute.
# shellcheck source-path=SCRIPTDIR source=common.bash
. "$(dirname "$0")/common.bash"

report() { # NAME
    local arguments=("workloads/$1.yaml" -a "ptmalloc2,jemalloc,tcmalloc,mimalloc" --no-timing
        -o "$work/$1")
    echo "\$ fragbench run ${arguments[*]}"
    "$fragbench" run --progress never "${arguments[@]}" 2>"$work/messages" || {
        cat "$work/messages" >&2
        return 1
    }
    keep "$work/$1/result.json" "$1.json"
}

evidence() { # NAME
    jq -r "$jq_format"'
        ["allocator", "ratio peak", "ratio mean", "drift", "kept MiB", "live at the end MiB",
         "not given back by a purge MiB"],
        (.cells[] | .summary as $s | [.allocator.name, ($s.ratio_peak.median | fixed(2)),
         ($s.ratio_mean.median | fixed(2)),
         ($s.drift.median | if . == null then "n/a" else fixed(2) end),
         ($s.kept_bytes.median | mib), ($s.end_live_bytes.median | mib),
         ($s.retained_purged_bytes.median | mib)]) | @tsv' "$out/$1.json" | aligned 1
}

main() {
    local name
    for name in control-cache control-leak; do
        report "$name"
        echo
        evidence "$name"
        echo
    done
    machine "$out/control-leak.json"
}
main | tee "$out/output.txt"
