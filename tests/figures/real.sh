#!/usr/bin/env bash
# Real programs beside their recordings: peak and end of anonymous memory of each program under four
# allocators, measured by exec, beside one recording of it (made on ptmalloc2) replayed under each, and the
# workload fitted to it. The programs are those of tests/real; what is missing is left out and named. Takes a
# minute or two a program.
# With names only those are measured, and the others' rows are kept.
# Usage: FRAGBENCH=path tests/figures/real.sh [OUTDIR [NAME...]]; ROUNDS (3) runs of each
# shellcheck source-path=SCRIPTDIR source=common.bash
. "$(dirname "$0")/common.bash"

rounds=${ROUNDS:-3}
contenders=(ptmalloc2 jemalloc tcmalloc mimalloc)
some=$(IFS=,; echo "${contenders[*]}")
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
    "$fragbench" exec --progress never --interval 2ms --name "$1" "${specs[@]}" -r "$rounds" \
        -o "$folder/exec" "${watched[@]}" >"$folder/exec.out" 2>"$work/messages" || {
        cat "$folder/exec.out" >&2
        cat "$work/messages" >&2
        return 1
    }
    local options=()
    mapfile -t options < <(tests/real/"$1".sh record-options)
    "$fragbench" record "${options[@]}" -f -a ptmalloc2 -o "$folder.fbt" --workload "$folder-fitted.yaml" -- \
        "${program[@]}" >"$folder/record.out" 2>"$folder/record.log" || {
        cat "$folder/record.log" >&2
        return 1
    }
    measure "$1"
}

# What the recorded process had beside its heap, in bytes: what it mapped itself, private data of libraries,
# stacks. A replay is the heap alone. "recorded": the whole process, at its peak.
recorded() { # NAME beside|peak
    jq --arg what "$2" '.cells[0].workload.recorded | if $what == "peak" then .peak_bytes
        else .mapped_bytes + .library_bytes + .stack_bytes end' "$work/$1/replay/result.json"
}

# One line a contender, in bytes: program, allocator, exec's peak (median, least, most) and end, the
# replay's peak and end, the fitted workload's peak, what is beside the heap, the recorded run's peak.
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
            "$(value "$folder/fitted" "$allocator" peak_footprint_bytes)" "$(recorded "$1" beside)" \
            "$(recorded "$1" peak)"
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
        BEGIN { print "program", "allocator", "peak", "runs", "replay", "+ beside", "off", "end", "+ beside",
                      "fitted", "off" }
        { print $1, $2, mib($3), mib($4) "–" mib($5), mib($7), mib($7 + $10), off($7 + $10, $3), mib($6),
                mib($8 + $10), mib($9), off($9, $7) }' "$work/rows.tsv" | aligned 2
}

# The order of the contenders: pairs whose runs lie apart and whose medians are 5 % apart or more are
# decided by the program; the replay should say the same of them.
order() {
    awk -F '\t' -v OFS='\t' '
        !($1 in count) { order[++n] = $1 }
        { i = ++count[$1]; peak[$1, i] = $3; low[$1, i] = $4; high[$1, i] = $5; replay[$1, i] = $7 + $10
          off = (replay[$1, i] / $3 - 1)^2; worst[$1] = worst[$1] > off ? worst[$1] : off
          if ($2 == "ptmalloc2") own[$1] = sprintf("%.1f\t%+.1f %%", $11 / 1048576, 100 * (replay[$1, i] / $11 - 1)) }
        END { print "program", "pairs decided", "replayed in the same order", "largest deviation", "the recorded run", "its replay"
              for (p = 1; p <= n; p++) { name = order[p]; decided = same = 0
                  for (i = 1; i <= count[name]; i++) for (j = 1; j <= count[name]; j++)
                      if (high[name, i] < low[name, j] && peak[name, j] / peak[name, i] >= 1.05) {
                          decided++; same += replay[name, i] < replay[name, j] }
                  print name, decided, same, sprintf("%.1f %%", 100 * sqrt(worst[name])), own[name] } }' \
        "$work/rows.tsv" | aligned 1
}

# What was measured before of programs that are not measured now.
keep_others() { # FILE NAME...
    local kept=$out/$1.csv
    [[ ! -f $kept ]] || tail -n +2 "$kept" | tr ',' '\t' |
        awk -F '\t' -v names=" ${*:2} " 'index(names, " " $1 " ") == 0' >"$work/$1.tsv"
}

# The rows as CSV under a heading, in order of their programs.
keep_rows() { # FILE HEADING
    sort -s -t "$(printf '\t')" -k 1,1 -o "$work/$1.tsv" "$work/$1.tsv"
    { echo "$2" && tr '\t' ',' <"$work/$1.tsv"; } >"$out/$1.csv"
}

main() {
    local name last="" names=()
    mapfile -t names < <(present "$@")
    keep_others rows "${names[@]}"
    keep_others facts "${names[@]}"
    for name in "${names[@]}"; do
        observe "$name" >&2
        rows "$name" >>"$work/rows.tsv"
        facts "$name" >>"$work/facts.tsv"
        last=$name
    done
    keep_rows rows program,allocator,peak_bytes,peak_min_bytes,peak_max_bytes,end_bytes,replay_peak_bytes,replay_end_bytes,fitted_peak_bytes,beside_bytes,recorded_peak_bytes
    keep_rows facts program,calls,bytes_per_call,live_mib,fitted_live_mib,off
    echo "\$ fragbench exec --interval 2ms ${specs[*]} -r $rounds -- tests/real/PROGRAM.sh run DIR"
    echo "\$ fragbench record -a ptmalloc2 -o PROGRAM.fbt --workload PROGRAM-fitted.yaml -- tests/real/PROGRAM.sh run DIR   (llama: --fresh-pages)"
    echo "\$ fragbench run PROGRAM.fbt --layouts 1 --no-timing -a $some   (and PROGRAM-fitted.yaml)"
    machine "$work/$last/replay/result.json"
    printf '\nPeak and end of anonymous memory in MiB: the program by exec; its recording replayed, and with what the\nrecorded process had beside its heap (off: to the program); its fitted workload (off: to the replay)\n'
    peaks
    echo
    order
    echo
    { printf 'program\tcalls\tbytes/call\tlive MiB\tfitted\toff\n' && cat "$work/facts.tsv"; } | aligned 1
}

main "${@:2}" >"$work/output.txt"
mv "$work/output.txt" "$out/output.txt"
cat "$out/output.txt"
