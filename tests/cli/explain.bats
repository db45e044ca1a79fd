#!/usr/bin/env bats
# `run --explain`: parts that sum, what they say of known patterns, and commands that run.

bats_require_minimum_version 1.5.0
load common

# The parts of a checkpoint in MiB, rounded: KIND PHASE-or-"" ALLOCATOR PART RESULT
part() {
    jq -r --arg kind "$1" --arg phase "$2" --arg name "$3" --arg part "$4" '
        [.cells[] | select(.allocator.name == $name) | .repetitions[0].checkpoints[]
         | select(.kind == $kind and ($phase == "" or .phase == $phase))][-1]
        .parts[$part] / 1048576 | round' "$5"
}

# Every account in a result: no mismatch, and parts whose sum is what they account for.
assert_sums() { # RESULT.json LEAST-NUMBER
    jq -e --argjson least "$2" '[.cells[].repetitions[].checkpoints[] | select(.parts != null)]
        | length >= $least and all(.[]; .parts_mismatch_bytes == 0 and (.parts
            | .live + .rounding + .holes + .free + .startup + .base) == .parts_footprint_bytes
            and (.parts.cached == null or .parts.cached + .parts.stuck == .parts.free))' "$1" ||
        fail "parts that do not sum in $1:" "$(jq -c '.cells[].repetitions[].checkpoints[]
            | [.kind, .parts_mismatch_bytes, .parts]' "$1")"
}

@test "heap-top-pin under ptmalloc2: cached, but for the survivors' pages" {
    "$FRAGBENCH" run heap-top-pin -L pairs=2000 -a ptmalloc2 --layouts 1 --no-timing --explain \
        -o out >table.txt
    assert_sums out/result.json 3
    local cached holes
    cached=$(part phase_end build ptmalloc2 cached out/result.json)
    holes=$(part phase_end build ptmalloc2 holes out/result.json)
    # 125 MiB of blocks; 2,000 survivors hold a page each, 7.8 MiB.
    [[ $cached -ge 112 && $cached -le 122 ]] || fail "cached: $cached MiB"
    [[ $holes -ge 6 && $holes -le 9 ]] || fail "holes: $holes MiB"
    jq -e '.cells[0].repetitions[0].checkpoints[] | select(.kind == "phase_end" and
        .phase == "build") | .hostages[] | select(.class == "survivor")
        | .pages >= 2000 and .pages < 2200' out/result.json
    assert_contains "$(cat table.txt)" "Where it is at the end:"
    assert_contains "$(cat table.txt)" "are free pages that it keeps for later"
}

@test "the parts sum under every default allocator, on threads too" {
    "$FRAGBENCH" run thread-churn -L tasks=8 --layouts 1 --no-timing --explain=all -o threads
    assert_sums threads/result.json 9
    "$FRAGBENCH" run size-shift --scale 0.05 --layouts 1 --no-timing --explain -o shift
    assert_sums shift/result.json 9
    jq -e '[.cells[] | select(.status == "ok") | .repetitions[0].checkpoints[]
        | select(.parts.cached != null)] | length >= 6' shift/result.json
}

@test "the allocators of our own sum as well" {
    "$FRAGBENCH" run request-scope --scale 0.1 --layouts 1 --no-timing --explain \
        -a budgeted,request-arena -o out
    assert_sums out/result.json 4
}

@test "metrics and curves are the same with and without --explain" {
    "$FRAGBENCH" run tiny.yaml --layouts 2 --no-timing --explain=all -o with
    "$FRAGBENCH" run tiny.yaml --layouts 2 --no-timing --explain=none -o without
    assert_equal "$(exact_metrics with/result.json)" "$(exact_metrics without/result.json)"
    for file in with/series/*; do
        cmp "$file" "without/series/${file##*/}"
    done
    jq -e '[.cells[].repetitions[].checkpoints[].parts] | all(. == null)' without/result.json
}

# jemalloc's decay tells when an address moves: this workload's figures do, where the table of what is
# known of the objects lies among them.
@test "not even jemalloc sees that it is looked at" {
    local which
    for which in key none; do
        "$FRAGBENCH" run continuous-batching --scale 0.2 -a jemalloc,ptmalloc2 --layouts 1 --no-timing \
            --explain=$which -o $which
        jq -cS '[.cells[].repetitions[].checkpoints[] | {kind, phase, t_ns, mappings,
            footprint_bytes, live_bytes, usable_bytes, lazyfree_bytes, huge_bytes}]' \
            $which/result.json >$which.json
    done
    assert_equal "$(exact_metrics key/result.json)" "$(exact_metrics none/result.json)"
    cmp key.json none.json
}

@test "without the option the first layout has parts, and free pages are not split" {
    "$FRAGBENCH" run tiny.yaml -a ptmalloc2 --layouts 2 --no-timing -o out >table.txt
    assert_sums out/result.json 2
    jq -e '.cells[0].repetitions[1].checkpoints | all(.parts == null)' out/result.json
    jq -e '.cells[0].repetitions[0].checkpoints[] | select(.kind == "phase_end") |
        .parts.cached == null and .parts.free >= 0 and .counters == null and .heat == null' \
        out/result.json
    refute_contains "$(cat table.txt)" "Where"
    [[ ! -e out/heat ]]
}

@test "live data is called live: a bounded cache and a leak" {
    "$FRAGBENCH" run control-cache --scale 0.1 -a ptmalloc2 --layouts 1 --no-timing --explain \
        -o cache >cache.txt
    "$FRAGBENCH" run control-leak -a ptmalloc2 --layouts 1 --no-timing --explain -o leak >leak.txt
    for name in cache leak; do
        assert_sums "$name/result.json" 3
        assert_contains "$(cat $name.txt)" "are live data: no allocator and no setting"
        refute_contains "$(cat $name.txt)" "are free pages that it keeps"
        refute_contains "$(cat $name.txt)" "are holes"
    done
    assert_contains "$(cat leak.txt)" "first at leaked"
}

@test "survivors among the freed are called holes" {
    "$FRAGBENCH" run sparse-survivors -L objects=100000 -a ptmalloc2 --layouts 1 --no-timing \
        --explain -o out >table.txt
    assert_contains "$(cat table.txt)" "true fragmentation, which no purge can undo"
    refute_contains "$(cat table.txt)" "are free pages that it keeps"
}

@test "a workload that is too small to matter gets no sentence" {
    "$FRAGBENCH" run tiny.yaml -a ptmalloc2 --layouts 1 --no-timing --explain -o out >table.txt
    assert_contains "$(cat table.txt)" "Where it is at the end:"
    refute_contains "$(cat table.txt)" "fragbench run"
    refute_contains "$(cat table.txt)" "fragbench check"
}

@test "every suggested command runs, and a setting that is suggested helps" {
    "$FRAGBENCH" run heap-top-pin -L pairs=1000 --layouts 1 --no-timing --explain -o out >table.txt
    PATH=$(dirname "$FRAGBENCH"):$PATH
    local line count=0
    while IFS= read -r line; do
        count=$((count + 1))
        eval "$line --layouts 1 --no-timing -o next-$count" >"next-$count.txt"
        [[ $line == *" -a "* ]] || continue
        # The second contender is the first one with the setting: it caches less than half.
        jq -e '[.cells[].repetitions[0].checkpoints[] | select(.kind == "phase_end")
            | .parts.cached] | .[-1] * 2 < .[0]' "next-$count/result.json" || fail "$line"
    done < <(grep '^  fragbench run' table.txt)
    [[ $count -ge 1 ]]
    "$FRAGBENCH" run control-leak -a ptmalloc2 --layouts 1 --no-timing --explain -o leak >leak.txt
    line=$(grep '^  fragbench check' leak.txt)
    assert_contains "$(eval "$line")" "peak live"
}

@test "the heat map of an explained checkpoint names its pages" {
    "$FRAGBENCH" run tiny.yaml -a ptmalloc2 --layouts 1 --no-timing --explain -o out
    local map=out/heat/tiny_ptmalloc2.phase_end.1.csv
    assert_equal "$(head -1 $map)" "mapping,kind,offset_bytes,group_bytes,resident_pages,\
occupied_pages,free_pages,cached_pages,stuck_pages,startup_pages,base_pages,live_bytes,\
rounding_bytes"
    assert_equal "$(jq -r '.cells[0].repetitions[0].checkpoints[] | select(.phase == "serve" and
        .kind == "phase_end").heat' out/result.json)" heat/tiny_ptmalloc2.phase_end.1.csv
    # Pages and live bytes of the map are those of the account.
    assert_equal "$(awk -F, 'NR > 1 { pages += $5; live += $12 } END { print pages * 4096, live }' $map)" \
        "$(jq -r '.cells[0].repetitions[0].checkpoints[] | select(.phase == "serve" and
            .kind == "phase_end") | "\(.footprint_bytes) \(.parts.live)"' out/result.json)"
}

@test "-f clears an earlier run's maps" {
    "$FRAGBENCH" run tiny.yaml -a ptmalloc2 --layouts 1 --no-timing --explain -o out
    "$FRAGBENCH" run tiny.yaml -a ptmalloc2 --layouts 1 --no-timing -f -o out
    assert_equal "$(ls out/heat)" ""
}

@test "threads that run at once are not explained" {
    "$FRAGBENCH" run thread-churn -L tasks=10 -a ptmalloc2 --order free --layouts 1 --no-timing \
        --explain -o out
    jq -e '[.cells[].repetitions[].checkpoints[].parts] | all(. == null)' out/result.json
}

@test "an unknown word of --explain names the known ones: exit 2" {
    run --separate-stderr "$FRAGBENCH" run tiny.yaml --explain=some
    assert_status 2
    assert_contains "$stderr" "must be key, all, parts or none"
}
