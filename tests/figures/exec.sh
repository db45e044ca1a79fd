#!/usr/bin/env bash
# What exec itself costs: the same programs by themselves, under exec, and under exec --live, side by
# side, CPU time, medians of ROUNDS rounds. A loop of malloc and free shows the price of a counted call; a
# program that works shows what is left of it. Usage: exec.sh [OUTDIR]; takes some minutes.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/common.bash"

rounds=${ROUNDS:-5}
loop=$(dirname "$fragbench")/live_cost
[[ -x $loop ]] || {
    echo "$figure: build tests/bench/live_cost first" >&2
    exit 1
}
python=$(python3 -c 'import sys; print(sys.executable)')
# Builds and drops objects of many sizes: a second of a program's ordinary work.
# shellcheck disable=SC2016 # Python's
work_code='
import time
start = time.process_time()
kept = []
for i in range(600000):
    kept.append(bytes(600 + i % 3000))
    if len(kept) > 20000:
        kept = kept[10000:]
print("%.4f" % (time.process_time() - start))'

library() { # ALLOCATOR
    [[ $1 == ptmalloc2 ]] || "$fragbench" list allocators "$1" | grep -oE '/[^ ]+\.so[^ ]*' | head -1
}

# What the program printed of itself: ns a call, or seconds.
by_itself() { # ALLOCATOR COMMAND...
    local preload
    preload=$(library "$1")
    shift
    LD_PRELOAD=$preload "$@"
}

watched() { # OPTION ALLOCATOR COMMAND...
    local option=$1 allocator=$2
    shift 2
    # shellcheck disable=SC2086 # no option is none
    "$fragbench" exec $option --progress never -f -o "$work/run" -a "$allocator" -- "$@" \
        >/dev/null 2>&1 || return 1
    cat "$work"/run/logs/*.log
}

row() { # NAME ALLOCATOR COMMAND...
    local name=$1 allocator=$2 round
    shift 2
    rm -f "$work"/alone "$work"/exec "$work"/live
    for ((round = 0; round < rounds; round++)); do
        by_itself "$allocator" "$@" >>"$work/alone"
        watched "" "$allocator" "$@" >>"$work/exec"
        watched --live "$allocator" "$@" >>"$work/live"
    done
    awk -v name="$name" -v allocator="$allocator" -v alone="$(median <"$work/alone")" \
        -v exec="$(median <"$work/exec")" -v live="$(median <"$work/live")" 'BEGIN {
            printf "%s\t%s\t%.2f\t%.2f\t%+.1f %%\t%.2f\t%+.2f\t%+.1f %%\n", name, allocator, alone, exec,
                (exec / alone - 1) * 100, live, live - alone, (live / alone - 1) * 100 }'
}

{
    echo "$ tests/figures/exec.sh   (medians of $rounds rounds side by side)"
    "$fragbench" exec --progress never -f -o "$work/run" -a ptmalloc2 -- true >/dev/null 2>&1
    machine "$work/run/result.json"
    {
        printf 'program\tallocator\talone\texec\t\texec --live\t\t\n'
        for allocator in ptmalloc2 jemalloc tcmalloc mimalloc; do
            row "malloc/free, ns a call" "$allocator" "$loop"
        done
        for allocator in ptmalloc2 jemalloc tcmalloc mimalloc; do
            row "python3, s" "$allocator" "$python" -c "$work_code"
        done
    } | aligned 2
} | tee "$out/output.txt"
