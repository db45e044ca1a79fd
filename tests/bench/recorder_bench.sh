#!/usr/bin/env bash
# The program alone and recorded, in turn, so that what disturbs the machine disturbs both: ns of
# processor time a call in the program, ns of wall time, and bytes a call on disk. Then the same with call
# sites, by the depth of the stack.
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

# Call sites are asked for by births alone, which are half of the calls here. A stack of DEPTH functions of
# the program has four more below them.
printf '\n%-8s %10s %10s %10s %10s %10s\n' depth alone recorded sites=4 sites=16 bytes/call
calls=$((calls / 4))
for depth in 0 4 8 16 32; do
    read -r _ alone < <("$bench" 1 "$calls" "$depth")
    row=()
    for sites in '' --sites=4 --sites=16; do
        "$fragbench" record -f -o bench.fbt ${sites:+"$sites"} -- "$bench" 1 "$calls" "$depth" >out 2>err
        row+=("$(awk 'NR == 1 { print $2 }' out)")
    done
    awk -v d="$depth" -v a="$alone" -v r="${row[0]}" -v f="${row[1]}" -v s="${row[2]}" -v b="$(stat -c %s bench.fbt)" \
        -v c="$calls" 'BEGIN { printf "%-8d %10.1f %10.1f %10.1f %10.1f %10.2f\n", d, a, r, f, s, b / c }'
done
