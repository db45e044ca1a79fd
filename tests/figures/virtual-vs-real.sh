#!/usr/bin/env bash
# Does the virtual clock change what an allocator does? A service of a minute under both clocks,
# the two allocators that give memory back by the clock; the real one twice, which shows how far
# real runs differ among themselves. Its burst comes once as fast as memory allows, when it lasts
# as long as page faults do, and once paced, when it lasts the same under both clocks.
# Usage: FRAGBENCH=path tests/figures/virtual-vs-real.sh [OUTDIR]; takes 11 minutes.
# shellcheck source-path=SCRIPTDIR source=common.bash
. "$(dirname "$0")/common.bash"

# The runs of a result folder: allocator, pace of the burst, repetition, curve, and
# phase=start:end;... in ns.
runs() {
    jq -r '.cells[] | .allocator.name as $a | .workload.params.pace as $p | .repetitions[] |
        ([.checkpoints[] | select(.kind == "start" or .kind == "phase_end")] |
         [range(1; length) as $i | "\(.[$i].phase)=\(.[$i - 1].t_ns):\(.[$i].t_ns)"] |
         join(";")) as $phases | [$a, $p, .index, .series, $phases] | @tsv' "$1/result.json"
}

# by_second PHASES CURVE: phase, second, the footprint in the middle of that second of its phase,
# and the highest within it; tab-separated. The middle lies in the pause between two requests. A
# second of which less than 0.9 belongs to the phase is left out.
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
                if (end[phase] - start[phase] >= (second + 0.9) * 1e9) {
                    if (t < start[phase] + (second + 1) * 1e9 && t < end[phase]) return
                    close_second(); second++; middle = ""
                } else { if (t < end[phase]) return
                    phase++; second = 0; middle = ""; highest = last } } }
        $1 ~ /^[0-9]/ { close_until($1); last = $2; if ($2 > highest) highest = $2 }'
}

curves() {
    local clock allocator pace index series phases
    for clock in virtual real; do
        runs "$work/$clock" | while IFS=$'\t' read -r allocator pace index series phases; do
            by_second "$phases" "$work/$clock/$series" |
                sed "s/^/$allocator\t$pace\t$clock $index\t/"
        done
    done
}

# Side by side: allocator, pace, phase, second; virtual, the first and the second real run; their
# highest.
side_by_side() {
    awk -F '\t' -v OFS=, '
        BEGIN { print "allocator,pace,phase,second,virtual_bytes,real_bytes,real_again_bytes," \
                "virtual_highest_bytes,real_highest_bytes,real_again_highest_bytes" }
        { key = $1 OFS $2 OFS $4 OFS $5; value[key, $3] = $6; high[key, $3] = $7
          if ($3 == "virtual 0") order[++keys] = key }
        END { for (i = 1; i <= keys; i++) { k = order[i]
                  print k, value[k, "virtual 0"], value[k, "real 0"], value[k, "real 1"],
                      high[k, "virtual 0"], high[k, "real 0"], high[k, "real 1"] } }'
}

# Differences between two columns of the CSV: at the end, the largest, and the mean without sign.
compare() { # TITLE COLUMN BASE_COLUMN
    awk -F , -v OFS='\t' -v title="$1" -v a="$2" -v b="$3" '
        function mib(bytes) { return sprintf("%+.2f", bytes / 1048576) }
        function percent(part, whole) { return sprintf("%+.2f %%", 100 * part / whole) }
        function absolute(x) { return x < 0 ? -x : x }
        NR > 1 { d = $a - $b; k = $1 OFS $2
            if (!(k in final)) order[++n] = k
            final[k] = d; base[k] = $b; total[k] += absolute(d); sum[k] += $b
            if (absolute(d) > absolute(worst[k]) || !(k in at)) {
                worst[k] = d; whole[k] = $b; at[k] = d == 0 ? "-" : $3 " " $4 " s" } }
        END { for (i = 1; i <= n; i++) { k = order[i]
                print k, title, sprintf("%.1f", base[k] / 1048576), mib(final[k]),
                    percent(final[k], base[k]), mib(worst[k]), percent(worst[k], whole[k]), at[k],
                    sprintf("%.2f %%", 100 * total[k] / sum[k]) } }' "$out/curves.csv"
}

table() {
    { printf 'allocator\tpace\tcompared\tend MiB\tdifference at the end\tin %%\t'
    printf 'largest difference\tin %%\twhere\tmean, in %%\n'
    { compare "virtual - real" 5 6
    compare "virtual - real again" 5 7
    compare "real again - real" 7 6; } | sort -s -t $'\t' -k 1,2; } | aligned 3
}

# How long the burst lasted in each run, in ms.
bursts() {
    local clock
    for clock in virtual real; do
        runs "$work/$clock" | sed -E "s/^([^\t]+)\t([^\t]+)\t.*burst=([0-9]+):([0-9]+).*/\2\t$clock\t\3\t\4/"
    done | awk -F '\t' '{ k = $1 "\t" $2; if (!(k in list)) order[++n] = k
            list[k] = list[k] sprintf(" %.0f", ($4 - $3) / 1e6) }
        END { for (i = 1; i <= n; i++) { split(order[i], part, "\t")
            print "burst at pace " part[1] ", " part[2] ": lasts" list[order[i]] " ms" } }'
}

main() {
    local service=tests/figures/paced-service.yaml
    local common=(-a "jemalloc,mimalloc" -L "pace=0ms,20ms" --layouts 1 --no-timing)
    bench "$service" "${common[@]}" --clock virtual -o "$work/virtual"
    bench "$service" "${common[@]}" --clock real -j 1 -r 2 -o "$work/real"
    curves | side_by_side >"$out/curves.csv"
    keep "$work/virtual/result.json" virtual.json
    keep "$work/real/result.json" real.json
    machine "$out/virtual.json"
    echo
    table
    echo
    bursts
}
main | tee "$out/output.txt"
