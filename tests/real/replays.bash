#!/usr/bin/env bash
# A real program recorded and replayed, as a test: the replay ends well, holds at its peak what record said that
# the program held, and costs nearly what the program cost under the same allocator.
# Usage: replays.bash FRAGBENCH NAME. Exits 77 with the reason where the program is missing, or heavy and
# FRAGBENCH_HEAVY is not 1.
set -euo pipefail
fragbench=$1 name=$2 program=$(dirname "$(realpath "$0")")/$2.sh
heavy='^(torch-.*|ort-.*|llama)$'

[[ ! $name =~ $heavy || ${FRAGBENCH_HEAVY:-0} == 1 ]] || {
    echo "skipped: takes minutes; FRAGBENCH_HEAVY=1 runs it"
    exit 77
}
reason=$("$program" check) || {
    echo "skipped: $reason"
    exit 77
}
export FRAGBENCH_REAL_SCALE=${FRAGBENCH_REAL_SCALE:-0.2}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$program" prepare "$work" >"$work/prepare.log" 2>&1 || {
    cat "$work/prepare.log"
    exit 1
}
cd "$work"

fail() {
    echo "$*"
    cat -- *.log
    exit 1
}

mapfile -t options < <("$program" record-options)
"$fragbench" record "${options[@]}" -a ptmalloc2 -o "$name.fbt" -- "$program" run "$work" >record.out 2>record.log ||
    fail "record ended with $?"
"$fragbench" run "$name.fbt" -a ptmalloc2 --layouts 1 --no-timing --progress never -o replay \
    >run.out 2>run.log || fail "the replay ended with $?"
# libc by its path is preloaded itself, so that what is linked to another allocator has ptmalloc2, too.
libc=$(ldd /bin/sh | awk '$1 == "libc.so.6" { print $3 }')
watched=(-- "$program" run "$work")
! grep -q '^serve()' "$program" || watched=(--driver "$program load $work" -- "$program" serve "$work")
"$fragbench" exec -a "ptmalloc2=$libc" -r 2 --interval 2ms --progress never -o exec "${watched[@]}" \
    >exec.out 2>exec.log || fail "exec ended with $?"

metric() { # FOLDER NAME median|max
    jq ".cells[0].summary.$2.$3" "$1/result.json"
}

# "peak live" of record's table, in bytes.
said=$(awk 'NR > 1 && $1 == name { for (i = 2; i < NF; i++) if ($(i + 1) ~ /^[KMG]iB$/) {
        split("KiB MiB GiB", unit); for (u = 1; unit[u] != $(i + 1); u++); print $i * 1024 ^ u; exit } }' \
    name="$name.fbt" record.out)
live=$(metric replay peak_live_bytes median)
# A replay is the heap alone; what the process had beside it was recorded.
replayed=$(jq '.cells[0] | .workload.recorded as $r | .summary.peak_footprint_bytes.median +
    $r.mapped_bytes + $r.library_bytes + $r.stack_bytes' replay/result.json)
cost=$(metric exec peak_footprint_bytes max) # a look from outside may come late on a busy machine
echo "live at the peak: recorded $said, replayed $live bytes; footprint: replayed $replayed, the program's $cost"
awk -v a="$live" -v b="$said" 'BEGIN { exit !(b > 0 && a / b > 0.995 && a / b < 1.005) }' ||
    fail "the replay's live peak is not the recording's"
# Threads do not run twice alike, and small programs have pages of which the record sees none.
awk -v a="$replayed" -v b="$cost" 'BEGIN { exit !(a > 0.85 * b - 1048576 && a < 1.15 * b + 1048576) }' ||
    fail "the replayed peak is far from the program's"
