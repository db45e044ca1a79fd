#!/usr/bin/env bash
# redis-server: values of several sizes come, are overwritten and deleted, then it is shut down. The load comes
# from a process of its own that no allocator is preloaded into and that is no child of the server.
# shellcheck source-path=SCRIPTDIR source=common.bash
. "$(dirname "$0")/common.bash"

check() {
    need redis-server redis-server && need redis-benchmark redis-tools
}

# What redis's own fragmentation is about: many values, larger ones in their places, then half are gone.
load() { # SOCKET COUNT
    local try
    for ((try = 0; try < 200; try++)); do
        redis-cli -s "$1" ping >/dev/null 2>&1 && break
        sleep 0.05
    done
    redis-benchmark -s "$1" -q -n "$2" -r 100000 -d 200 -c 8 -P 16 -t set
    redis-benchmark -s "$1" -q -n "$2" -r 100000 -d 700 -c 8 -P 16 -t set,lpush
    redis-benchmark -s "$1" -q -n "$2" -r 200000 -c 8 -P 16 del key:__rand_int__
    redis-benchmark -s "$1" -q -n "$2" -r 50000 -d 3000 -c 8 -P 16 -t set
    redis-cli -s "$1" shutdown nosave
}

run() {
    local socket count
    socket=$(realpath "$1")/redis.sock
    count=$(times 200000)
    rm -f "$socket"
    # Twice apart: what forks here is gone before the server starts, so the load is nobody's child.
    (env -u LD_PRELOAD setsid bash -c "$(declare -f load); load '$socket' $count" >"$1/load.log" 2>&1 &)
    exec redis-server --port 0 --unixsocket "$socket" --save "" --appendonly no --activedefrag no \
        --loglevel warning
}

main "$@"
