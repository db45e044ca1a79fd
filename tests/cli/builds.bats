#!/usr/bin/env bats
# Two builds of a program gated like two allocators: by exec, and by recordings of both.

bats_require_minimum_version 1.5.0
load common

subject() { echo "$FAULTY/exec_subject"; }

# One build: holds so many MiB for a while, three times under exec and once recorded.
measure() { # FOLDER MIB
    "$FRAGBENCH" exec --progress never --name server -a ptmalloc2 -r 3 -o "$1" -- \
        "$(subject)" hold "$2" 300 >/dev/null 2>&1
}

replay() { # FOLDER MIB
    mkdir "$1"
    "$FRAGBENCH" record -o "$1/server.fbt" -- "$(subject)" hold "$2" 0 >/dev/null 2>&1
    "$FRAGBENCH" run --progress never --no-timing -a ptmalloc2 -o "$1/result" "$1/server.fbt" >/dev/null 2>&1
}

verdict() { # METRIC
    jq -r --arg m "$1" '.findings[] | select(.metric == $m) | .judgement' comparison.json
}

@test "exec: a build that holds 64 MiB instead of 48 fails the gate, the same build does not" {
    measure base 48
    measure new 64
    run --separate-stderr "$FRAGBENCH" compare base new --export json=comparison.json
    assert_status 1
    assert_equal "$(verdict peak_footprint_bytes)" regressed
    assert_contains "$output" "regressed: server, ptmalloc2: peak_footprint_bytes"
    assert_contains "$output" "fragbench record -o program.fbt -- $(subject) hold 64 300 && fragbench run program.fbt -a ptmalloc2 --explain"
    measure again 48
    run --separate-stderr "$FRAGBENCH" compare base again --export json=comparison.json
    assert_status 0
    assert_equal "$(verdict peak_footprint_bytes)" unchanged
}

@test "exec: a build that holds less is improved" {
    measure base 64
    measure new 48
    run --separate-stderr "$FRAGBENCH" compare base new --export json=comparison.json
    assert_status 0
    assert_equal "$(verdict peak_footprint_bytes)" improved
}

@test "recordings: the larger demand is a regression to the byte, though no ratio changes" {
    replay base 48
    replay new 64
    run --separate-stderr "$FRAGBENCH" compare base/result new/result --export json=comparison.json
    assert_status 1
    assert_equal "$(verdict peak_footprint_bytes)" regressed
    assert_equal "$(verdict ratio_peak)" unchanged
    assert_contains "$output" "; for 48 MiB → 64 MiB of data"
    # 16 MiB in blocks of 64 KiB, a header of 16 bytes each
    jq -e '[.findings[] | select(.metric == "peak_footprint_bytes")] | length == 1 and
           (.[0].delta - 16 * 1048576 | . >= 0 and . <= 65536)' comparison.json >/dev/null ||
        fail "$(jq -c '.findings[] | [.metric, .before.median, .after.median]' comparison.json)"
}

@test "one recording twice: its ratio says it all, the peak in bytes is not judged" {
    replay base 16
    run --separate-stderr "$FRAGBENCH" compare base/result base/result --export json=comparison.json
    assert_status 0
    assert_equal "$(verdict peak_footprint_bytes)" ""
    assert_equal "$(verdict ratio_peak)" unchanged
}
