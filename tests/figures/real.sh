#!/usr/bin/env bash
# Real programs beside their recordings: peak and end of anonymous memory of each program under four
# allocators, measured by exec, beside one recording of it (made on ptmalloc2) replayed under each, and the
# workload fitted to it. The programs are those of tests/real; what is missing is left out and named. Takes a
# minute or two a program.
# Usage: FRAGBENCH=path tests/figures/real.sh [OUTDIR [NAME...]]; ROUNDS (3) runs of each
# shellcheck source-path=SCRIPTDIR source=common.bash
. "$(dirname "$0")/common.bash"

rounds=${ROUNDS:-3}
contenders=(ptmalloc2 jemalloc tcmalloc mimalloc)
some=$(IFS=,; echo "${contenders[*]}")
# libc by its path is preloaded itself: a program that is linked to another allocator has ptmalloc2 then, too.
libc=$(ldd /bin/sh | awk '$1 == "libc.so.6" { print $3 }')
specs=(-a "ptmalloc2=$libc" -a "jemalloc,tcmalloc,mimalloc")

# A value of a contender's cell: median, min or max of a metric over its runs.
value() { # RESULT_FOLDER ALLOCATOR METRIC [median|min|max]
    jq -r --arg a "$2" --arg m "$3" --arg w "${4:-median}" \
        '.cells[] | select(.allocator.name == $a) | .summary[$m][$w]' "$1/result.json"
}

measure() { # NAME
    local folder=$work/$1
    bench "$folder.fbt" --layouts 1 --no-timing -a "$some" -o "$folder/replay"
    bench "$folder-fitted.yaml" --layouts 1 --no-timing -a "$some" -o "$folder/fitted"
}

observe() { # NAME
    local folder=$work/$1 program=(tests/real/"$1".sh run "$work/$1/data")
    mkdir -p "$folder/data"
    tests/real/"$1".sh prepare "$folder/data" >"$folder/prepare.log" 2>&1
    local watched=()
    mapfile -t watched < <(watch_arguments "$1" "$folder/data")
    echo "\$ fragbench exec --interval 2ms --name $1 ${specs[*]} -r $rounds ${watched[*]}"
    "$fragbench" exec --progress never --interval 2ms --name "$1" "${specs[@]}" -r "$rounds" \
        -o "$folder/exec" "${watched[@]}" >"$folder/exec.out" 2>"$work/messages" || {
        cat "$folder/exec.out" >&2
        cat "$work/messages" >&2
        return 1
    }
    echo "\$ fragbench record -a ptmalloc2 -o $folder.fbt --workload $folder-fitted.yaml -- ${program[*]}"
    "$fragbench" record -f -a ptmalloc2 -o "$folder.fbt" --workload "$folder-fitted.yaml" -- \
        "${program[@]}" >"$folder/record.out" 2>"$folder/record.log" || {
        cat "$folder/record.log" >&2
        return 1
    }
    measure "$1"
}

# One line a contender, in bytes: program, allocator, exec's peak (median, least, most) and end, the
# replay's peak and end, the fitted workload's peak.
rows() { # NAME
    local folder=$work/$1 allocator
    for allocator in "${contenders[@]}"; do
        printf '%s\t%s' "$1" "$allocator"
        printf '\t%s' "$(value "$folder/exec" "$allocator" peak_footprint_bytes)" \
            "$(value "$folder/exec" "$allocator" peak_footprint_bytes min)" \
            "$(value "$folder/exec" "$allocator" peak_footprint_bytes max)" \
            "$(value "$folder/exec" "$allocator" end_footprint_bytes)" \
            "$(value "$folder/replay" "$allocator" peak_footprint_bytes)" \
            "$(value "$folder/replay" "$allocator" end_footprint_bytes)" \
            "$(value "$folder/fitted" "$allocator" peak_footprint_bytes)"
        printf '\n'
    done
}

# Calls, bytes a call on disk, and the live peaks of the recording and of the workload.
facts() { # NAME
    local folder=$work/$1 calls live fitted
    calls=$(jq '.cells[0].repetitions[0].ops' "$folder/replay/result.json")
    live=$(value "$folder/replay" ptmalloc2 peak_live_bytes)
    fitted=$(value "$folder/fitted" ptmalloc2 peak_live_bytes)
    awk -v OFS='\t' -v name="$1" -v calls="$calls" -v size="$(stat -c %s "$folder.fbt")" -v live="$live" \
        -v fitted="$fitted" 'BEGIN { print name, calls, sprintf("%.2f", size / calls),
            sprintf("%.1f", live / 1048576), sprintf("%.1f", fitted / 1048576),
            sprintf("%+.1f %%", 100 * (fitted / live - 1)) }'
}

peaks() {
    awk -F '\t' -v OFS='\t' '
        function mib(bytes) { return sprintf("%.1f", bytes / 1048576) }
        function off(a, b) { return b > 0 ? sprintf("%+.1f %%", 100 * (a / b - 1)) : "n/a" }
        BEGIN { print "program", "allocator", "peak", "runs", "replay", "off", "fitted", "off", "end",
                      "replay" }
        { print $1, $2, mib($3), mib($4) "–" mib($5), mib($7), off($7, $3), mib($9), off($9, $7), mib($6),
                mib($8) }' "$work/rows.tsv" | aligned 2
}

# The order of the contenders: pairs whose runs lie apart and whose medians are 5 % apart or more are
# decided by the program; the replay should say the same of them.
order() {
    awk -F '\t' -v OFS='\t' '
        !($1 in count) { order[++n] = $1 }
        { i = ++count[$1]; peak[$1, i] = $3; low[$1, i] = $4; high[$1, i] = $5; replay[$1, i] = $7
          worst[$1] = worst[$1] > ($7 / $3 - 1)^2 ? worst[$1] : ($7 / $3 - 1)^2 }
        END { print "program", "pairs decided", "replayed in the same order", "largest deviation"
              for (p = 1; p <= n; p++) { name = order[p]; decided = same = 0
                  for (i = 1; i <= count[name]; i++) for (j = 1; j <= count[name]; j++)
                      if (high[name, i] < low[name, j] && peak[name, j] / peak[name, i] >= 1.05) {
                          decided++; same += replay[name, i] < replay[name, j] }
                  print name, decided, same, sprintf("%.1f %%", 100 * sqrt(worst[name])) } }' \
        "$work/rows.tsv" | aligned 1
}

main() {
    local name last="" names=()
    mapfile -t names < <(present "$@")
    for name in "${names[@]}"; do
        observe "$name"
        rows "$name" >>"$work/rows.tsv"
        facts "$name" >>"$work/facts.tsv"
        last=$name
    done
    machine "$work/$last/replay/result.json"
    printf '\nPeak and end of anonymous memory in MiB: the program, its recording replayed, its fitted workload (off: to the replay)\n'
    peaks
    echo
    order
    echo
    { printf 'program\tcalls\tbytes/call\tlive MiB\tfitted\toff\n' && cat "$work/facts.tsv"; } | aligned 1
}

main "${@:2}" | tee "$out/output.txt"
{ printf 'program\tallocator\tpeak_bytes\tpeak_min_bytes\tpeak_max_bytes\tend_bytes\treplay_peak_bytes\treplay_end_bytes\tfitted_peak_bytes\n'
    cat "$work/rows.tsv"; } | tr '\t' ',' >"$out/real.csv"
