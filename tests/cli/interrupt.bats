#!/usr/bin/env bats
# Ctrl-C: what was measured is kept, and neither a process nor a temporary file is left.

bats_require_minimum_version 1.5.0
load common

# Starts a slow run in the background and waits until its first worker is there. A background job of a
# script has SIGINT ignored, which env undoes.
start_slow() {
    write_slow
    env --default-signal=INT "$FRAGBENCH" run -a ptmalloc2 -j 1 --layouts 20 --no-timing \
        -o out slow.yaml >stdout.txt 2>stderr.txt &
    run_pid=$!
    for ((i = 0; i < 600; i++)); do
        worker_pid=$(pgrep -P "$run_pid" -f fragbench-worker) && return 0
        sleep 0.05
    done
    fail "no worker was started" "$(cat stderr.txt)"
}

wait_for_run() {
    run_status=0
    wait "$run_pid" || run_status=$?
}

assert_clean() {
    for ((i = 0; i < 40; i++)); do
        kill -0 "$worker_pid" 2>/dev/null || break
        sleep 0.05
    done
    ! kill -0 "$worker_pid" 2>/dev/null || fail "worker $worker_pid is left"
    jq -e '.interrupted == true and .finished != null' out/result.json
    assert_equal "$(jq -r '.cells[0].status' out/result.json)" interrupted
    assert_equal "$(find out -type f ! -name result.json ! -path 'out/series/*.csv' ! -path 'out/workloads/*.yaml')" ""
    assert_equal "$(find . -name '.*' -type f)" ""
}

@test "SIGINT: exit 130, results kept, nothing left" {
    start_slow
    kill -INT "$run_pid"
    wait_for_run
    assert_equal "$run_status" 130
    assert_clean
    assert_contains "$(cat stdout.txt)" "interrupted"
}

@test "SIGTERM: exit 143" {
    start_slow
    kill -TERM "$run_pid"
    wait_for_run
    assert_equal "$run_status" 143
    assert_clean
}

@test "a second SIGINT changes nothing" {
    start_slow
    kill -INT "$run_pid"
    kill -INT "$run_pid" 2>/dev/null || true
    sleep 0.01
    kill -INT "$run_pid" 2>/dev/null || true
    wait_for_run
    assert_equal "$run_status" 130
    assert_clean
}

@test "a killed harness takes its worker along" {
    start_slow
    kill -KILL "$run_pid"
    wait_for_run
    for ((i = 0; i < 100; i++)); do
        kill -0 "$worker_pid" 2>/dev/null || return 0
        sleep 0.05
    done
    fail "worker $worker_pid is left"
}

@test "the runs before the signal are complete in the result" {
    write_slow
    env --default-signal=INT "$FRAGBENCH" run -a ptmalloc2 -j 1 --layouts 20 --no-timing \
        --scale 0.2 -o out slow.yaml >stdout.txt 2>stderr.txt &
    run_pid=$!
    for ((i = 0; i < 1500; i++)); do
        done_runs=$(jq '.cells[0].repetitions | length' out/result.json 2>/dev/null || echo 0)
        [[ ${done_runs:-0} -ge 2 ]] && break
        sleep 0.02
    done
    kill -INT "$run_pid"
    wait_for_run
    assert_equal "$run_status" 130
    jq -e '[.cells[0].repetitions[] | select(.status == "ok")] | length >= 2' out/result.json
    for file in $(jq -r '.cells[0].repetitions[] | select(.status == "ok") | .series' \
        out/result.json); do
        [[ -s out/$file ]] || fail "$file is missing"
    done
}
