#!/usr/bin/env bats
# Real programs that are more than one process, or a service that is ended; tests/real has the others.
bats_require_minimum_version 1.5.0
load common

need() { # PROGRAM
    command -v "$1" >/dev/null || skip "$1 is not installed"
}

# Records, checks and replays it; its live peak must be at least so many bytes.
assert_replays() { # FILE LEAST
    "$FRAGBENCH" run "$1" -a ptmalloc2 --layouts 1 --no-timing --progress never -o replay >/dev/null 2>&1
    assert_equal "$(jq -r '.cells[0].status' replay/result.json)" ok
    local peak
    peak=$(jq '.cells[0].repetitions[0].metrics.peak_live_bytes' replay/result.json)
    [[ $peak -ge $2 ]] || fail "live peak $peak, expected at least $2"
}

@test "git and the processes that it starts" {
    need git
    git init -q repository
    cd repository
    git -c user.name=a -c user.email=a@b commit -q --allow-empty -m first
    "$FRAGBENCH" record --all -o ../git.fbt -- git gc --quiet >../out
    cd ..
    [[ $(grep -c ' git ' out) -ge 2 ]] || fail "$(cat out)"
    assert_replays git.fbt 10000
}

@test "redis-server under load, ended by a signal" {
    need redis-server
    need redis-benchmark
    local port=$((20000 + RANDOM % 20000))
    "$FRAGBENCH" record -o redis.fbt -a jemalloc -- \
        redis-server --port $port --save '' --io-threads 2 >out 2>err &
    local recorder=$!
    for _ in $(seq 100); do
        redis-cli -p $port ping >/dev/null 2>&1 && break
        sleep 0.1
    done
    redis-benchmark -p $port -q -n 2000 -r 2000 -t set -d 1000 >/dev/null
    kill -TERM $recorder
    wait $recorder
    assert_contains "$(tail -n 1 out)" libjemalloc
    assert_replays redis.fbt 1000000
}
