#!/usr/bin/env bats
# One plan in shards, and their merge.

bats_require_minimum_version 1.5.0
load common

plan=(-a 'ptmalloc2,null' -a 'ptmalloc2:arena_max={1,2}' -L 'count=10,20' --layouts 2 --no-timing)

shard() { # I/N
    "$FRAGBENCH" run "${plan[@]}" --shard "$1" -o "shard-${1%/*}" tiny.yaml >/dev/null 2>&1
}

# All that says what was measured: no times, no folders; and not RSS with the pages of files, which hang on the
# page cache.
cells() { # RESULT.json
    jq -S '[.cells[] | del(.part, .timing) | .summary |= with_entries(select(
            .key | test("^(minor_faults|user_s|system_s)$") | not))
        | .repetitions |= map(del(.wall_s, .checkpoints[].snapshot_ns, .checkpoints[].rss_bytes) | .metrics |= del(.minor_faults, .user_s, .system_s))]' "$1"
}

merge() {
    run --separate-stderr "$FRAGBENCH" merge "$@"
}

@test "--dry-run shows the cells of a shard; together they are the plan" {
    run --separate-stderr "$FRAGBENCH" run "${plan[@]}" --dry-run --shard 2/3 tiny.yaml
    assert_status 0
    assert_equal "$output" "tiny/null/count=10
tiny/ptmalloc2/count=20
tiny/ptmalloc2:arena_max=2/count=20"
    "$FRAGBENCH" run "${plan[@]}" --dry-run tiny.yaml | sort >whole
    for i in 1 2 3; do
        "$FRAGBENCH" run "${plan[@]}" --dry-run --shard "$i/3" tiny.yaml 2>/dev/null
    done | sort >parts
    diff whole parts
}

@test "all shards merged are the whole run, series included" {
    "$FRAGBENCH" run "${plan[@]}" -o whole tiny.yaml
    for i in 1 2 3; do shard "$i/3"; done
    merge shard-3 shard-1/result.json shard-2 -o merged
    assert_status 0
    diff <(cells whole/result.json) <(cells merged/result.json)
    diff -r whole/series merged/series
    assert_equal "$(jq -c '[.parts[].shard]' merged/result.json)" "[1,2,3]"
    assert_equal "$(jq '.shard.plan' merged/result.json)" "$(jq '.shard.plan' whole/result.json)"
    assert_equal "$(jq -c '.argv' merged/result.json)" \
        '["fragbench","merge","shard-3","shard-1/result.json","shard-2","-o","merged"]'
    assert_contains "$output" "Merged from 3 of 3 shards, run on 1 machine."
    assert_contains "$output" "tiny (count=20)"
}

@test "the table of a merge is that of the whole run" {
    "$FRAGBENCH" run "${plan[@]}" -o whole tiny.yaml >whole.txt
    for i in 1 2; do shard "$i/2"; done
    "$FRAGBENCH" merge shard-1 shard-2 -o merged >merged.txt
    diff whole.txt <(sed '/^Merged from/d' merged.txt | sed '$d')
}

@test "a merge exports like a run" {
    for i in 1 2; do shard "$i/2"; done
    merge shard-1 shard-2 -o merged --export json=- --export csv=merged.csv
    assert_status 0
    assert_equal "$(jq '.cells | length' <<<"$output")" 8
    assert_equal "$(wc -l <merged.csv)" 9
    assert_contains "$stderr" "Merged from 2 of 2 shards"
}

@test "a missing shard is refused, or joined with --partial and exit 5" {
    for i in 1 3; do shard "$i/3"; done
    merge shard-1 shard-3 -o merged
    assert_status 2
    assert_contains "$stderr" "of 3 shards these are missing: 2"
    [[ ! -e merged ]]
    merge --partial shard-1 shard-3 -o merged
    assert_status 5
    assert_contains "$stderr" "shards missing: 2 of 3"
    assert_contains "$output" "Merged from 2 of 3 shards"
    assert_equal "$(jq -c '[.cells[].id]' merged/result.json)" "$(jq -c '[.cells[].id]' \
        <(jq -s '{cells: [.[0].cells[0], .[1].cells[0], .[0].cells[1], .[1].cells[1], .[0].cells[2]]}' \
            shard-1/result.json shard-3/result.json))"
}

@test "a shard twice, of another plan, or no shard at all is refused and nothing is made" {
    for i in 1 2; do shard "$i/2"; done
    merge shard-1 shard-2 shard-1 -o merged
    assert_status 2
    assert_contains "$stderr" "shard 1/2 is there twice: shard-1 and shard-1"
    "$FRAGBENCH" run "${plan[@]}" --layouts 1 --shard 2/2 -o other tiny.yaml >/dev/null
    merge shard-1 other -o merged
    assert_status 2
    assert_contains "$stderr" "no shards of one plan"
    assert_contains "$stderr" "shard-1: shard 1/2 of 8 cells"
    assert_contains "$stderr" "other: shard 2/2 of 8 cells"
    assert_contains "$stderr" "--layouts 1"
    merge shard-1 tiny.yaml -o merged
    assert_status 2
    merge nowhere -o merged
    assert_status 2
    assert_contains "$stderr" "nowhere"
    [[ ! -e merged ]]
}

@test "a changed workload file makes another plan" {
    shard 1/2
    sed -i 's/1KiB/2KiB/' tiny.yaml
    shard 2/2
    merge shard-1 shard-2 -o merged
    assert_status 2
    assert_contains "$stderr" "same workload files"
}

@test "differing libc, CPUs and allocator builds are refused, naming both" {
    for i in 1 2; do shard "$i/2"; done
    differ() { # JQ-EDIT TEXT
        rm -rf other
        cp -r shard-2 other
        jq "$1" shard-2/result.json >other/result.json
        merge shard-1 other -o merged
        assert_status 2
        assert_contains "$stderr" "$2"
        assert_contains "$stderr" "shard-1"
        assert_contains "$stderr" "other"
    }
    differ '.host.libc = "glibc 9.9"' "glibc 9.9 in other"
    differ '.host.ncpu = 777' "777 in other"
    differ '.fragbench.version = "77.0"' "77.0 in other"
    differ '.cells[-1].allocator.version = "9.9-1"' "version 9.9-1"
    differ '.cells[0].workload.trace_sha256 = "00"' "the trace of tiny differs"
    [[ ! -e merged ]]
}

@test "other machines are allowed, noted, kept; their times are not ranked" {
    plan=(-a ptmalloc2 -a 'ptmalloc2:arena_max=1' --layouts 1)
    for i in 1 2; do shard "$i/2"; done
    jq '.host.cpu = "Another CPU" | .host.boot = "another"' shard-2/result.json >edited
    mv edited shard-2/result.json
    merge shard-1 shard-2 -o merged
    assert_status 0
    assert_contains "$stderr" "Another CPU"
    assert_contains "$output" "run on 2 machines"
    assert_contains "$output" "they were taken on different machines"
    assert_contains "$output" "No Pareto front"
    assert_equal "$(jq -r '.parts[1].host.cpu' merged/result.json)" "Another CPU"
    assert_equal "$(jq -c '[.cells[].part]' merged/result.json)" "[0,1]"
}

@test "a lost series, or -o into a shard, is found before anything is touched" {
    for i in 1 2; do shard "$i/2"; done
    merge -f shard-1 shard-2 -o shard-2
    assert_status 2
    assert_contains "$stderr" "shard-2 is the folder of a shard"
    [[ -s shard-2/result.json ]]
    gone=$(jq -r '.cells[0].repetitions[0].series' shard-1/result.json)
    rm "shard-1/$gone"
    merge shard-1 shard-2 -o merged
    assert_status 3
    assert_contains "$stderr" "$gone"
    [[ ! -e merged ]]
}

@test "an existing folder is refused without -f" {
    for i in 1 2; do shard "$i/2"; done
    mkdir merged
    touch merged/notes.txt
    merge shard-1 shard-2 -o merged
    assert_status 2
    assert_contains "$stderr" "-f"
    merge -f shard-1 shard-2 -o merged
    assert_status 0
    [[ -e merged/notes.txt ]]
}

@test "a shard without cells is no failure, and merges" {
    plan=(-a ptmalloc2 --layouts 1 --no-timing)
    for i in 1 2 3; do
        run --separate-stderr "$FRAGBENCH" run "${plan[@]}" --shard "$i/3" -o "shard-$i" tiny.yaml
        assert_status 0
    done
    assert_contains "$stderr" "none of the 1 cells is in it"
    assert_equal "$(jq -c '[.cells, .shard.index, .finished != null]' shard-3/result.json)" \
        "[[],3,true]"
    merge shard-1 shard-2 shard-3 -o merged
    assert_status 0
    assert_equal "$(jq '.cells | length' merged/result.json)" 1
}

@test "nothing installed anywhere: the shards pass, the merge exits 4" {
    plan=(-a gone=/no/such/lib.so --layouts 1 --no-timing)
    for i in 1 2; do
        run --separate-stderr "$FRAGBENCH" run "${plan[@]}" --shard "$i/2" -o "shard-$i" tiny.yaml
        assert_status 0
    done
    merge shard-1 shard-2 -o merged
    assert_status 4
}

@test "a failed cell makes its shard and the merge exit 5" {
    write_marked
    plan=(-a "bad=$FAULTY/libfaulty_crash.so" -a ptmalloc2 --layouts 1 --no-timing)
    run "$FRAGBENCH" run "${plan[@]}" --shard 1/2 -o shard-1 marked.yaml
    assert_status 5
    run "$FRAGBENCH" run "${plan[@]}" --shard 2/2 -o shard-2 marked.yaml
    assert_status 0
    merge shard-1 shard-2 -o merged
    assert_status 5
}

@test "bad shards are refused with what to write" {
    for bad in 0/3 4/3 3 1/0 a/b -1/3 1/2/3; do
        run --separate-stderr "$FRAGBENCH" run --shard="$bad" tiny.yaml
        assert_status 2
        assert_contains "$stderr" "--shard \"$bad\""
    done
    [[ ! -e results ]]
}

@test "merge says what is missing on its command line" {
    merge
    assert_status 2
    assert_contains "$stderr" "no shard given"
    merge shard-1
    assert_status 2
    assert_contains "$stderr" "no -o"
}

@test "shards started in one second get folders of their own" {
    "$FRAGBENCH" run "${plan[@]}" --shard 1/2 tiny.yaml >/dev/null 2>&1
    "$FRAGBENCH" run "${plan[@]}" --shard 2/2 tiny.yaml >/dev/null 2>&1
    assert_equal "$(find results -name 'tiny-?-of-2-*' | wc -l)" 2
    merge results/tiny-?-of-2-* -o merged
    assert_status 0
}
