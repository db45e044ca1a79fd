#!/usr/bin/env bats
# `list` and `doctor`.

bats_require_minimum_version 1.5.0
load common

@test "list without a topic or with an unknown one: exit 2" {
    run --separate-stderr "$FRAGBENCH" list
    assert_status 2
    run --separate-stderr "$FRAGBENCH" list metric
    assert_status 2
    assert_contains "$stderr" 'did you mean "metrics"?'
}

@test "list allocators: a row each, with version and library" {
    run --separate-stderr "$FRAGBENCH" list allocators
    assert_status 0
    for name in ptmalloc2 jemalloc tcmalloc mimalloc scudo tbbmalloc null; do
        [[ $output =~ (^|$'\n')$name\ +(yes|no)\  ]] || fail "no row of $name" "$output"
    done
}

@test "list allocators NAME: its tunables" {
    run --separate-stderr "$FRAGBENCH" list allocators jemalloc
    assert_status 0
    assert_contains "$output" "dirty_decay_ms"
    assert_contains "$output" "needs --clock real"
    run --separate-stderr "$FRAGBENCH" list allocators jemaloc
    assert_status 2
    assert_contains "$stderr" 'did you mean "jemalloc"?'
}

@test "list metrics: every metric with its unit" {
    run --separate-stderr "$FRAGBENCH" list metrics
    assert_status 0
    [[ $output =~ ratio_peak\ +ratio\ +lower ]] || fail "$output"
    [[ $output =~ kept_bytes\ +bytes\ +lower ]] || fail "$output"
    run --separate-stderr "$FRAGBENCH" list metrics ratio_peak
    assert_status 0
    assert_contains "$output" "Johnstone"
    run --separate-stderr "$FRAGBENCH" list metrics ratio_peek
    assert_status 2
    assert_contains "$stderr" 'did you mean "ratio_peak"?'
}

@test "list keys: every key that the tests' workload uses" {
    run --separate-stderr "$FRAGBENCH" list keys
    assert_status 0
    for key in fragbench name description seed params objects phases size lifetime iterations every \
        allocate; do
        [[ $output =~ (^|$'\n')[a-z.]+\ +$key(\ |$'\n') ]] || fail "no row of $key" "$output"
    done
    run --separate-stderr "$FRAGBENCH" list keys iterations
    assert_status 0
    assert_contains "$output" "phase.iterations"
    run --separate-stderr "$FRAGBENCH" list keys phase.every
    assert_status 0
    assert_contains "$output" "phase.every"
    run --separate-stderr "$FRAGBENCH" list keys iteratons
    assert_status 2
    assert_contains "$stderr" 'did you mean "iterations"?'
}

@test "list keys --markdown: every key has a row of five cells, examples included" {
    run --separate-stderr "$FRAGBENCH" list keys --markdown
    assert_status 0
    rows=$(grep -c '^| `' <<<"$output")
    pipes=$(grep '^|' <<<"$output" | sed -E 's/\\[|]//g; s/[^|]//g' | sort -u)
    [[ $pipes == "||||||" ]] || fail "rows with other than five cells" "$output"
    run --separate-stderr bash -c '"$FRAGBENCH" list keys | tail -n +2 | wc -l'
    [[ $rows -eq $output ]] || fail "$rows rows for $output keys"
}

@test "list --markdown of anything else: exit 2, says of what it is" {
    run --separate-stderr "$FRAGBENCH" list metrics --markdown
    assert_status 2
    assert_contains "$stderr" "list keys --markdown"
}

@test "every example of list keys stands in a legal line" {
    run --separate-stderr "$FRAGBENCH" list keys size
    assert_contains "$output" "example"
}

@test "list workloads: the local folder, first sentence only" {
    mkdir workloads
    cp tiny.yaml workloads/
    run --separate-stderr "$FRAGBENCH" list workloads
    assert_status 0
    [[ $output =~ tiny\ +Small\ blocks\ over\ one\ that\ stays\. ]] || fail "$output"
    refute_contains "$output" "Made for tests"
    run --separate-stderr "$FRAGBENCH" list workloads tiny
    assert_status 0
    assert_contains "$output" "count=100"
}

@test "doctor: findings on stdout, and it ends" {
    run --separate-stderr timeout 60 "$FRAGBENCH" doctor
    [[ $status -eq 0 || $status -eq 3 ]] || fail "status $status" "$output"
    assert_contains "$output" "statm"
    if [[ $status -eq 0 ]]; then refute_contains "$output" "PROBLEM"; fi
}
