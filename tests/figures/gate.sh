#!/usr/bin/env bash
# Does `fragbench compare` cry wolf, and does it see the wolf? Four parts, each with its table:
#   same      the same thing measured again and again with every CPU busy: alarms, of which every one
#             is false
#   harmless  builds of an allocator that differ in nothing but where they are mapped
#   injected  builds that take 2, 5, 6 and 10 % more for every block
#   real      the same and +10 % in real time, at 3, 5 and 10 runs a side
# Usage: FRAGBENCH=path [RUNS=50] [BUILDS=10] [DRAWS=100] [POOL=40] [CC=cc] tests/figures/gate.sh [OUTDIR]
# Takes 8 minutes. Needs a C compiler and libjemalloc.so.2 (in FRAGBENCH_JEMALLOC where ld.so does not
# know it).
# shellcheck source-path=SCRIPTDIR source=common.bash
. "$(dirname "$0")/common.bash"

runs=${RUNS:-50} builds=${BUILDS:-10} draws=${DRAWS:-100} pool=${POOL:-40}
jemalloc=${FRAGBENCH_JEMALLOC:-$(ldconfig -p | awk '$1 == "libjemalloc.so.2" { print $NF; exit }')}
workload=tests/figures/gate.yaml


# build NAME OPTION...: $work/NAME.so over glibc's malloc, $work/je-NAME.so over jemalloc.
build() {
    local name=$1
    shift
    local flags=(-shared -fPIC -O2 -fno-builtin "$@" tests/cli/padded.c)
    "${CC:-cc}" "${flags[@]}" -o "$work/$name.so"
    "${CC:-cc}" -DPAD_OVER_JEMALLOC "${flags[@]}" "$jemalloc" -o "$work/je-$name.so"
}

# verdict ARGUMENT...: compares; the exit code, which is a result here.
verdict() {
    local status=0
    "$fragbench" compare "$@" >"$work/verdict" 2>&1 || status=$?
    [[ $status -le 1 ]] || {
        cat "$work/verdict" >&2
        return 2
    }
    echo "$status"
}


part_same() {
    local run alarms=0 differing=0 changed
    start_load
    for ((run = 0; run <= runs; run++)); do
        "$fragbench" run --progress never --no-timing --scale 0.1 -o "$work/same-$run" \
            workloads/kv-cache-growth.yaml "$workload" >/dev/null 2>&1
    done
    stop_load
    require_fixed_layout "$work/same-0/result.json"
    for ((run = 0; run < runs; run++)); do
        changed=$(verdict "$work/same-$run" "$work/same-$((run + 1))")
        alarms=$((alarms + changed))
        changed=$(verdict --expect-same "$work/same-$run" "$work/same-$((run + 1))")
        differing=$((differing + changed))
        echo "$run,$alarms,$differing" >>"$out/same.csv"
    done
    printf '%s\t%s\t%s\t%s\n' comparisons "values judged in each" "false alarms" \
        "with any difference" "$runs" "$("$fragbench" compare "$work/same-0" "$work/same-1" |
            awk '/ unchanged$/ { print $1 }' | tail -1)" "$alarms" "$differing" | aligned 0
}

# Builds shifted by 1, 18, 35, … pages, over both allocators, each against the one that is not.
part_harmless() {
    local shift k kind contenders
    for ((shift = 0; shift < builds; shift++)); do
        build "shift-$shift" "-DSHIFT_PAGES=$((1 + 17 * shift))"
    done
    echo "allocator,layouts,workload,build,metric,change_percent,verdict" >"$out/harmless.csv"
    for k in 3 5; do
        for kind in "" je-; do
            contenders=(-a "as-it-is=./$work/${kind}pad-0.so")
            for ((shift = 0; shift < builds; shift++)); do
                contenders+=(-a "shift-$shift=./$work/${kind}shift-$shift.so")
            done
            "$fragbench" run --progress never --no-timing --layouts "$k" --scale 0.2 \
                -o "$work/harmless-$k-${kind}" "${contenders[@]}" \
                workloads/kv-cache-growth.yaml >/dev/null 2>&1
            verdicts "$work/harmless-$k-${kind}" ratio_peak,kept_bytes,end_footprint_bytes |
                sed "s/^/${kind:+jemalloc}${kind:-ptmalloc2},$k,/; s/jemallocje-/jemalloc/" \
                    >>"$out/harmless.csv"
        done
    done
    awk -F , -v OFS='\t' 'NR > 1 { key = $1 OFS $2
            if (!(key in builds)) order[++keys] = key
            if (!((key, $4) in seen)) { seen[key, $4] = 1; builds[key]++ }
            values[key]++; change = $6 < 0 ? -$6 : $6
            if (change > most[key]) most[key] = change
            if ($7 == "inconclusive") open[key]++
            if ($7 == "regressed" && !((key, $4) in alarm)) { alarm[key, $4] = 1; alarms[key]++ } }
        END { print "allocator", "layouts", "builds", "values", "largest change %", "inconclusive",
                    "builds with a false alarm"
              for (i = 1; i <= keys; i++) { key = order[i]
                  print key, builds[key], values[key], sprintf("%.1f", most[key]), open[key] + 0,
                        alarms[key] + 0 } }' "$out/harmless.csv" | aligned 1
}

# verdicts FOLDER METRICS: workload,build,metric,change_percent,verdict; from the sentences of the text.
verdicts() {
    "$fragbench" compare --by allocator --metric "$2" --fail-on none --all "$1" | awk '
        /^$/ { inside = 0 }
        / against / { sub(/,? .*/, ""); workload = $0; inside = 1; next }
        inside && /(regressed|unchanged|improved|inconclusive) / {
            if ($0 !~ /^ /) { build = $1; $1 = ""; $0 = $0 }
            change = 0; verdict = ""
            for (i = 2; i <= NF; i++) {
                if ($i == "%" && $(i - 1) ~ /^[+-]/) change = $(i - 1) + 0
                if ($i ~ /^(regressed|unchanged|improved|inconclusive)$/) verdict = $i }
            print workload "," build "," $1 "," change "," verdict }'
}

part_injected() {
    local kind percent name contenders
    echo "allocator,workload,build,metric,change_percent,verdict" >"$out/injected.csv"
    for kind in "" je-; do
        contenders=()
        for percent in 0 2 5 6 10; do
            contenders+=(-a "pad-$percent=./$work/${kind}pad-$percent.so")
        done
        "$fragbench" run --progress never --no-timing --layouts 5 --scale 0.2 \
            -o "$work/injected-${kind}" "${contenders[@]}" workloads/kv-cache-growth.yaml \
            "$workload" >/dev/null 2>&1
        name=${kind:+jemalloc}
        verdicts "$work/injected-${kind}" peak_footprint_bytes |
            sed "s/^/${name:-ptmalloc2},/" >>"$out/injected.csv"
    done
    awk -F , -v OFS='\t' 'NR == 1 { print "allocator", "workload", "build", "measured %", "verdict" }
        NR > 1 { print $1, $2, $3, sprintf("%+.1f", $5), $6 }' "$out/injected.csv" | aligned 3
    awk -F , 'NR > 1 && $5 >= 5 { above++; caught += $6 == "regressed" }
        NR > 1 && $5 < 5 { below++; cried += $6 == "regressed" }
        END { print "at or above the threshold of 5 %: " above + 0 ", caught " caught + 0 "; below: " \
                    below + 0 ", called a regression " cried + 0 }' "$out/injected.csv"
}

# group FILE CELL FIRST COUNT ORDER: COUNT of a cell's runs as a result set of its own; ORDER is a
# permutation of the runs, comma-separated.
group() {
    jq --argjson cell "$2" --argjson first "$3" --argjson count "$4" --argjson order "[$5]" '
        def median: sort | if length % 2 == 1 then .[(length - 1) / 2]
            else (.[length / 2 - 1] + .[length / 2]) / 2 end;
        .cells = [.cells[$cell] | .repetitions as $all |
            .repetitions = [$order[$first:$first + $count][] | $all[.]] |
            .repetitions as $own | .summary |= with_entries(.key as $k |
                [$own[].metrics[$k] | select(. != null)] as $v | .value = if ($v | length) == 0
                then {n: 0, median: null, min: null, max: null}
                else {n: ($v | length), median: ($v | median), min: ($v | min), max: ($v | max)}
                end)]' "$1" >"$work/group-$6/result.json"
}

permutation() { # COUNT SEED
    awk -v n="$1" -v seed="$2" 'BEGIN { srand(seed); for (i = 0; i < n; i++) p[i] = i
        for (i = n - 1; i > 0; i--) { j = int(rand() * (i + 1)); t = p[i]; p[i] = p[j]; p[j] = t }
        for (i = 0; i < n; i++) printf "%s%d", i ? "," : "", p[i] }'
}

# A pool of runs of both builds is measured once; each comparison draws its runs from it.
part_real() {
    local n draw order same more
    "$fragbench" run --progress never --no-timing --clock real --layouts 1 --repeat "$pool" -j 16 \
        -o "$work/real" -a "as-it-is=./$work/je-pad-0.so" -a "pad-10=./$work/je-pad-10.so" \
        "$workload" >/dev/null 2>&1
    mkdir -p "$work/group-a" "$work/group-b" "$work/group-c"
    echo "runs,draw,same,padded" >"$out/real.csv"
    for n in 3 5 10; do
        for ((draw = 1; draw <= draws; draw++)); do
            order=$(permutation "$pool" "$((1000 * n + draw))")
            group "$work/real/result.json" 0 0 "$n" "$order" a
            group "$work/real/result.json" 0 "$n" "$n" "$order" b
            group "$work/real/result.json" 1 0 "$n" "$order" c
            same=$(verdict --expect-same "$work/group-a" "$work/group-b")
            more=$(verdict --by allocator --metric peak_footprint_bytes "$work/group-a" \
                "$work/group-c")
            echo "$n,$draw,$same,$more" >>"$out/real.csv"
        done
    done
    jq -r '.cells[] | .allocator.name as $a | .summary.peak_footprint_bytes |
        "\($a): peak \(.median / 1048576 * 10 | round / 10) MiB, from \(.min / 1048576 * 10 | round / 10
        ) to \(.max / 1048576 * 10 | round / 10), n = \(.n)"' "$work/real/result.json"
    awk -F , -v OFS='\t' 'NR > 1 { if (!($1 in count)) order[++sizes] = $1
            count[$1]++; same[$1] += $3; more[$1] += $4 }
        END { print "runs a side", "draws", "false alarms", "+10 % caught"
              for (i = 1; i <= sizes; i++) { n = order[i]; print n, count[n], same[n], more[n] } }' \
        "$out/real.csv" | aligned 0
}

main() {
    local percent
    [[ -n $jemalloc ]] || {
        echo "gate: libjemalloc.so.2 not found; name it in FRAGBENCH_JEMALLOC" >&2
        return 1
    }
    for percent in 0 2 5 6 10; do
        build "pad-$percent" "-DPAD_PERCENT=$percent"
    done
    rm -f "$out/same.csv"
    printf 'The same, measured %d times with every CPU busy:\n' "$((runs + 1))"
    part_same
    printf '\nBuilds that only lie elsewhere (kv-cache-growth):\n'
    part_harmless
    printf '\nBuilds that take more, peak footprint, 5 layouts:\n'
    part_injected
    printf '\nReal time, over jemalloc:\n'
    part_real
    keep "$work/same-0/result.json" same.json
    machine "$out/same.json"
}
main | tee "$out/output.txt"
