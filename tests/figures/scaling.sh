#!/usr/bin/env bash
# Does replay scale? Calls a second with two threads over one, in the timing pass (threads at once, real
# clock), under null and the allocators; three rounds, the best of each.
# Usage: FRAGBENCH=path tests/figures/scaling.sh [OUTDIR]
# shellcheck source-path=SCRIPTDIR source=common.bash
. "$(dirname "$0")/common.bash"

rounds=3

# rates FOLDER: threads, allocator, calls a second.
rates() {
    jq -r '.cells[] | [.workload.params.threads, .allocator.name, .timing.ops / .timing.wall_s] |
        @tsv' "$1/result.json"
}

table() {
    awk -F '\t' -v OFS='\t' '
        { if (!(($2) in known)) { known[$2] = 1; order[++count] = $2 }
          if ($3 > best[$2, $1]) best[$2, $1] = $3 }
        END { print "allocator", "1 thread, M calls/s", "2 threads, M calls/s", "gain"
              for (i = 1; i <= count; i++) { name = order[i]
                  printf "%s\t%.1f\t%.1f\t%.2f\n", name, best[name, 1] / 1e6, best[name, 2] / 1e6,
                      best[name, 2] / best[name, 1] } }' "$work/rates.tsv" | aligned 1
}

main() {
    local round
    for ((round = 1; round <= rounds; round++)); do
        bench tests/figures/scaling.yaml -L threads=1,2 -a null,ptmalloc2,jemalloc,tcmalloc,mimalloc \
            --layouts 1 -o "$work/$round"
        rates "$work/$round" >>"$work/rates.tsv"
    done
    keep "$work/1/result.json" result.json
    machine "$out/result.json"
    echo
    table
}
main | tee "$out/output.txt"
