#!/usr/bin/env bats
# Which cells there are: contenders, parameters, seeds, repeats.

bats_require_minimum_version 1.5.0
load common

@test "--dry-run prints the cell ids and makes nothing" {
    run --separate-stderr "$FRAGBENCH" run --dry-run -a ptmalloc2,null -L count=10,20 tiny.yaml
    assert_status 0
    assert_equal "$output" "tiny/ptmalloc2/count=10
tiny/null/count=10
tiny/ptmalloc2/count=20
tiny/null/count=20"
    [[ ! -e results ]]
}

@test "brackets keep a parameter's commas together" {
    run --separate-stderr "$FRAGBENCH" run --dry-run -a ptmalloc2 -L 'count={uniform: [1, 5]},7' \
        tiny.yaml
    assert_status 0
    assert_equal "$output" "tiny/ptmalloc2/count={uniform: [1, 5]}
tiny/ptmalloc2/count=7"
}

@test "braces expand tunables" {
    run --separate-stderr "$FRAGBENCH" run --dry-run -a 'ptmalloc2:arena_max={1,2}' tiny.yaml
    assert_status 0
    assert_equal "${#lines[@]}" 2
    assert_contains "$output" "arena_max=1"
    assert_contains "$output" "arena_max=2"
}

@test "the default contenders are the usual four" {
    run --separate-stderr "$FRAGBENCH" run --dry-run tiny.yaml
    assert_status 0
    for name in ptmalloc2 jemalloc tcmalloc mimalloc; do
        assert_contains "$output" "tiny/$name"
    done
    refute_contains "$output" "null"
    refute_contains "$output" "scudo"
}

@test "seeds and repeats multiply the repetitions; seeds count up from the file's" {
    "$FRAGBENCH" run -a ptmalloc2 --layouts 2 --seeds 2 -r 2 --no-timing -o out tiny.yaml
    assert_equal "$(jq -c '[.cells[0].repetitions[].seed]' out/result.json)" '[7,7,7,7,8,8,8,8]'
    assert_equal "$(jq -c '[.cells[0].repetitions[].index]' out/result.json)" '[0,1,2,3,4,5,6,7]'
    assert_equal "$(jq -c '[.cells[0].repetitions[].layout]' out/result.json)" '[0,1,0,1,0,1,0,1]'
}

@test "several workloads and parameters in one result" {
    sed 's/name: tiny/name: second/' tiny.yaml >second.yaml
    run --separate-stderr "$FRAGBENCH" run -a ptmalloc2 --layouts 1 --no-timing -L count=10,20 \
        tiny.yaml second.yaml
    assert_status 0
    assert_equal "$(jq -c '[.cells[].id]' results/latest/result.json)" \
        '["tiny/ptmalloc2/count=10","tiny/ptmalloc2/count=20","second/ptmalloc2/count=10","second/ptmalloc2/count=20"]'
}

@test "--scale shortens the run" {
    "$FRAGBENCH" run -a ptmalloc2 --layouts 1 --no-timing --scale 0.5 -o out tiny.yaml
    # 1 + 5 × 100 allocations and 500 frees.
    assert_equal "$(jq '.cells[0].repetitions[0].ops' out/result.json)" 1001
}

@test "a bare name is found in ./workloads" {
    mkdir workloads
    mv tiny.yaml workloads/
    run --separate-stderr "$FRAGBENCH" run --dry-run -a ptmalloc2 tiny
    assert_status 0
    assert_equal "$output" tiny/ptmalloc2
}
