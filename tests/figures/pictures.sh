#!/usr/bin/env bash
# The pictures of README.md and docs/plots.md, drawn from data that are kept beside the other reference
# results. What is measured: RSS over time of three workloads; every workload of the library, once
# with its timing pass, for the map and for memory against time; and where the bytes of heap-top-pin
# are, page by page.
# Usage: FRAGBENCH=path tests/figures/pictures.sh [OUTDIR [NAME...]]
# With names (rss, library, parts) only those are measured; every kept picture is drawn anew. Needs
# gnuplot.
# shellcheck source-path=SCRIPTDIR source=common.bash
. "$(dirname "$0")/common.bash"

pictures=docs/pictures
allocators=ptmalloc2,jemalloc,tcmalloc,mimalloc
largest_bytes=100000

# The data of a result's pictures, into OUTDIR.
data() { # RESULT KINDS
    "$fragbench" plot "$1" --plot "$2" --format dat -f -o "$out" >/dev/null
}

rss() {
    local name
    for name in kv-cache-growth inference-mixed burst-then-idle; do
        bench "workloads/$name.yaml" -a "$allocators" --no-timing -o "$work/$name"
        require_fixed_layout "$work/$name/result.json"
        data "$work/$name" rss
        machine "$work/$name/result.json"
    done
}

# A cell that fails leaves a grey field in the map and does not end the script.
library() {
    local status=0
    echo "\$ fragbench run workloads/*.yaml -a $allocators --layouts 1${BUSY:+ $BUSY}"
    "$fragbench" run --progress never workloads/*.yaml -a "$allocators" --layouts 1 \
        -o "$work/library" >/dev/null 2>"$work/messages" || status=$?
    [[ $status -eq 0 || $status -eq 5 ]] || {
        cat "$work/messages" >&2
        return 1
    }
    "$fragbench" plot "$work/library" --plot library,pareto --format dat -f -o "$work/data" >/dev/null
    cp "$work/data/library.dat" "$work/data/pareto.dat" "$out"
    machine "$work/library/result.json"
}

parts() {
    bench workloads/heap-top-pin.yaml -a "$allocators" --layouts 1 --no-timing --explain \
        -o "$work/heap-top-pin"
    data "$work/heap-top-pin" parts,heat
    machine "$work/heap-top-pin/result.json"
}

# From the kept data alone, as anyone can.
draw() {
    local data name
    mkdir -p "$pictures"
    for data in "$out"/*.dat; do
        name=$(basename "$data" .dat)
        LC_ALL=C.UTF-8 gnuplot -d -c "plots/${name%%-*}.gp" "$data" svg >"$pictures/$name.svg"
        [[ $(stat -c %s "$pictures/$name.svg") -lt $largest_bytes ]] || {
            echo "$pictures/$name.svg is larger than $largest_bytes bytes" >&2
            return 1
        }
    done
    echo "drawn with $(gnuplot --version): $(cd "$pictures" && echo *.svg)"
}

shift || true
[[ $# -gt 0 ]] || set -- rss library parts
for name in "$@"; do "$name" | tee "$out/$name.txt"; done
draw
