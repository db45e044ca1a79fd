#!/usr/bin/env bash
# What memory costs in time: every workload of the library at its small scale, and small objects on one
# and on two threads (scaling.yaml), under every contender; budgeted beside what it wraps. Needs a
# quiet machine to mean anything: wall times are compared within one run only. ROUNDS (3) rounds over everything;
# shown are medians over the rounds, and ratios are medians of the rounds' ratios.
# Usage: FRAGBENCH=path tests/figures/speed.sh [OUTDIR [NAME...]]
# shellcheck source-path=SCRIPTDIR source=common.bash
. "$(dirname "$0")/common.bash"

rounds=${ROUNDS:-3}
specs=(ptmalloc2 jemalloc tcmalloc mimalloc budgeted budgeted+jemalloc tensor-arena request-arena)
options=(--layouts 1)
for spec in "${specs[@]}"; do options+=(-a "$spec"); done

# What the head comment of a workload names: "# Small scale: -L steps=160."
small_scale() { # NAME
    sed -nE 's/^# Small scale: (.*)\.$/\1/p' "workloads/$1.yaml"
}

# One line a cell: workload, contender, status, and its figures. A cell that failed has no figures.
rows() { # RESULT_JSON LABEL
    jq -r --arg shown "$2" '.cells[] | .timing as $t | .summary as $s |
        [$shown, (.id | split("/")[1]), .status, $t.wall_s, $t.null_s, $s.ns_per_op.median,
         $s.latency_p50_ns.median, $s.latency_p99_ns.median, $s.latency_p999_ns.median,
         $s.minor_faults.median] | @tsv' "$1" >>"$work/round-$round.tsv"
}

measure() { # LABEL ARGUMENT...
    local at=$SECONDS status=0
    "$fragbench" run --progress never "${@:2}" "${options[@]}" -f -o "$work/$1" \
        >/dev/null 2>"$work/messages" || status=$?
    [[ $status -eq 0 || $status -eq 5 ]] || {
        cat "$work/messages" >&2
        return 1
    }
    rows "$work/$1/result.json" "$1"
    echo "$1: $((SECONDS - at)) s" >&2
}

measure_all() { # NAME...
    local name
    for name in "$@"; do
        local -a scale
        read -ra scale <<<"$(small_scale "$name")"
        measure "$name" "workloads/$name.yaml" "${scale[@]}"
    done
    for count in 1 2; do
        measure "small-objects-$count-threads" tests/figures/scaling.yaml -L "threads=$count"
    done
}

# Every figure's median over the rounds, in the order of the first.
medians() {
    awk -F '\t' -v OFS='\t' "$awk_middle"'
        { key = $1 OFS $2
          if (!(key in status)) { order[++count] = key; status[key] = $3 }
          for (i = 4; i <= 10; i++) if ($i != "") values[key, i] = values[key, i] " " $i }
        END { for (k = 1; k <= count; k++) { line = order[k] OFS status[order[k]]
                  for (i = 4; i <= 10; i++) line = line OFS middle(values[order[k], i])
                  print line } }' "$work"/round-*.tsv >"$work/rows.tsv"
}

# figure COLUMN DIGITS: one figure of every workload under every contender.
figure() {
    awk -F '\t' -v OFS='\t' -v column="$1" -v digits="$2" -v names="${specs[*]}" '
        { if (!($1 in seen)) { seen[$1] = 1; order[++n] = $1 }
          value[$1, $2] = $column == "" ? $3 : sprintf("%." digits "f", $column) }
        END { count = split(names, name, " ")
              line = "workload"
              for (i = 1; i <= count; i++) line = line OFS name[i]
              print line
              for (w = 1; w <= n; w++) {
                  line = order[w]
                  for (i = 1; i <= count; i++) line = line OFS value[order[w], name[i]]
                  print line } }' "$work/rows.tsv" | aligned 1
}

# Geometric means of total time over the fastest of the four, over the AI workloads and over all.
means() {
    awk -F '\t' -v OFS='\t' -v names="${specs[*]}" -v goal="$ai_workloads" '
        $4 != "" { wall[$1, $2] = $4; if (!($1 in seen)) { seen[$1] = 1; order[++n] = $1 } }
        function mean(who, which,    w, sum, count, best, i) {
            for (w = 1; w <= n; w++) {
                if (which != "" && order[w] !~ which) continue
                if (!((order[w], who) in wall)) continue
                best = 0
                for (i = 1; i <= 4; i++)
                    if ((order[w], name[i]) in wall && (best == 0 || wall[order[w], name[i]] < best))
                        best = wall[order[w], name[i]]
                if (best > 0 && wall[order[w], who] > 0) {
                    sum += log(wall[order[w], who] / best)
                    count++ } }
            return count ? sprintf("%.3f", exp(sum / count)) : "n/a" }
        END { count = split(names, name, " ")
              print "contender", "AI workloads", "all workloads"
              for (i = 1; i <= count; i++) print name[i], mean(name[i], goal), mean(name[i], "") }' \
        "$work/rows.tsv" | aligned 1
}

# budgeted over what it wraps: total time, workload by workload the median of the rounds' ratios, and their
# geometric mean.
budgeted_over() { # CONTENDER INNER
    awk -F '\t' -v own="$1" -v inner="$2" "$awk_middle"'
        $4 != "" { wall[FILENAME, $1, $2] = $4; files[FILENAME]
                   if (!($1 in seen)) { seen[$1] = 1; order[++n] = $1 } }
        END { low = 9; high = 0
              for (w = 1; w <= n; w++) {
                  list = ""
                  for (file in files) { a = wall[file, order[w], own]; b = wall[file, order[w], inner]
                      if (a > 0 && b > 0) list = list " " a / b }
                  if (list == "") continue
                  ratio = middle(list); sum += log(ratio); count++
                  if (ratio < low) { low = ratio; least = order[w] }
                  if (ratio > high) { high = ratio; most = order[w] } }
              printf("%s over %s: geometric mean %.3f of %d workloads, from %.2f (%s) to %.2f (%s)\n",
                  own, inner, exp(sum / count), count, low, least, high, most) }' "$work"/round-*.tsv
}

main() {
    mapfile -t files < <(basename -s .yaml -- workloads/*.yaml)
    [[ $# -gt 0 ]] || set -- "${files[@]}"
    for ((round = 1; round <= rounds; round++)); do
        measure_all "$@"
    done
    medians
    { printf 'workload\tallocator\tstatus\twall_s\tnull_s\tns_per_op\tp50_ns\tp99_ns\tp999_ns\tminor_faults\n'
        cat "$work/rows.tsv"; } | tr '\t' ',' >"$out/speed.csv"
    {
        echo "\$ fragbench run NAME SMALL_SCALE ${options[*]}   ($rounds rounds)"
        machine "$work/small-objects-1-threads/result.json"
        printf '\nTotal time over that of the fastest of the four, geometric mean:\n'
        means
        echo
        budgeted_over budgeted ptmalloc2
        budgeted_over budgeted+jemalloc jemalloc
        printf '\nTotal time, s:\n'
        figure 4 3
        printf '\nns per call, without the replay:\n'
        figure 6 0
        printf '\n99th percentile of a call, ns:\n'
        figure 8 0
    } >"$out/output.txt"
    cat "$out/output.txt"
}
main "${@:2}"
