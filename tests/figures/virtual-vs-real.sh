#!/usr/bin/env bash
# Does the virtual clock change what an allocator does? A service of a minute under both clocks,
# the two allocators that give memory back by the clock; the real one twice, which shows how far
# real runs differ among themselves.
# Usage: FRAGBENCH=path tests/figures/virtual-vs-real.sh [OUTDIR]; takes six minutes.
# shellcheck source-path=SCRIPTDIR source=common.bash
. "$(dirname "$0")/common.bash"

service=tests/figures/paced-service.yaml

# The runs of a result folder: allocator, repetition, curve, and phase=start:end;... in ns.
runs() {
    jq -r '.cells[] | .allocator.name as $a | .repetitions[] |
        ([.checkpoints[] | select(.kind == "start" or .kind == "phase_end")] |
         [range(1; length) as $i | "\(.[$i].phase)=\(.[$i - 1].t_ns):\(.[$i].t_ns)"] |
         join(";")) as $phases | [$a, .index, .series, $phases] | @tsv' "$1/result.json"
}

# by_second PHASES CURVE: phase, second, the footprint in the middle of that second of its phase,
# and the highest within it; tab-separated. The middle lies in the pause between two requests.
by_second() {
    sort -s -t , -k 1,1n "$2" | awk -F , -v OFS='\t' -v phases="$1" '
        BEGIN { count = split(phases, part, ";")
            for (i = 1; i <= count; i++) { split(part[i], field, /[=:]/)
                name[i] = field[1]; start[i] = field[2]; end[i] = field[3] }
            phase = 1; second = 0 }
        function close_second() { print name[phase], second, middle, highest; highest = last }
        function close_until(t) {
            while (phase <= count) {
                if (t >= start[phase] + (second + 0.5) * 1e9 && middle == "") middle = last
                if (end[phase] - start[phase] >= (second + 1) * 1e9 - 1e8) {
                    if (t < start[phase] + (second + 1) * 1e9 && t < end[phase]) return
                    close_second(); second++; middle = ""
                } else { if (t < end[phase]) return
                    phase++; second = 0; middle = ""; highest = last } } }
        $1 ~ /^[0-9]/ { close_until($1); last = $2; if ($2 > highest) highest = $2 }'
}

curves() {
    local clock allocator index series phases
    for clock in virtual real; do
        runs "$work/$clock" | while IFS=$'\t' read -r allocator index series phases; do
            by_second "$phases" "$work/$clock/$series" | sed "s/^/$allocator\t$clock $index\t/"
        done
    done
}

# Side by side: allocator, phase, second, virtual, the first and the second real run; the highest.
side_by_side() {
    awk -F '\t' -v OFS=, '
        BEGIN { print "allocator,phase,second,virtual_bytes,real_bytes,real_again_bytes," \
                "virtual_highest_bytes,real_highest_bytes,real_again_highest_bytes" }
        { key = $1 OFS $3 OFS $4; value[key, $2] = $5; high[key, $2] = $6
          if ($2 == "virtual 0") order[++keys] = key }
        END { for (i = 1; i <= keys; i++) { k = order[i]
                  print k, value[k, "virtual 0"], value[k, "real 0"], value[k, "real 1"],
                      high[k, "virtual 0"], high[k, "real 0"], high[k, "real 1"] } }'
}

# Differences between two columns of the CSV, at the end and the largest, in MiB and per cent.
compare() { # TITLE COLUMN BASE_COLUMN
    awk -F , -v OFS='\t' -v title="$1" -v a="$2" -v b="$3" '
        function mib(bytes) { return sprintf("%+.2f", bytes / 1048576) }
        function percent(part, whole) { return sprintf("%+.2f %%", 100 * part / whole) }
        function absolute(x) { return x < 0 ? -x : x }
        NR > 1 { d = $a - $b
            if (!($1 in final)) order[++n] = $1
            final[$1] = d; base[$1] = $b; points[$1]++; total[$1] += absolute(d); sum[$1] += $b
            if (absolute(d) >= absolute(worst[$1])) { worst[$1] = d; at[$1] = $2 " " $3 " s"
                whole[$1] = $b } }
        END { for (i = 1; i <= n; i++) { k = order[i]
                print k, title, points[k], sprintf("%.1f", base[k] / 1048576), mib(final[k]),
                    percent(final[k], base[k]), mib(worst[k]), percent(worst[k], whole[k]), at[k],
                    sprintf("%.2f %%", 100 * total[k] / sum[k]) } }' "$out/curves.csv"
}

main() {
    bench "$service" -a jemalloc,mimalloc --layouts 1 --no-timing --clock virtual \
        -o "$work/virtual"
    bench "$service" -a jemalloc,mimalloc --layouts 1 --no-timing --clock real -j 1 -r 2 \
        -o "$work/real"
    curves | side_by_side >"$out/curves.csv"
    keep "$work/virtual/result.json" virtual.json
    keep "$work/real/result.json" real.json
    machine "$out/virtual.json"
    echo
    { printf '%s\t' allocator compared seconds "end MiB" "difference at the end" "in %" \
        "largest difference" "in %" where
    echo "mean"
    { compare "virtual - real" 4 5
    compare "virtual - real again" 4 6
    compare "real again - real" 6 5
    compare "highest: virtual - real" 7 8
    compare "highest: real again - real" 9 8; } | sort -s -t $'\t' -k 1,1; } | aligned
}
main | tee "$out/output.txt"
