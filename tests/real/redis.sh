#!/usr/bin/env bash
# redis-server: values of several sizes come, are overwritten and deleted. A service: serve is the server alone,
# load what loads it, run does both and ends.
# shellcheck source-path=SCRIPTDIR source=common.bash
. "$(dirname "$0")/common.bash"

check() {
    need redis-server redis-server && need redis-benchmark redis-tools
}

server() { # DIR
    exec redis-server --port 0 --unixsocket "$(realpath "$1")/redis.sock" --save "" --appendonly no \
        --activedefrag no --loglevel warning
}

# Many values, larger ones in their places, then half are gone, then larger ones again.
load() { # DIR
    local socket try count
    socket=$(realpath "$1")/redis.sock
    count=$(times 200000)
    [[ ${#socket} -lt 108 ]] || {
        echo "$socket is too long for a socket; take another folder" >&2
        return 1
    }
    for ((try = 0; try < 200; try++)); do
        redis-cli -s "$socket" ping >/dev/null 2>&1 && break
        sleep 0.05
    done
    redis-benchmark -s "$socket" -q -n "$count" -r 100000 -d 200 -c 8 -P 16 -t set
    redis-benchmark -s "$socket" -q -n "$count" -r 100000 -d 700 -c 8 -P 16 -t set,lpush
    redis-benchmark -s "$socket" -q -n "$count" -r 200000 -c 8 -P 16 del key:__rand_int__
    redis-benchmark -s "$socket" -q -n "$count" -r 50000 -d 3000 -c 8 -P 16 -t set
}

serve() { # DIR
    rm -f "$1/redis.sock"
    server "$1"
}

# The load in a process of its own that nothing is preloaded into, and which ends the server.
run() { # DIR
    rm -f "$1/redis.sock"
    # A load that fails ends the server by a signal, so that the run fails, too.
    # shellcheck disable=SC2016 # the inner shell's
    (env -u LD_PRELOAD setsid bash -c '"$1" load "$2" && redis-cli -s "$2/redis.sock" shutdown nosave || kill -9 "$3"' \
        load "$(realpath "$0")" "$(realpath "$1")" $$ >"$1/load.log" 2>&1 &)
    server "$1"
}

main "$@"
