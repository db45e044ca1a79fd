# shellcheck shell=bash
# What the project's own gate measures; sourced by own.sh and update.sh. Afterwards the current
# directory is the source tree's root, and
#   fragbench   the program
#   work        a folder for results, removed at the end
#   baseline    the folder of the results that are kept, one a part
# Workloads and program are named relative to the root, so nothing that is kept names this machine.
set -euo pipefail

fragbench=$(realpath "${FRAGBENCH:-$(dirname "${BASH_SOURCE[0]}")/../../build/release/bin/fragbench}")
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
baseline=${BASELINE:-results/reference/gate/baseline}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Growing buffers, shapes that change, requests, threads that come and go, and small blocks.
workloads=(kv-cache-growth variable-shapes request-scope thread-churn metadata-bursts)
# Two parts. The system's allocators do not change with this source tree: what moves is fragbench.
# Our own do, and a build of them may have a page of data more or less.
# shellcheck disable=SC2034 # used by the scripts
parts=(system own)
system=(ptmalloc2 jemalloc tcmalloc mimalloc)
own=(tensor-arena:huge=0 request-arena budgeted) # with huge pages nothing repeats to the page

# measure PART: into $work/PART
measure() {
    local -n allocators=$1
    local arguments=() name status=0
    for name in "${allocators[@]}"; do
        arguments+=(-a "$name")
    done
    for name in "${workloads[@]}"; do
        arguments+=("workloads/$name.yaml")
    done
    "$fragbench" run --progress never --no-timing --layouts 1 --scale 0.1 -o "$work/$1" \
        "${arguments[@]}" >"$work/table" 2>"$work/messages" || status=$?
    [[ $status -eq 0 ]] || cat "$work/table" "$work/messages" >&2
    return "$status"
}
