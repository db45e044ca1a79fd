#!/usr/bin/env bats
# Sweeps of tunables: the ranked table and the lines to paste.

bats_require_minimum_version 1.5.0
load common

@test "a sweep ends with a ranking; every setting is in it" {
    run --separate-stderr "$FRAGBENCH" run -a 'ptmalloc2:arena_max={1,2},mmap_threshold={65536,1048576}' \
        --layouts 1 --no-timing tiny.yaml
    assert_status 0
    ranking=${output#*rank }
    assert_contains "$output" "rank "
    for max in 1 2; do
        for threshold in 65536 1048576; do
            assert_contains "$ranking" "ptmalloc2:arena_max=$max,mmap_threshold=$threshold"
        done
    done
    assert_contains "$ranking" "No Pareto front: memory only, times were not measured."
    assert_contains "$ranking" "GLIBC_TUNABLES="
}

@test "the -a line of the ranking gives the same cell again" {
    "$FRAGBENCH" run -a 'ptmalloc2:arena_max={1,2}' --layouts 1 --no-timing -o first tiny.yaml >first.txt
    spec=$(sed -n 's/^  -a //p' first.txt)
    [[ -n $spec ]] || fail "no -a line" "$(cat first.txt)"
    eval "\"\$FRAGBENCH\" run -a $spec --layouts 1 --no-timing -o second tiny.yaml" >/dev/null
    id=$(jq -r '.cells[0].id' second/result.json)
    assert_equal "$(exact_metrics second/result.json)" \
        "$(exact_metrics <(jq --arg id "$id" '.cells |= map(select(.id == $id))' first/result.json))"
}

@test "the environment of the ranking is accepted by the allocator" {
    "$FRAGBENCH" run -a 'ptmalloc2:arena_max={1,2}' --layouts 1 --no-timing tiny.yaml >first.txt
    line=$(sed -n 's/^  \(GLIBC_TUNABLES=.*\) your-program$/\1/p' first.txt)
    [[ -n $line ]] || fail "no environment" "$(cat first.txt)"
    loader=/lib64/ld-linux-x86-64.so.2
    [[ -x $loader ]] || skip "no $loader to ask for its tunables"
    assert_contains "$(eval "$line $loader --list-tunables")" "glibc.malloc.arena_max: 0x"
    refute_contains "$(eval "$line $loader --list-tunables")" "glibc.malloc.arena_max: 0x0 "
}

@test "with times the Pareto front is marked" {
    run --separate-stderr "$FRAGBENCH" run -a 'ptmalloc2:arena_max={1,2}' --layouts 1 tiny.yaml
    assert_status 0
    [[ $output =~ "  *  ptmalloc2:arena_max=" ]] || fail "no front" "$output"
}

@test "a setting that is refused is listed apart" {
    run --separate-stderr "$FRAGBENCH" run -a 'ptmalloc2:arena_max={1,2}' -a ptmalloc2:arena_maxx=1 \
        --layouts 1 --no-timing tiny.yaml
    assert_status 5
    assert_contains "$output" "Not ranked: ptmalloc2:arena_maxx=1 (bad-tunable)."
}

@test "different allocators without settings are no sweep" {
    run --separate-stderr "$FRAGBENCH" run -a ptmalloc2,null --layouts 1 --no-timing tiny.yaml
    assert_status 0
    refute_contains "$output" "rank "
}

@test "layouts, seeds and repeats are told apart" {
    run --separate-stderr "$FRAGBENCH" run -a ptmalloc2 --layouts 2 --seeds 3 -r 2 --no-timing tiny.yaml
    assert_status 0
    assert_contains "$output" "2 layouts × 3 seeds × 2 repeats;"
    assert_contains "$output" "over layouts by up to"
    assert_contains "$output" "over seeds by up to"
    assert_contains "$output" "over repeats by up to 0.0 %"
}
