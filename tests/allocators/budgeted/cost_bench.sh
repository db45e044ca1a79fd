#!/bin/bash
# What budgeted costs over the allocator behind it: the lowest of ROUNDS runs each, taken in turns.
#   cost_bench.sh PROGRAM LIBRARY [ROUNDS]      the goal is at most 1.03 where blocks are written to
set -euo pipefail
program=$1 library=$2 rounds=${3:-7}

lowest() { sort -g | head -n 1; }

ratio() { # INNER THREADS KIND
    local plain='' guarded=''
    for ((i = 0; i < rounds; i++)); do
        plain+=$(LD_PRELOAD=$1 "$program" "$2" "$3")$'\n'
        guarded+=$(LD_PRELOAD="$library${1:+:$1}" "$program" "$2" "$3")$'\n'
    done
    plain=$(grep . <<<"$plain" | lowest) guarded=$(grep . <<<"$guarded" | lowest)
    awk -v plain="$plain" -v guarded="$guarded" -v inner="$(basename "${1:-libc}")" -v threads="$2" \
        -v kind="$3" 'BEGIN { printf "%-28s %7s %-8s %8.1f %8.1f  %.3f\n", inner, threads, kind,
            plain, guarded, guarded / plain }'
}

printf '%-28s %7s %-8s %8s %8s  %s\n' inner threads blocks 'ns' budgeted ratio
for inner in '' $(ldconfig -p | awk '/libjemalloc\.so\.2|libtcmalloc_minimal\.so\.4|libmimalloc\.so\.2 / { print $NF }'); do
    for threads in 1 2; do
        ratio "$inner" $threads written
        ratio "$inner" $threads empty
    done
done
