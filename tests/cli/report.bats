#!/usr/bin/env bats
# `report`: the page of real results, with and without gnuplot, and of several results. What a
# browser makes of it is tests/page's.

bats_require_minimum_version 1.5.0
load common

run_tiny() { # ARGUMENT...
    "$FRAGBENCH" run -a ptmalloc2 --layouts 1 --progress never "$@" tiny.yaml >/dev/null 2>&1
}

needs_gnuplot() {
    command -v gnuplot >/dev/null || skip "gnuplot is not installed (apt-get install gnuplot-nox)"
}

@test "the page has the workload's pictures and says what there are no data for" {
    needs_gnuplot
    run_tiny --no-timing -o out
    run --separate-stderr "$FRAGBENCH" report out
    assert_status 0
    assert_equal "$output" ""
    assert_contains "$stderr" "the report is in out/report.html"
    page=$(cat out/report.html)
    assert_equal "$(grep -o '<h3>[^<]*</h3>' out/report.html)" "<h3>RSS over time</h3>
<h3>RSS over live bytes</h3>
<h3>Where the bytes went</h3>
<h3>What stays after the last free</h3>"
    # Who cannot see it is told the numbers of its key.
    assert_contains "$page" 'aria-label="RSS over time: tiny; live bytes: peak 1.098 MiB, end 1 MiB; ptmalloc2: peak '
    assert_contains "$page" "Not drawn: no page maps; "
    assert_contains "$page" "Memory against time. Not drawn: no time was measured; run without --no-timing"
    "$FRAGBENCH" report out -o out/again.html
    cmp out/report.html out/again.html
}

@test "an explained run: tables of parts, their sentences and the map" {
    needs_gnuplot
    "$FRAGBENCH" run heap-top-pin -L pairs=500 -a ptmalloc2 --layouts 1 --no-timing --explain -o out
    "$FRAGBENCH" report out
    page=$(cat out/report.html)
    assert_contains "$page" "<h3>Pages by how much of them is live</h3>"
    assert_contains "$page" "<caption>Where it is at the end:</caption>"
    assert_contains "$page" "are free pages that it keeps for later"
    assert_contains "$page" "<pre>fragbench run "
}

@test "a sweep has its ranking" {
    "$FRAGBENCH" run tiny.yaml -a jemalloc -a jemalloc:dirty_decay_ms=0 --layouts 1 --no-timing -o out ||
        skip "jemalloc is not installed"
    "$FRAGBENCH" report out
    assert_contains "$(cat out/report.html)" "<h3>Ranking</h3>"
    assert_contains "$(cat out/report.html)" "Ranked by peak RSS"
}

@test "without gnuplot the page is written, with one note" {
    run_tiny --no-timing -o out
    mkdir bin
    run --separate-stderr env PATH="$PWD/bin" "$FRAGBENCH" report out
    assert_status 0
    assert_equal "$(grep -c "not all pictures were drawn: gnuplot is not installed" <<<"$stderr")" 1
    assert_equal "$(grep -c "Not drawn: gnuplot is not installed" out/report.html)" 1
    refute_contains "$(cat out/report.html)" "<svg"
    assert_contains "$(cat out/report.html)" "ptmalloc2"
}

@test "of two results the page says what changed, phase by phase and as a picture" {
    needs_gnuplot
    run_tiny --no-timing -o old
    cp -r old new
    jq '.cells[0] |= (.summary.end_footprint_bytes |= (.median *= 2 | .min *= 2 | .max *= 2)
        | .repetitions[].metrics.end_footprint_bytes *= 2)' old/result.json >new/result.json
    "$FRAGBENCH" report old new -o page.html
    changes=$(sed -n '/<section id="changes">/,/<\/section>/p' page.html)
    assert_contains "$changes" "<p>gate: failed (1 regressed)</p>"
    assert_contains "$changes" '<td class="left bad">regressed</td>'
    assert_contains "$changes" "tiny: new against base."
    assert_contains "$changes" "<h3>What changed</h3>"
    assert_contains "$changes" "Change of peak RSS"
    run --separate-stderr "$FRAGBENCH" report old -o alone.html
    refute_contains "$(cat alone.html)" 'id="changes"'
}

@test "results of unlike conditions are shown, and why they were not compared" {
    run_tiny --no-timing -o one
    run_tiny --no-timing --scale 0.5 -o two
    run --separate-stderr "$FRAGBENCH" report full=one half=two -o page.html
    assert_status 0
    assert_contains "$(cat page.html)" "scale: 1 in full, 0.5 in half"
    assert_contains "$(cat page.html)" "skipped: not compared"
    refute_contains "$(cat page.html)" "<h3>What changed</h3>"
    assert_contains "$(cat page.html)" "Result set half"
}

@test "what a limit says stands with its workload" {
    cat >>tiny.yaml <<'LIMITS'
limits:
  peak_footprint_bytes: 1MiB
LIMITS
    run_tiny --no-timing -o out || true
    "$FRAGBENCH" report out
    assert_contains "$(cat out/report.html)" '<p class="bad">tiny, ptmalloc2: '
}
