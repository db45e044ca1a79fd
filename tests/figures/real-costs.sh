#!/usr/bin/env bash
# What fragbench costs a real program: the programs of tests/real alone, under exec, under exec --live and
# recorded, without and with call sites, in turn. Needs a quiet machine to mean anything.
# Usage: FRAGBENCH=path tests/figures/real-costs.sh [OUTDIR [NAME...]]; ROUNDS (3) runs of each
# shellcheck source-path=SCRIPTDIR source=common.bash
. "$(dirname "$0")/common.bash"

rounds=${ROUNDS:-3}

# What the kernel accounts to COMMAND and all that it started: wall and processor seconds.
timed() { # COMMAND...
    /usr/bin/python3 - "$@" <<'PYTHON'
import os, resource, subprocess, sys, time
start = time.monotonic()
code = subprocess.call(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
if code != 0:
    sys.exit("%s: exit %d" % (sys.argv[1], code))
print("%.3f\t%.3f" % (time.monotonic() - start, usage.ru_utime + usage.ru_stime))
PYTHON
}

# Wall and processor time of a program alone, watched, counted, and recorded twice, in turn; medians, and
# their ratios to the program alone. exec and record are in the times with all that they do.
costs() { # NAME
    local folder=$work/$1 round way program=(tests/real/"$1".sh run "$work/$1/data")
    for ((round = 0; round < rounds; round++)); do
        timed "${program[@]}" >>"$folder/alone"
        timed "$fragbench" exec --progress never -f -a "ptmalloc2=$libc" -o "$folder/run" -- "${program[@]}" \
            >>"$folder/watched"
        timed "$fragbench" exec --live --progress never -f -a "ptmalloc2=$libc" -o "$folder/run" -- \
            "${program[@]}" >>"$folder/counted"
        timed "$fragbench" record -f -a ptmalloc2 -o "$folder/cost.fbt" -- "${program[@]}" >>"$folder/recorded"
        timed "$fragbench" record --sites -f -a ptmalloc2 -o "$folder/sites.fbt" -- "${program[@]}" \
            >>"$folder/sites"
    done
    printf '%s' "$1"
    for way in alone watched counted recorded sites; do
        printf '\t%s\t%s' "$(cut -f 1 "$folder/$way" | median)" "$(cut -f 2 "$folder/$way" | median)"
    done
    printf '\n'
}

cost_table() {
    awk -F '\t' -v OFS='\t' '
        BEGIN { print "program", "alone s", "CPU s", "exec", "CPU", "--live", "CPU", "record", "CPU", "--sites", "CPU" }
        { line = $1 OFS sprintf("%.2f", $2) OFS sprintf("%.2f", $3)
          for (i = 4; i <= 11; i++) line = line OFS sprintf("%.2f", $i / $(i % 2 ? 3 : 2))
          print line }' "$work/costs.tsv" | aligned 1
}

main() {
    local name names=()
    mapfile -t names < <(present "$@")
    for name in "${names[@]}"; do
        mkdir -p "$work/$name/data"
        tests/real/"$name".sh prepare "$work/$name/data" >"$work/$name/prepare.log" 2>&1
        costs "$name" >>"$work/costs.tsv"
    done
    machine "$work/${names[0]}/run/result.json"
    printf '\nTime of each program alone, medians of %d runs in turn, and how many times as long it takes\n(wall, processor) with all that fragbench does beside it:\n' "$rounds"
    cost_table
}
main "${@:2}" | tee "$out/output.txt"
