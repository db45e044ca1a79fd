#!/usr/bin/env bash
# The program alone and recorded, in turn, so that what disturbs the machine disturbs both: ns of
# processor time a call in the program, ns of wall time, and bytes a call on disk.
# Usage: recorder_bench.sh FRAGBENCH RECORDER_BENCH [CALLS]
set -euo pipefail
fragbench=$1 bench=$2 calls=${3:-4000000}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

printf '%-8s %10s %10s %10s %10s %10s\n' threads alone recorded cost wall bytes/call
for threads in 1 2 8; do
    for _ in 1 2 3; do
        read -r _ alone < <("$bench" "$threads" "$((calls / threads))")
        "$fragbench" record -f -o bench.fbt -- "$bench" "$threads" "$((calls / threads))" >out 2>err
        read -r wall recorded <out
        size=$(stat -c %s bench.fbt)
        awk -v t="$threads" -v a="$alone" -v r="$recorded" -v w="$wall" -v s="$size" -v c="$calls" \
            'BEGIN { printf "%-8d %10.1f %10.1f %10.1f %10.1f %10.2f\n", t, a, r, r - a, w, s / c }'
    done
done
