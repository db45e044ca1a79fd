#!/usr/bin/env bash
# Our own allocators' claims and variants: latency within requests, chunk sizes, the cap of a request,
# the coarse ladder of size classes, direct mappings, and a budget that bites. Latencies need a quiet
# machine; everything else is exact.
# Usage: FRAGBENCH=path tests/figures/arenas.sh [OUTDIR]
# shellcheck source-path=SCRIPTDIR source=common.bash
. "$(dirname "$0")/common.bash"

four=ptmalloc2,jemalloc,tcmalloc,mimalloc

# numbers RESULT_JSON: nothing is hidden, a figure that does not apply is n/a.
jq_cells="$jq_format"'
    def or_na(text): if . == null then "n/a" else text end;
    def mibs: or_na(if . < 0 then "-" + (-. | mib) else mib end);'

memory() { # RESULT_JSON
    jq -r "$jq_cells"'
        ["contender", "peak MiB", "ratio peak", "kept MiB", "end MiB", "faults", "refused",
         "degraded"],
        (.cells[] | .summary as $s | .repetitions[0] as $r | [(.id | split("/")[1]),
            ($s.peak_footprint_bytes.median | mibs), ($s.ratio_peak.median | or_na(fixed(2))),
            ($s.kept_bytes.median | mibs), ($s.end_footprint_bytes.median | mibs),
            $r.metrics.minor_faults, $r.refused, $r.degraded_iterations]) | @tsv' "$1" | aligned 1
}

latency() { # RESULT_JSON
    jq -r "$jq_cells"'
        ["contender", "ns per call", "p50 ns", "p99 ns", "p99.9 ns", "kept MiB", "peak MiB"],
        (.cells[] | .summary as $s | [(.id | split("/")[1]),
            ($s.ns_per_op.median | or_na(fixed(1))), ($s.latency_p50_ns.median | or_na(fixed(0))),
            ($s.latency_p99_ns.median | or_na(fixed(0))),
            ($s.latency_p999_ns.median | or_na(fixed(0))), ($s.kept_bytes.median | mibs),
            ($s.peak_footprint_bytes.median | mibs)]) | @tsv' "$1" | aligned 1
}

# An allocator's own counters at the end of a run, by pattern of name.
counters() { # RESULT_JSON CONTENDER REGEX
    jq -r --arg who "$2" --arg names "$3" '.cells[] | select(.id | split("/")[1] == $who) |
        .repetitions[0].checkpoints[-1].allocator | to_entries[] | select(.key | test($names)) |
        "  \(.key) \(.value)"' "$1"
}

# show LABEL TABLE TITLE ARGUMENT...: one run and its table; a cell that refused work is a figure here.
show() {
    printf '\n%s\n' "$3"
    bench "${@:4}" --layouts 1 -o "$work/$1"
    keep "$work/$1/result.json" "$1.json"
    "$2" "$out/$1.json"
}

requests() {
    show request-scope latency "Requests of small objects: latency of a call." \
        workloads/request-scope.yaml -a "$four,request-arena,tensor-arena"
    show chunks-small latency "Chunks of 256 KiB and of 1 MiB, small objects only." \
        workloads/request-scope.yaml -a 'request-arena:chunk={256KiB,1MiB}'
    show chunks-large latency "The same where token buffers rival the chunk, large=1MiB." \
        workloads/arena-chunk.yaml -a "$four" -a request-arena \
        -a 'request-arena:chunk={256KiB,1MiB},large=1MiB'
    show cap memory "A cap of 128 KiB a request: spill to the inner allocator, or refuse." \
        workloads/request-scope.yaml -a request-arena \
        -a 'request-arena:cap=128KiB,on_cap={spill,refuse}' --no-timing
    counters "$out/cap.json" 'request-arena:cap=128KiB,on_cap=spill' 'cap|spill|peak|refus|scopes'
}

ladders() {
    local name
    for name in inference-mixed kv-cache-growth metadata-bursts torch-encoder; do
        show "ladder-$name" memory "$name: size classes, fine and coarse (4, 16, 64, 256 KiB, 1 MiB)." \
            "workloads/$name.yaml" -a 'tensor-arena:ladder={fine,coarse}' --no-timing
    done
    for name in inference-service model-swap variable-shapes; do
        show "direct-$name" latency "$name: own mappings from 1 MiB (default) and from 4 MiB; what is kept." \
            "workloads/$name.yaml" -a tensor-arena -a tensor-arena:direct=4MiB \
            -a 'tensor-arena:keep={none,all}'
    done
}

budgets() {
    show over-budget memory "A budget that bites: caches that need 732 MiB, in 256 MiB." \
        workloads/over-budget.yaml -a "$four" -a budgeted:budget=256MiB \
        -a budgeted:budget=256MiB,mode=footprint -a budgeted:budget=256MiB+jemalloc \
        -a budgeted:budget=256MiB,mode=footprint+jemalloc --no-timing
}

main() {
    requests
    ladders
    budgets
    echo
    machine "$out/request-scope.json"
}
main | tee "$out/output.txt"
