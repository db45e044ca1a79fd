#!/usr/bin/env bash
# The article's service of 10 minutes, as meant and to the letter, beside the article's table; and
# the pattern under which a multiple like its 3.5 does appear.
# Usage: FRAGBENCH=path [BUSY="(machine busy)"] tests/figures/article.sh [OUTDIR]
# shellcheck source-path=SCRIPTDIR source=common.bash
. "$(dirname "$0")/common.bash"

# service RESULT_JSON: the article's columns. Its RSS is the whole process, ours anonymous memory.
service() {
    jq -r --arg busy "${BUSY:-}" "$jq_format"'
        ["allocator", "model loaded MiB", "after 10 min MiB", "highest MiB", "ratio end",
         "ratio peak", "wall s"],
        (.cells[] | .repetitions[0] as $r | $r.metrics as $m | [(.id | split("/")[1]),
         ($r.phases[0].footprint_bytes | mib), ($r.phases[-1].footprint_bytes | mib),
         ($m.peak_footprint_bytes | mib), ($m.ratio_end | fixed(2)), ($m.ratio_peak | fixed(2)),
         ($r.wall_s | fixed(1)) + (if $busy == "" then "" else " " + $busy end)]) |
        @tsv' "$1" | aligned 1
}

published() {
    printf '%s\t%s\t%s\t%s\n' "allocator" "model loaded MB" "after 10 min MB" "ratio" \
        ptmalloc2 310 700 3.5x jemalloc 310 260 1.3x "budgeted, 512 MB" 310 310 1.0x | aligned 1
}

growth() {
    jq -r "$jq_format"'
        ["allocator", "peak MiB", "ratio peak", "end MiB", "live at the end MiB", "ratio end",
         "purged MiB"],
        (.cells[] | .summary as $s | [.allocator.name, ($s.peak_footprint_bytes.median | mib),
         ($s.ratio_peak.median | fixed(2)), ($s.end_footprint_bytes.median | mib),
         ($s.end_live_bytes.median | mib), ($s.ratio_end.median | fixed(2)),
         ($s.retained_purged_bytes.median | mib)]) | @tsv' "$1" | aligned 1
}

# show TITLE TABLE RESULT_FOLDER
show() {
    keep "$work/$3/result.json" "$3.json"
    printf '\n%s\n' "$1"
    "$2" "$out/$3.json"
}

main() {
    local service=workloads/inference-service.yaml
    bench "$service" -L requests=1000 -a ptmalloc2,jemalloc,tcmalloc,mimalloc \
        -a budgeted:budget=512MiB --layouts 1 --no-timing -o "$work/as-meant"
    bench "$service" -L requests=1000 -L call=calloc -L touch=none --layouts 1 --no-timing \
        -o "$work/to-the-letter"
    bench workloads/kv-cache-growth.yaml --no-timing -o "$work/kv-cache-growth"
    machine "$work/as-meant/result.json"
    printf '\nThe article:\n'
    published
    show "As meant (weights and buffers are written):" service as-meant
    show "To the letter (zero-allocated, never written):" service to-the-letter
    show "kv-cache-growth, 3 layouts:" growth kv-cache-growth
}
main | tee "$out/output.txt"
