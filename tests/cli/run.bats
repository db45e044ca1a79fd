#!/usr/bin/env bats
# `run`: the table, the result folder, purity of stdout, escape codes.

bats_require_minimum_version 1.5.0
load common

@test "a run: table on stdout, result folder, latest" {
    run --separate-stderr "$FRAGBENCH" run -a ptmalloc2 --layouts 2 tiny.yaml
    assert_status 0
    assert_contains "$output" "ptmalloc2"
    assert_contains "$output" "tiny"
    assert_contains "$stderr" "results are in results/tiny-"
    [[ -L results/latest ]]
    [[ -f results/latest/result.json ]]
    assert_equal "$(ls results/latest/series | wc -l)" 2
    assert_equal "$(jq -r '.cells[0].repetitions | length' results/latest/result.json)" 2
    assert_equal "$(jq -r '.cells[0].status' results/latest/result.json)" ok
    assert_equal "$(jq -r '.schema' results/latest/result.json)" fragbench-result/1
    assert_equal "$(jq -rc '.argv' results/latest/result.json)" \
        '["fragbench","run","-a","ptmalloc2","--layouts","2","tiny.yaml"]'
}

@test "the timing pass fills ns_per_op and latencies; --no-timing leaves them null" {
    "$FRAGBENCH" run -a ptmalloc2 --layouts 1 -o timed tiny.yaml
    jq -e '.cells[0].summary.ns_per_op.median >= 0' timed/result.json
    jq -e '.cells[0].summary.latency_p99_ns.median > 0' timed/result.json
    jq -e '.cells[0].summary.latency_p50_ns.median <= .cells[0].summary.latency_max_ns.median' \
        timed/result.json
    "$FRAGBENCH" run -a ptmalloc2 --layouts 1 --no-timing -o plain tiny.yaml
    jq -e '.cells[0].summary.ns_per_op.median == null' plain/result.json
}

@test "stdout carries the exported document only; the table goes to stderr" {
    run --separate-stderr "$FRAGBENCH" run -a ptmalloc2 --layouts 1 --no-timing --export json=- \
        tiny.yaml
    assert_status 0
    assert_equal "$(jq -r '.cells[0].id' <<<"$output")" tiny/ptmalloc2
    assert_contains "$stderr" "ptmalloc2"
}

@test "exports are written beside the result, in every format" {
    run --separate-stderr "$FRAGBENCH" run -a ptmalloc2 --layouts 1 --no-timing -o out \
        --export csv=a.csv --export markdown=a.md --export json=a.json --export text=a.txt tiny.yaml
    assert_status 0
    assert_contains "$(head -1 a.csv)" "ratio_peak"
    assert_contains "$(cat a.md)" "|"
    assert_contains "$(cat a.txt)" "ptmalloc2"
    assert_equal "$(jq -S . a.json)" "$(jq -S . out/result.json)"
}

@test "no terminal: no escape codes, no carriage returns" {
    run --separate-stderr "$FRAGBENCH" run -a ptmalloc2 --layouts 1 --no-timing tiny.yaml
    for text in "$output" "$stderr"; do
        refute_contains "$text" $'\033'
        refute_contains "$text" $'\r'
    done
}

@test "--color always colours; NO_COLOR stops auto only" {
    run "$FRAGBENCH" run -a ptmalloc2 --layouts 1 --no-timing --color always tiny.yaml
    assert_contains "$output" $'\033['
    # On a terminal (script gives one) NO_COLOR leaves no colour; the wiped progress line is \033[K.
    run env NO_COLOR=1 TERM=xterm script -qec \
        "'$FRAGBENCH' run -a ptmalloc2 --layouts 1 --no-timing --progress never tiny.yaml" /dev/null
    assert_status 0
    refute_contains "$output" $'\033'
    run env TERM=xterm script -qec \
        "'$FRAGBENCH' run -a ptmalloc2 --layouts 1 --no-timing --progress never tiny.yaml" /dev/null
    assert_contains "$output" $'\033['
}

@test "progress is drawn on a terminal and wiped at the end; never means never" {
    write_slow
    run env NO_COLOR=1 TERM=xterm script -qec \
        "'$FRAGBENCH' run -a ptmalloc2 --layouts 1 --no-timing --scale 0.3 slow.yaml" /dev/null
    assert_status 0
    assert_contains "$output" "[ 1/1] ptmalloc2 layout 0"
    assert_contains "$output" $'\r\033[K'
    run --separate-stderr "$FRAGBENCH" run -a ptmalloc2 --layouts 1 --no-timing --progress never \
        --scale 0.3 slow.yaml
    refute_contains "$stderr" "[ 1/1]"
}

@test "the same run twice gives the same exact metrics" {
    "$FRAGBENCH" run --layouts 2 --no-timing -o first tiny.yaml
    "$FRAGBENCH" run --layouts 2 --no-timing -o second tiny.yaml
    assert_equal "$(exact_metrics first/result.json)" "$(exact_metrics second/result.json)"
    for file in first/series/*; do
        cmp "$file" "second/series/${file##*/}"
    done
}

@test "the real clock takes the pauses, one run at a time" {
    sed 's/every: 100ms/every: 20ms/' tiny.yaml >paced.yaml
    run --separate-stderr "$FRAGBENCH" run -a ptmalloc2 --clock real --layouts 1 --no-timing -o real \
        paced.yaml
    assert_status 0
    assert_equal "$(jq -r '.cells[0].clock' real/result.json)" real
    jq -e '.cells[0].repetitions[0].wall_s > 0.18' real/result.json
}

@test "an allocator with a thread of its own needs the real clock: exit 2" {
    run --separate-stderr "$FRAGBENCH" run -a jemalloc:background_thread=true tiny.yaml
    assert_status 2
    assert_contains "$stderr" "--clock real"
    [[ ! -e results ]]
}

@test "--verify stamps blocks and a sound allocator passes" {
    run --separate-stderr "$FRAGBENCH" run -a ptmalloc2 --verify --layouts 1 --no-timing tiny.yaml
    assert_status 0
}

@test "the progress line keeps within a narrow terminal" {
    write_slow
    run env TERM=xterm script -qec "stty cols 40; '$FRAGBENCH' run -a ptmalloc2 --layouts 1 \
        --no-timing --scale 0.2 slow.yaml >table.txt" /dev/null
    assert_status 0
    assert_contains "$output" "[ 1/1] ptmalloc2"
    local line
    while IFS= read -r line; do
        line=${line//$'\033[K'/}
        [[ $line != "[ 1/1]"* || ${#line} -lt 40 ]] || fail "${#line} columns: $line"
    done < <(tr '\r' '\n' <<<"$output")
}
