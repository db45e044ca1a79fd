#!/usr/bin/env bash
# What fragbench's own machinery costs, each beside a bare loop in one run: a replayed call, a recorded
# call, and request-arena's allocation beside bumpalo's. Needs a quiet machine to mean anything, and the
# benchmarks: cmake --build BUILD --target replay_bench recorder_bench request_arena_bench (the last one
# needs rustc and librust-bumpalo-dev; without them it is left out, and said).
# Usage: FRAGBENCH=path tests/figures/costs.sh [OUTDIR]
# shellcheck source-path=SCRIPTDIR source=common.bash
. "$(dirname "$0")/common.bash"

rounds=3
bin=$(dirname "$fragbench")
bumpalo=$bin/../tests/bench/request_arena/bumpalo_bench

{
    bench workloads/request-scope.yaml --layouts 1 --no-timing -o "$work/host" >/dev/null
    machine "$work/host/result.json"
    printf '\n$ replay_bench\n'
    "$bin/replay_bench"
    printf '\n$ tests/bench/recorder_bench.sh FRAGBENCH RECORDER_BENCH   (ns of processor time a call)\n'
    tests/bench/recorder_bench.sh "$fragbench" "$bin/recorder_bench"
    if [[ -x $bumpalo ]]; then
        for ((round = 1; round <= rounds; round++)); do
            printf '\n$ bumpalo_bench   (round %d; bumpalo 3.12, ratio of the fastest of many rounds)\n' $round
            (cd "$(dirname "$bumpalo")" && ./bumpalo_bench)
        done
    else
        echo "bumpalo_bench: not built (apt-get install rustc librust-bumpalo-dev)"
    fi
} | tee "$out/output.txt"
