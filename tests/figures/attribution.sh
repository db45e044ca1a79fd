#!/usr/bin/env bash
# Where the memory is: the parts of five workloads under seven contenders and that they sum; what a
# look costs; and three checks by other means. Usage: attribution.sh [OUTDIR]; takes 8 minutes.
# SCALE=0.1 in the environment makes it a short trial. Needs strace and a C compiler, too.
# shellcheck source-path=SCRIPTDIR source=common.bash
. "$(dirname "$0")/common.bash"

scale=${SCALE:-1}
contenders=ptmalloc2,jemalloc,tcmalloc,mimalloc,budgeted,tensor-arena,request-arena
workloads=(heap-top-pin kv-cache-growth thread-churn size-shift burst-then-idle)

# parts RESULT_JSON: a row a contender and moment; "sum - RSS" is the mismatch in bytes.
parts() {
    jq -r "$jq_format"'
        ["allocator", "at", "RSS MiB", "live", "rounding", "holes", "cached", "stuck", "startup",
         "base", "RSS - sum"],
        (.cells[] | .allocator.name as $name | .repetitions[0].checkpoints[]
         | select(.parts.cached != null)
         | [$name, (if .kind == "peak_live" then "peak" else "end of " + .phase end),
            (.footprint_bytes | mib), (.parts | .live, .rounding, .holes, .cached, .stuck,
             .startup, .base | . / 1048576 | fixed(2)), .parts_mismatch_bytes]) | @tsv' "$1" |
        aligned 2
}

explain() { # WORKLOAD
    local name=$1
    bench "workloads/$name.yaml" -a "$contenders" --layouts 1 --scale "$scale" --no-timing --explain \
        -o "$work/$name"
    keep "$work/$name/result.json" "$name.json"
    parts "$out/$name.json"
    echo
}

# The sums of all accounts: none may miss a byte.
sums() {
    local files=()
    for name in "${workloads[@]}"; do files+=("$out/$name.json"); done
    jq -s -r '[.[].cells[].repetitions[].checkpoints[] | select(.parts != null)]
        | "accounts: \(length); of these with a sum that is not the footprint: \(
          [.[] | select(.parts_mismatch_bytes != 0)] | length)"' "${files[@]}"
}

# What the worker waited: many pages with few objects, then many objects.
cost() {
    bench workloads/burst-then-idle.yaml -a ptmalloc2 --layouts 1 --scale "$scale" --no-timing \
        -o "$work/pages"
    bench workloads/sparse-survivors.yaml -a ptmalloc2 --layouts 1 --scale "$scale" --no-timing \
        -o "$work/objects"
    jq -s -r "$jq_format"'
        def looks: [.cells[0].repetitions[0].checkpoints[] | select(.parts != null)];
        (.[0] | looks | map(select(.blocks < 100)) | {ns: (map(.snapshot_ns) | add),
            bytes: (map(.footprint_bytes) | add)}) as $pages
        | ($pages.ns / $pages.bytes) as $per_byte
        | (.[1] | looks | max_by(.blocks)) as $full
        | "a look: \($pages.ns / 1e6 / ($pages.bytes / 1073741824) | round) ms per GiB resident, \(
           ($full.snapshot_ns - $full.footprint_bytes * $per_byte) / 1e6 / ($full.blocks / 1e6)
           | round) ms more per million objects",
          (.[] | .cells[0] as $cell | $cell.repetitions[0] | "\($cell.workload.name): \(
           [.checkpoints[].snapshot_ns // 0] | add / 1e6 | round) ms of the run'"'"'s \(
           .wall_s * 1000 | round) ms in \([.checkpoints[].snapshot_ns // empty] | length) looks")' \
        "$work/pages/result.json" "$work/objects/result.json"
}

# part RESULT_JSON PART: in bytes, at the end of the phase "build" of its first cell.
part() {
    jq -r --arg part "$2" '.cells[0].repetitions[0].checkpoints[]
        | select(.kind == "phase_end" and .phase == "build").parts[$part]' "$1"
}

# The kernel's side: what malloc_trim gives back, by the system calls of the purging process.
check_strace() {
    echo "1. strace: what the purging worker gives back, against cached (heap-top-pin, ptmalloc2)"
    mkdir -p "$work/strace"
    strace -ff -e trace=madvise,munmap,brk -o "$work/strace/trace" "$fragbench" run \
        workloads/heap-top-pin.yaml -a ptmalloc2 --layouts 1 -j 1 --scale "$scale" --no-timing \
        --explain --progress never -o "$work/strace/result" >/dev/null 2>&1
    local file sum
    echo "   cached: $(part "$work/strace/result/result.json" cached) bytes"
    for file in "$work"/strace/trace.*; do
        # Both madvise(2)'s lengths and how far the break falls below its highest place.
        sum=$(awk -F '[(,) =]+' '/MADV_DONTNEED/ { sum += $3 }
            /^brk/ { at = strtonum_($NF); if (at > top) top = at; last = at }
            END { printf "%.0f", sum + (top > last ? top - last : 0) }
            function strtonum_(hex,   i, n) { n = 0; hex = tolower(substr(hex, 3))
                for (i = 1; i <= length(hex); i++)
                    n = n * 16 + index("0123456789abcdef", substr(hex, i, 1)) - 1
                return n }' "$file")
        [[ $sum -gt 1048576 ]] && echo "   a worker gave back: $sum bytes"
    done
    return 0
}

# ptmalloc2's side: all bytes in free chunks are on cached pages or in holes.
check_malloc_info() {
    local pairs=$1 free_bytes
    echo "2. malloc_info: free chunks, against cached + holes (the pattern in a program of its own)"
    free_bytes=$("$work/independent" "$pairs" |
        sed -n 's/.*<total type="rest" count="[0-9]*" size="\([0-9]*\)".*/\1/p' | tail -1)
    echo "   malloc_info, free chunks: $free_bytes bytes"
    echo "   cached + holes:           $(($(part "$work/strace/result/result.json" cached) +
        $(part "$work/strace/result/result.json" holes))) bytes"
}

# jemalloc's side: without decay, its dirty pages are what a purge gives back.
check_jemalloc() {
    local pairs=$1 library pages
    echo "3. malloc_stats_print: dirty pages, against cached (jemalloc:dirty_decay_ms=-1)"
    bench workloads/heap-top-pin.yaml -a jemalloc:dirty_decay_ms=-1 --layouts 1 --scale "$scale" \
        --no-timing --explain -o "$work/jemalloc"
    library=$(jq -r '.cells[0].allocator.path' "$work/jemalloc/result.json")
    pages=$(MALLOC_CONF=dirty_decay_ms:-1 LD_PRELOAD=$library "$work/independent" "$pairs" |
        awk '$1 == "dirty:" { print $3; exit }')
    echo "   malloc_stats_print, dirty: $((pages * 4096)) bytes"
    echo "   cached:                    $(part "$work/jemalloc/result.json" cached) bytes"
}

main() {
    local name pairs
    for name in "${workloads[@]}"; do explain "$name"; done
    sums
    echo
    cost
    echo
    cc -O1 -fno-builtin -o "$work/independent" tests/figures/independent.c
    pairs=$(awk -v scale="$scale" 'BEGIN { printf "%d", 12000 * scale + 0.5 }')
    check_strace
    check_malloc_info "$pairs"
    check_jemalloc "$pairs"
    echo
    machine "$out/heap-top-pin.json"
}
main | tee "$out/output.txt"
