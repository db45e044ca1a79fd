#!/usr/bin/env bash
# The three workloads made from recordings of real programs, beside what those programs needed:
# peak and end footprint under seven contenders, and how well the order of the contenders agrees.
# The threads of the workloads end with the service; a second run of each keeps them alive to the
# end, as the recordings do not say which it was.
# Usage: FRAGBENCH=path tests/figures/measured.sh [OUTDIR]; takes 5 minutes.
# shellcheck source-path=SCRIPTDIR source=common.bash
. "$(dirname "$0")/common.bash"

programs=(torch-encoder torch-decoder-kv ort-dynamic)
contenders=(-a "ptmalloc2,jemalloc,tcmalloc,mimalloc,scudo,tbbmalloc" -a "ptmalloc2:arena_max=1")

# The same workload on a pool of four, in a folder of its own so that its name is the same.
on_a_pool() { # PROGRAM
    mkdir -p "$work/pool"
    sed -e 's/^objects:/pools: {servers: 4}\n\nobjects:/' -e 's/^    threads: 4$/    pool: servers/' \
        "workloads/$1.yaml" >"$work/pool/$1.yaml"
    grep -q 'pool: servers' "$work/pool/$1.yaml"
}

# program, contender, real and replayed peak, real and replayed end, end with the threads alive;
# MB, as the recordings are.
side_by_side() {
    echo "program,contender,real_peak_mb,peak_mb,real_end_mb,end_mb,end_threads_alive_mb"
    local program
    for program in "${programs[@]}"; do
        jq -r --arg program "$program" --rawfile real workloads/data/real-footprint.csv \
            --slurpfile alive "$out/$program-alive.json" '
            def mb: . / 1e6 | round;
            ($real | split("\n")[1:-1] | map(split(",") | {key: "\(.[0])/\(.[1])", value: .[2:]}) |
                from_entries) as $real |
            ($alive[0].cells | map({key: .allocator.spec, value: .summary}) | from_entries) as $alive |
            .cells[] | $real["\($program)/\(.allocator.spec)"] as $there |
            select($there != null and .status == "ok") |
            [$program, .allocator.spec, $there[0], (.summary.peak_footprint_bytes.median | mb),
             $there[1], (.summary.end_footprint_bytes.median | mb),
             ($alive[.allocator.spec].end_footprint_bytes.median | mb)] | join(",")' \
            "$out/$program.json"
    done
}

# Spearman's rank correlation of real and replayed: of the peaks and of the ends. Equal values
# share the mean of their ranks.
correlations() {
    awk -F , -v OFS='\t' '
        function rank(program, column, row,   i, below, same) {
            for (i = 1; i <= count[program]; i++) {
                if (value[program, i, column] < value[program, row, column]) below++
                if (value[program, i, column] == value[program, row, column]) same++ }
            return below + (same + 1) / 2 }
        function spearman(program, a, b,   i, x, y, sx, sy, sxy, mean) {
            mean = (count[program] + 1) / 2
            for (i = 1; i <= count[program]; i++) {
                x = rank(program, a, i) - mean; y = rank(program, b, i) - mean
                sx += x * x; sy += y * y; sxy += x * y }
            return sprintf("%.2f", sxy / sqrt(sx * sy)) }
        BEGIN { print "program", "contenders", "peak", "end", "end, threads alive" }
        NR > 1 { if (!($1 in count)) order[++programs] = $1
                 count[$1]++
                 for (c = 3; c <= 7; c++) value[$1, count[$1], c] = $c + 0 }
        END { for (p = 1; p <= programs; p++)
                  print order[p], count[order[p]], spearman(order[p], 3, 4),
                      spearman(order[p], 5, 6), spearman(order[p], 5, 7) }' \
        "$out/side-by-side.csv"
}

main() {
    local program
    for program in "${programs[@]}"; do
        bench "workloads/$program.yaml" "${contenders[@]}" --no-timing -o "$work/$program"
        keep "$work/$program/result.json" "$program.json"
        on_a_pool "$program"
        bench "$work/pool/$program.yaml" "${contenders[@]}" --no-timing --layouts 1 \
            -o "$work/$program-alive"
        keep "$work/$program-alive/result.json" "$program-alive.json"
    done
    side_by_side >"$out/side-by-side.csv"
    machine "$out/torch-encoder.json"
    printf '\nMB of anonymous memory, real programs and replays (median of 3 layouts):\n'
    sed -e 's/,/\t/g' -e '1s/_/ /g' "$out/side-by-side.csv" | aligned 2
    printf "\nSpearman's rank correlation of real and replayed (1 = the same order):\n"
    correlations | aligned 1
}
main | tee "$out/output.txt"
