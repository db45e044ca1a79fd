#!/usr/bin/env bats
# A run repeats to the page: whatever runs beside it, in whatever folder, with whatever environment.
# shellcheck disable=SC2154 # bats and the loaded files set them

bats_require_minimum_version 1.5.0
load common

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
}

# Every metric that the result itself calls exact, one line a cell.
exact_values() { # RESULT.json
    jq -cS '[.units | to_entries[] | select(.value.assume == "exact") | .key] as $exact
        | .cells[] | [.id, .status,
            [.repetitions[].metrics | with_entries(select(.key | IN($exact[])))]]' "$1"
}

same_runs() { # FOLDER FOLDER
    local -a left right
    exact_values "$1/result.json" >left.txt
    exact_values "$2/result.json" >right.txt
    [[ $(grep -c '"ok"' left.txt) -gt 0 ]] || fail "no cell is ok in $1"
    diff left.txt right.txt >&2 || fail "metrics differ between $1 and $2"
    left=("$1"/series/*.csv)
    right=("$2"/series/*.csv)
    [[ ${#left[@]} -gt 0 && ${#left[@]} -eq ${#right[@]} ]] || fail "series are missing"
    diff -r "$1/series" "$2/series" >&2 || fail "series differ between $1 and $2"
}

twice_the_same() { # NAME
    measure_small "$1" -a "$contenders" -j 1 >result.json
    skip_unless_done result.json
    mv "$1" first
    BULK=$(printf 'x%.0s' {1..5000}) MALLOC_ARENA_MAX=1 MALLOC_CONF=dirty_decay_ms:0 \
        measure_small "$1" -a "$contenders" -j 2 >result.json
    same_runs first "$1"
}

@test "kv-cache-growth: one at a time, two at a time, another environment" {
    twice_the_same kv-cache-growth
}

@test "size-shift: one at a time, two at a time, another environment" {
    twice_the_same size-shift
}

@test "an allocator's random numbers are the layout's: mimalloc's segments" {
    # mimalloc's map of segments has a page more if the segments lie on both sides of a TiB. With
    # addresses drawn by chance, 250 GiB would do so in every fourth run.
    [[ $(cat /proc/sys/vm/overcommit_memory) != 2 ]] || skip "overcommit is off"
    cat >wide.yaml <<'YAML'
fragbench: 1
name: wide
objects:
  wide: {size: 512MiB, lifetime: run, touch: none}
phases:
  - {name: load, allocate: {wide: 500}}
YAML
    WORKLOADS=$PWD measure wide -a mimalloc -r 24 >result.json
    skip_unless_done result.json
    [[ $(jq '[.cells[].repetitions[].metrics.peak_footprint_bytes] | unique | length' \
        result.json) -eq 1 ]] || fail "$(jq -c '.cells[].summary.peak_footprint_bytes' result.json)"
}

@test "verify: no allocator hands out a block twice" {
    local -a scale=(-L steps=12 -L life=6 -L by=4KiB -L to=24KiB -L kept_to=16KiB)
    measure kv-cache-growth "${scale[@]}" --verify \
        -a "$contenders,scudo,tbbmalloc" >result.json
    skip_unless_done result.json
    [[ $(jq '.cells | length' result.json) -eq 6 ]] || fail "expected 6 cells"
}
