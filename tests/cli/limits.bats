#!/usr/bin/env bats
# limits: in workloads: what a run says and ends with.

bats_require_minimum_version 1.5.0
load common

limited() { # LIMITS: tiny.yaml with them
    { cat tiny.yaml && printf 'limits: %s\n' "$1"; } >limited.yaml
}

quick() {
    run --separate-stderr "$FRAGBENCH" run -o out -f --layouts 1 --no-timing -a ptmalloc2 "$@"
}

@test "limits that hold: exit 0, counted" {
    limited '{ratio_peak: 100, kept_bytes: 1GiB}'
    quick limited.yaml
    assert_status 0
    assert_contains "$output" "Limits: 2 kept, 0 over."
}

@test "over a limit: exit 1; the limit, the value, the moment and what to do are said" {
    limited '{ratio_peak: 1, kept_bytes: 1GiB}'
    quick limited.yaml
    assert_status 1
    assert_contains "$output" "Limits: 1 kept, 1 over."
    [[ $output =~ over-limit\ +tiny,\ ptmalloc2:\ ratio_peak\ [0-9.]+\ is\ over\ its\ limit\ of\ 1 ]] ||
        fail "$output"
    [[ $output =~ peak\ in\ phase\ (load|serve)\ at\ [0-9] ]] || fail "$output"
    assert_contains "$output" "next: fragbench run limited.yaml -a ptmalloc2"
}

@test "a limit on what an allocator keeps by itself counts before the one for all" {
    limited '{ratio_peak: 1, ptmalloc2: {ratio_peak: 100}}'
    quick limited.yaml
    assert_status 0
    limited '{ratio_peak: 100, glibc: {ratio_peak: 1}}'
    quick limited.yaml
    assert_status 1
}

@test "a label of this run can be limited" {
    limited '{"ptmalloc2:arena_max=1": {ratio_peak: 1}}'
    quick limited.yaml
    assert_status 0
    quick -a ptmalloc2:arena_max=1 limited.yaml
    assert_status 1
}

@test "an allocator that is not there: exit 2 with the place, before anything ran" {
    limited '{ptmaloc2: {ratio_peak: 1}}'
    quick limited.yaml
    assert_status 2
    assert_contains "$stderr" 'limited.yaml:12:10: limits names the unknown allocator "ptmaloc2"; did you mean "ptmalloc2"? [unknown-allocator]'
    assert_contains "$stderr" "  12 | limits: {ptmaloc2: {ratio_peak: 1}}"
    [[ ! -e out ]]
    run --separate-stderr "$FRAGBENCH" check limited.yaml
    assert_status 0
    assert_contains "$stderr" 'did you mean "ptmalloc2"?'
    assert_contains "$stderr" "unless -a names"
}

@test "an unknown metric: exit 2 with a suggestion, in check too" {
    limited '{ratio_paek: 1}'
    for command in run check; do
        run --separate-stderr "$FRAGBENCH" "$command" limited.yaml
        assert_status 2
        assert_contains "$stderr" 'unknown metric "ratio_paek" in limits; did you mean "ratio_peak"? [unknown-metric]'
    done
}

@test "what has no figure is not judged and says why" {
    limited '{drift: 1, ns_per_op: 1ns}'
    quick limited.yaml
    assert_status 0
    assert_contains "$output" "Limits: 0 kept, 0 over, 2 not judged."
    assert_contains "$output" "n/a, fewer than 40 iterations"
    assert_contains "$output" "n/a, timing pass off"
}

@test "a failed cell has no figure to hold against a limit: exit 5 comes before 1" {
    write_marked
    printf 'limits: {kept_bytes: 0}\n' >>marked.yaml
    quick -a "crash=$FAULTY/libfaulty_crash.so" marked.yaml
    assert_status 5
    assert_contains "$output" "1 failed"
    assert_contains "$output" "no figure to hold against its limits: crashed"
}

@test "limits stand in result.json and do not change the trace" {
    quick tiny.yaml
    local before after
    before=$(jq -r '.cells[0].workload.trace_sha256' out/result.json)
    assert_equal "$(jq -c '.cells[0].limits' out/result.json)" "[]"
    limited '{ratio_peak: 100, kept_bytes: 1.5MiB}'
    quick limited.yaml
    after=$(jq -r '.cells[0].workload.trace_sha256' out/result.json)
    assert_equal "$after" "$before"
    assert_equal "$(jq -c '.cells[0].limits' out/result.json)" \
        '[{"metric":"ratio_peak","max":100,"line":12},{"metric":"kept_bytes","max":1572864,"line":12}]'
}

@test "a parameter can be the limit" {
    limited '{ratio_peak: $most}'
    sed -i 's/params: {/params: {most: 1, /' limited.yaml
    quick limited.yaml
    assert_status 1
    quick -L most=100 limited.yaml
    assert_status 0
}

@test "compare holds the new results to their limits" {
    limited '{ratio_peak: 1.0001}'
    quick limited.yaml
    assert_status 1
    run --separate-stderr "$FRAGBENCH" compare out out
    assert_status 1
    assert_contains "$output" "over its limit of 1"
    assert_contains "$output" "gate: failed (1 over-limit)"
}

@test "limits of the command line hold beside the file's and count before them" {
    limited '{ratio_peak: 1, kept_bytes: 1GiB}'
    quick limited.yaml --limit ratio_peak=100 --limit ptmalloc2:peak_footprint_bytes=1MiB
    assert_status 1
    assert_contains "$output" "Limits: 2 kept, 1 over."
    [[ $output =~ over-limit\ +tiny,\ ptmalloc2:\ peak_footprint_bytes ]] || fail "$output"
    quick limited.yaml --limit ratio_peak=100
    assert_status 0
}

@test "a program of one's own is held to limits: exit 1, and what to look at" {
    run --separate-stderr "$FRAGBENCH" exec --progress never -o out -a ptmalloc2 \
        --limit peak_footprint_bytes=24MiB -- "$FAULTY/exec_subject" hold 32 200
    assert_status 1
    assert_contains "$output" "peak_footprint_bytes"
    assert_contains "$output" "is over its limit of 24 MiB"
    assert_contains "$output" "next: fragbench record -o program.fbt -- $FAULTY/exec_subject hold 32 200 && fragbench run program.fbt -a ptmalloc2 --explain"
    run --separate-stderr "$FRAGBENCH" exec --progress never -f -o out -a ptmalloc2 \
        --limit peak_footprint_bytes=48MiB -- "$FAULTY/exec_subject" hold 32 200
    assert_status 0
}

@test "a limit that names nothing is an error before anything runs" {
    quick tiny.yaml --limit ratio_paek=1
    assert_status 2
    assert_contains "$stderr" 'unknown metric "ratio_paek"; did you mean "ratio_peak"?'
    quick tiny.yaml --limit jemaloc:ratio_peak=1
    assert_status 2
    assert_contains "$stderr" '--limit names the unknown allocator "jemaloc"; did you mean "jemalloc"?'
    [[ ! -e out ]] || fail "something ran"
}
