#!/usr/bin/env bats
# exec on real programs from Debian; each is skipped where it is not installed.

bats_require_minimum_version 1.5.0
load common

watch() {
    run --separate-stderr timeout 120 "$FRAGBENCH" exec --progress never -f -o out "$@"
}

cell() { # ALLOCATOR JQ
    jq -r --arg part "/$1" ".cells[] | select(.id | endswith(\$part)) | $2" out/result.json
}

need() {
    local program
    for program in "$@"; do
        [[ -x $(command -v "$program") ]] || skip "no $program here"
    done
}

need_jemalloc() {
    "$FRAGBENCH" list allocators | grep -q '^jemalloc .*not installed' && skip "no jemalloc"
    true
}

# A python that is one: no shell script that finds another.
python() { python3 -c 'import sys; print(sys.executable)'; }

@test "python3: a bytearray of 64 MiB shows, and pymalloc is named" {
    need python3
    need_jemalloc
    local code='import time; x = bytearray(64 << 20); time.sleep(0.4)'
    watch --live -a ptmalloc2,jemalloc -- "$(python)" -c "$code"
    assert_status 0
    for allocator in ptmalloc2 jemalloc; do
        local peak
        peak=$(cell "$allocator" '.repetitions[0].metrics.peak_footprint_bytes')
        [[ $peak -gt 67108864 && $peak -lt 83886080 ]] || fail "$peak"
        assert_contains "$(cell "$allocator" '.repetitions[0].notes[]')" PYTHONMALLOC
    done
    PYTHONMALLOC=malloc watch -a ptmalloc2 -- "$(python)" -c "$code"
    refute_contains "$(cell ptmalloc2 '.repetitions[0].notes[]')" PYTHONMALLOC
}

@test "redis-server, linked to jemalloc, runs on libc's malloc where that is asked" {
    need redis-server redis-benchmark
    ldd "$(command -v redis-server)" | grep -q jemalloc || skip "redis-server without jemalloc"
    watch -a ptmalloc2,jemalloc --ready-port 47621 \
        --driver 'redis-benchmark -p 47621 -q -n 2000 -t set -r 1000 -d 2000' \
        -- redis-server --port 47621 --save ''
    assert_status 0
    assert_contains "$(cell ptmalloc2 '.repetitions[0].programs[0].answered_by')" libc.so
    assert_contains "$(cell ptmalloc2 '.repetitions[0].notes[]')" "was preloaded"
    assert_contains "$(cell jemalloc '.repetitions[0].programs[0].answered_by')" jemalloc
}

@test "sqlite3 and git: their children too, each answered by what was asked" {
    need sqlite3 git
    need_jemalloc
    watch -a jemalloc -- sqlite3 :memory: \
        "with recursive n(i) as (select 1 union all select i + 1 from n where i < 400000)
         select count(*), sum(length(t)) from (select hex(randomblob(20)) || i as t from n order by t);"
    assert_status 0
    assert_contains "$(cell jemalloc '.repetitions[0].programs[0].answered_by')" jemalloc
    assert_contains "$(cat out/logs/*.log)" 400000
    watch -a jemalloc -- git -c alias.nap='!sleep 0.3' nap
    assert_status 0
    assert_equal "$(cell jemalloc '[.repetitions[0].programs[].answered_by | test("jemalloc")] | all')" \
        true
}

@test "a Go program, or Rust's jemalloc, is told from its symbols" {
    need go
    printf 'package main\nimport "time"\nfunc main() { time.Sleep(200 * time.Millisecond) }\n' >m.go
    GOFLAGS=-mod=mod CGO_ENABLED=0 go build -o m m.go || skip "go cannot build here"
    need_jemalloc
    watch -a jemalloc -- ./m
    assert_status 5
    assert_contains "$(cell jemalloc .status_detail)" "Go"
}
