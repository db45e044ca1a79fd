#!/usr/bin/env bats
# `plot`: pictures of results, what they need, and what a stranger's names can do: nothing. And the
# pictures of `run`: --plot and --sketch.

bats_require_minimum_version 1.5.0
load common

repo=${BATS_TEST_DIRNAME}/../..
kept=$repo/tests/data/plots

needs_gnuplot() {
    command -v gnuplot >/dev/null || skip "gnuplot is not installed (apt-get install gnuplot-nox)"
}

# Well-formed XML that is a picture.
assert_svg() { # FILE
    python3 - "$1" <<'EOF' || fail "$1 is no SVG"
import sys, xml.etree.ElementTree as tree
root = tree.parse(sys.argv[1]).getroot()
assert root.tag == "{http://www.w3.org/2000/svg}svg", root.tag
for node in root.iter():
    assert not node.tag.endswith("script"), "a script"
    assert not any(name.startswith("on") for name in node.attrib), "a handler"
EOF
}

run_tiny() { # ARGUMENT...
    "$FRAGBENCH" run -a ptmalloc2 --layouts 1 --no-timing --progress never "$@" tiny.yaml >/dev/null
}

@test "the templates draw the kept data into the kept pictures" {
    needs_gnuplot
    version=$(gnuplot --version)
    [[ $version == "gnuplot 5.4 patchlevel 4" ]] || skip "the pictures are of 5.4.4, this is $version"
    for data in "$kept"/*.dat; do
        kind=$(basename "$data" .dat)
        [[ $kind == sketch ]] && ending=txt || ending=svg
        LC_ALL=C.UTF-8 gnuplot -d -c "$repo/plots/$kind.gp" "$data" "$ending" >"$kind.$ending"
        cmp "$kind.$ending" "$kept/$kind.$ending"
    done
}

@test "the documents' pictures are of the data kept with the reference results" {
    needs_gnuplot
    version=$(gnuplot --version)
    [[ $version == "gnuplot 5.4 patchlevel 4" ]] || skip "the pictures are of 5.4.4, this is $version"
    for data in "$repo"/results/reference/pictures/*.dat; do
        name=$(basename "$data" .dat)
        LC_ALL=C.UTF-8 gnuplot -d -c "$repo/plots/${name%%-*}.gp" "$data" svg >"$name.svg"
        cmp "$name.svg" "$repo/docs/pictures/$name.svg"
        [[ $(stat -c %s "$name.svg") -lt 100000 ]]
    done
}

@test "every template draws svg and png without a complaint" {
    needs_gnuplot
    for data in "$kept"/*.dat; do
        kind=$(basename "$data" .dat)
        [[ $kind == sketch ]] && continue
        gnuplot -d -c "$repo/plots/$kind.gp" "$data" svg >"$kind.svg" 2>complaints
        [[ ! -s complaints ]] || fail "$kind: $(cat complaints)"
        assert_svg "$kind.svg"
        gnuplot -d -c "$repo/plots/$kind.gp" "$data" png >"$kind.png" 2>complaints
        [[ ! -s complaints ]] || fail "$kind: $(cat complaints)"
        assert_equal "$(head -c 8 "$kind.png" | od -An -tx1 | tr -d ' ')" 89504e470d0a1a0a
    done
}

@test "a run's pictures go to its plots folder and their paths to stdout" {
    needs_gnuplot
    run_tiny -o out
    run --separate-stderr "$FRAGBENCH" plot out
    assert_status 0
    assert_equal "$output" "out/plots/rss-tiny.svg
out/plots/ratio-tiny.svg
out/plots/parts-tiny.svg
out/plots/decay-tiny.svg"
    for file in $output; do assert_svg "$file"; done
    assert_contains "$(cat out/plots/rss-tiny.svg)" "virtual time (ms)"
    assert_contains "$(cat out/plots/rss-tiny.svg)" "ptmalloc2: peak "
    assert_contains "$stderr" "not drawn: pareto: no time was measured; run without --no-timing"
}

@test "the same result gives the same bytes" {
    needs_gnuplot
    run_tiny -o out
    "$FRAGBENCH" plot out -o one
    GNUTERM=dumb GNUPLOT_LIB=/nowhere LANG=de_DE.UTF-8 "$FRAGBENCH" plot out -o two
    diff -r one two
}

@test "pictures that are there are replaced with -f only" {
    needs_gnuplot
    run_tiny -o out
    "$FRAGBENCH" plot out --plot rss
    echo mine >out/plots/rss-tiny.svg
    run --separate-stderr "$FRAGBENCH" plot out --plot rss
    assert_status 2
    assert_contains "$stderr" "out/plots/rss-tiny.svg is there; -f replaces it"
    assert_equal "$(cat out/plots/rss-tiny.svg)" mine
    "$FRAGBENCH" plot out --plot rss -f
    assert_svg out/plots/rss-tiny.svg
}

@test "--width and --format are heeded" {
    needs_gnuplot
    run_tiny -o out
    "$FRAGBENCH" plot out --plot rss --width 1200 -o wide
    assert_contains "$(cat wide/rss-tiny.svg)" 'viewBox="0 0 1200 '
    "$FRAGBENCH" plot out --plot rss --format png -o png
    [[ -s png/rss-tiny.png ]]
    "$FRAGBENCH" plot out --plot rss --format dat -o dat
    gnuplot -d -c "$repo/plots/rss.gp" dat/rss-tiny.dat svg >again.svg
    "$FRAGBENCH" plot out --plot rss -o svg
    cmp again.svg svg/rss-tiny.svg
}

@test "without gnuplot: an error that says what to install; the data need none" {
    run_tiny -o out
    mkdir bin
    run --separate-stderr env PATH="$PWD/bin" "$FRAGBENCH" plot out
    assert_status 3
    assert_contains "$stderr" "apt-get install gnuplot-nox"
    [[ ! -e out/plots/rss-tiny.svg ]]
    env PATH="$PWD/bin" "$FRAGBENCH" plot out --plot rss --format dat -o dat
    [[ -s dat/rss-tiny.dat ]]
}

@test "a gnuplot that fails: its words, and no file" {
    run_tiny -o out
    mkdir bin
    printf '#!/bin/sh\necho "line 3: no such colour" >&2\nexit 9\n' >bin/gnuplot
    chmod +x bin/gnuplot
    run --separate-stderr env PATH="$PWD/bin:/bin:/usr/bin" "$FRAGBENCH" plot out --plot rss
    assert_status 3
    assert_contains "$stderr" "rss-tiny: gnuplot ended with code 9: line 3: no such colour"
    [[ ! -e out/plots/rss-tiny.svg ]]
}

@test "names of strangers are drawn, never run" {
    needs_gnuplot
    run_tiny -o out
    # shellcheck disable=SC2016 # not for this shell
    evil='`touch pwned` $(touch pwned) @x {/=99 big} <script>alert(1)</script> & &#x0; "q" \n a_b^c %s'
    jq --arg evil "$evil" '.cells[0].allocator.name = $evil | .cells[0].workload.name = $evil
        | .cells[0].repetitions[0].phases[0].name = $evil | .host.kernel = $evil
        | .cells[0].repetitions[0].checkpoints |= map(if .phase == "load" then .phase = $evil else . end)
        | .cells[0].workload.params.count = "<i>" | .cells[0].clock = $evil' out/result.json >evil.json
    mv evil.json out/result.json
    quoted=${evil//\"/\"\"} awk 'BEGIN { FS = OFS = "," } $7 == "load" { $7 = "\"" ENVIRON["quoted"] "\"" } 1' \
        out/series/*.csv >series.csv
    mv series.csv out/series/*.csv
    run --separate-stderr "$FRAGBENCH" plot out --plot rss,ratio,decay,library
    assert_status 0
    [[ ! -e pwned && ! -e out/pwned ]]
    for file in out/plots/*.svg; do assert_svg "$file"; done
    assert_contains "$(cat out/plots/rss-*.svg)" "&lt;script>"
    # shellcheck disable=SC2016
    assert_contains "$(cat out/plots/library.svg)" '`touch'
}

@test "change against an older result, with its band" {
    needs_gnuplot
    run_tiny -o old
    run_tiny -o new
    jq '.cells[0].summary.peak_footprint_bytes.median *= 0.8' old/result.json >t && mv t old/result.json
    run --separate-stderr "$FRAGBENCH" plot new --plot change --base old --threshold 10%
    assert_status 0
    assert_equal "$output" new/plots/change.svg
    assert_contains "$(cat new/plots/change.svg)" "+25.0 %"
    assert_contains "$(cat new/plots/change.svg)" "±10 %"
    run --separate-stderr "$FRAGBENCH" plot new --plot change -f
    assert_status 4
    assert_contains "$stderr" "name an older result with --base"
}

@test "library and pareto are over several results with -o" {
    needs_gnuplot
    run_tiny -o one
    sed 's/^name: tiny/name: other/' tiny.yaml >other.yaml
    "$FRAGBENCH" run -a ptmalloc2 --layouts 1 --no-timing --progress never -o two other.yaml >/dev/null
    "$FRAGBENCH" plot one two -o both --plot library --metric kept_bytes
    assert_contains "$(cat both/library.svg)" "tiny"
    assert_contains "$(cat both/library.svg)" "other"
    assert_contains "$(cat both/library.svg)" "kept (kept_bytes, MiB)"
}

@test "a result without series, or of nothing done, says so" {
    run_tiny -o out
    rm -r out/series
    run --separate-stderr "$FRAGBENCH" plot out --plot rss
    assert_status 4
    assert_contains "$stderr" "not drawn: rss: no curve to draw"
    assert_contains "$stderr" "nothing to draw"
    run --separate-stderr "$FRAGBENCH" plot nowhere
    assert_status 2
    assert_contains "$stderr" "nowhere"
    run --separate-stderr "$FRAGBENCH" plot out --plot rs
    assert_status 2
    assert_contains "$stderr" "--help lists them"
}

@test "the sketch is text on stdout, no wider than 80 columns" {
    needs_gnuplot
    run_tiny -o out
    run --separate-stderr "$FRAGBENCH" plot out --plot sketch
    assert_status 0
    assert_contains "$output" "tiny: RSS, anonymous (KiB) over virtual time (ms)"
    assert_contains "$output" "p ptmalloc2: peak "
    refute_contains "$output" $'\033'
    while IFS= read -r line; do
        [[ ${#line} -le 80 && $line != *" " ]] || fail "too long or padded: $line"
    done <<<"$output"
    [[ ! -e out/plots ]]
}

@test "run --plot draws at the end, and --sketch stands above the table" {
    needs_gnuplot
    run --separate-stderr "$FRAGBENCH" run -a ptmalloc2 --layouts 1 --no-timing --plot \
        --sketch always -o out tiny.yaml
    assert_status 0
    assert_contains "$stderr" "4 pictures are in out/plots"
    assert_svg out/plots/rss-tiny.svg
    assert_contains "${output%%allocator*}" "p ptmalloc2: peak "
    run --separate-stderr "$FRAGBENCH" run -a ptmalloc2 --layouts 1 --no-timing -f -o out tiny.yaml
    refute_contains "$output" "p ptmalloc2: peak " # no terminal
    [[ -z $(ls out/plots) ]]                       # of the run before
}

@test "run without gnuplot notes it and is no failure" {
    mkdir bin
    run --separate-stderr env PATH="$PWD/bin" "$FRAGBENCH" run -a ptmalloc2 --layouts 1 \
        --no-timing --plot --sketch always -o out tiny.yaml
    assert_status 0
    assert_contains "$stderr" "no sketch of the curves: gnuplot is not installed"
    assert_contains "$stderr" "not all pictures were drawn: gnuplot is not installed"
    assert_contains "$output" "ptmalloc2"
}
