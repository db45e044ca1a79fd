#!/usr/bin/env bats
# What a cell can end in, and the exit code that follows. Every failure is a row; the others run.

bats_require_minimum_version 1.5.0
load common

cell_status() { # ID-PART
    jq -r --arg part "$1" '.cells[] | select(.id | contains($part)) | .status' out/result.json
}

cell_detail() {
    jq -r --arg part "$1" '.cells[] | select(.id | contains($part)) | .status_detail' out/result.json
}

@test "a library that is not there is a row; exit 0 when others ran" {
    run --separate-stderr "$FRAGBENCH" run -a ptmalloc2 -a gone=/no/such/lib.so --layouts 1 \
        --no-timing -o out tiny.yaml
    assert_status 0
    assert_equal "$(cell_status gone)" not-installed
    assert_equal "$(cell_status ptmalloc2)" ok
    assert_contains "$output" "gone"
}

@test "nothing that can run: exit 4, the row is there" {
    run --separate-stderr "$FRAGBENCH" run -a gone=/no/such/lib.so -o out tiny.yaml
    assert_status 4
    assert_equal "$(cell_status gone)" not-installed
}

@test "a crash: phase named, others run, exit 5" {
    write_marked
    run --separate-stderr "$FRAGBENCH" run -a bad="$FAULTY/libfaulty_crash.so" -a ptmalloc2 \
        --layouts 1 --no-timing -o out marked.yaml
    assert_status 5
    assert_equal "$(cell_status bad)" crashed
    assert_contains "$(cell_detail bad)" SIGSEGV
    assert_contains "$(cell_detail bad)" trip
    assert_equal "$(cell_status ptmalloc2)" ok
}

@test "a hang ends at --timeout: exit 5" {
    write_marked
    run --separate-stderr timeout 30 "$FRAGBENCH" run -a bad="$FAULTY/libfaulty_hang.so" \
        -a ptmalloc2 --layouts 1 --no-timing --timeout 1s -o out marked.yaml
    assert_status 5
    assert_equal "$(cell_status bad)" timeout
    assert_equal "$(cell_status ptmalloc2)" ok
}

@test "a worker that outgrows --memory-limit is stopped: exit 5" {
    write_marked
    run --separate-stderr timeout 60 "$FRAGBENCH" run -a bad="$FAULTY/libfaulty_hog.so" \
        -a ptmalloc2 --layouts 1 --no-timing --memory-limit 64MiB -o out marked.yaml
    assert_status 5
    assert_equal "$(cell_status bad)" over-memory-limit
    assert_equal "$(cell_status ptmalloc2)" ok
}

@test "a refusal counts as done: exit 0; with on_refusal fail: exit 5" {
    write_marked
    run --separate-stderr "$FRAGBENCH" run -a bad="$FAULTY/libfaulty_refuse.so" --layouts 1 \
        --no-timing -o out marked.yaml
    assert_status 0
    assert_equal "$(cell_status bad)" refused
    sed -i 's/name: trip,/name: trip, on_refusal: fail,/' marked.yaml
    run --separate-stderr "$FRAGBENCH" run -a bad="$FAULTY/libfaulty_refuse.so" --layouts 1 \
        --no-timing -f -o out marked.yaml
    assert_status 5
}

@test "an overwritten block is found by --verify: corrupted, exit 5" {
    cat >freed.yaml <<'EOF'
fragbench: 1
name: freed
objects:
  base: {size: 64KiB, lifetime: manual}
  mark: {size: 7777, lifetime: phase}
phases:
  - {name: load, allocate: {base: 8}}
  - {name: trip, allocate: {mark: 1}}
  - {name: drop, free: {base: all}}
EOF
    run --separate-stderr "$FRAGBENCH" run -a bad="$FAULTY/libfaulty_overrun.so" --verify --layouts 1 \
        --no-timing -o out freed.yaml
    assert_status 5
    assert_equal "$(cell_status bad)" corrupted
}

@test "a library that does not answer malloc: not-preloaded, exit 5" {
    run --separate-stderr "$FRAGBENCH" run -a bad="$FAULTY/libno_allocator.so" -a ptmalloc2 \
        --layouts 1 --no-timing -o out tiny.yaml
    assert_status 5
    assert_equal "$(cell_status bad)" not-preloaded
    assert_equal "$(cell_status ptmalloc2)" ok
}

@test "a tunable that does not exist: row bad-tunable, others run, exit 5" {
    run --separate-stderr "$FRAGBENCH" run -a ptmalloc2:arena_maxx=1 -a ptmalloc2 --layouts 1 \
        --no-timing -o out tiny.yaml
    assert_status 5
    assert_equal "$(cell_status arena_maxx)" bad-tunable
    assert_contains "$(cell_detail arena_maxx)" arena_max
    assert_equal "$(jq -r '.cells[1].status' out/result.json)" ok
}

@test "a tunable that takes effect is echoed as read back" {
    run --separate-stderr "$FRAGBENCH" run -a ptmalloc2:arena_max=1 --layouts 1 --no-timing -o out \
        tiny.yaml
    assert_status 0
    assert_contains "$(jq -c '.cells[0].allocator' out/result.json)" "arena_max"
    refute_contains "$(jq -c '.cells[0].allocator' out/result.json)" "unverified"
}

@test "no process is left behind after failures" {
    write_marked
    run --separate-stderr timeout 30 "$FRAGBENCH" run -a bad="$FAULTY/libfaulty_hang.so" --layouts 1 \
        --no-timing --timeout 1s -o out marked.yaml
    refute_contains "$(ps -eo args | grep -F "$BATS_TEST_TMPDIR" | grep -v grep || true)" worker
}

@test "a thread that crashes or hangs is a status, in both orders" {
    local order
    cat >threads.yaml <<'EOF'
fragbench: 1
name: threads
objects:
  small: {size: 64, lifetime: iteration}
  mark: {size: 7777, lifetime: iteration}
phases:
  - {name: load, threads: 3, iterations: 30, allocate: {small: 100}}
  - {name: trip, threads: 3, iterations: 3, allocate: {mark: 1}}
EOF
    for order in lockstep free; do
        run --separate-stderr timeout 60 "$FRAGBENCH" run -a crash="$FAULTY/libfaulty_crash.so" \
            -a hang="$FAULTY/libfaulty_hang.so" -a refuse="$FAULTY/libfaulty_refuse.so" -a ptmalloc2 \
            --order "$order" --layouts 1 --no-timing --timeout 1s -f -o out threads.yaml
        assert_status 5
        assert_equal "$(cell_status crash)" crashed
        assert_contains "$(cell_detail crash)" trip
        assert_equal "$(cell_status hang)" timeout
        assert_equal "$(cell_status refuse)" refused
        assert_equal "$(cell_status ptmalloc2)" ok
    done
}
