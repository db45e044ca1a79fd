#!/usr/bin/env bash
# git packs a repository of 1500 commits anew, on two threads. The repository is made by git fast-import from a
# fixed history, so everybody packs the same.
# shellcheck source-path=SCRIPTDIR source=common.bash
. "$(dirname "$0")/common.bash"

check() {
    need git git
}

# A history of COUNT commits, each of which changes 3 of 400 files.
history_of() { # COUNT
    # Random numbers of its own: each awk has another rand().
    awk -v count="$1" '
    function random(below) {
        state = (state * 16807) % 2147483647
        return int(state / 2147483647 * below)
    }
    BEGIN {
        state = 1
        for (i = 1; i <= count; i++) {
            stamp = 1600000000 + i * 600
            printf "commit refs/heads/main\nmark :%d\ncommitter a <a@b> %d +0000\ndata 9\nchange %02d\n", i, stamp, i % 100
            if (i > 1) printf "from :%d\n", i - 1
            for (k = 0; k < 3; k++) {
                text = ""
                lines = 40 + random(300)
                for (l = 0; l < lines; l++) text = text sprintf("line %d of %d: %d\n", l, i, l % 7 ? l * 7919 : random(1000000000))
                printf "M 100644 inline d%d/f%d\ndata %d\n%s\n", random(20), random(20), length(text), text
            }
            print ""
        } }'
}

prepare() {
    rm -rf "$1/repository"
    git init -q --bare -b main "$1/repository"
    history_of "$(times 1500)" | git -C "$1/repository" fast-import --quiet
}

run() {
    exec git -C "$1/repository" -c pack.threads=2 -c core.deltaBaseCacheLimit=64m \
        pack-objects --revs --all --stdout --no-reuse-delta --no-reuse-object --window=20 -q </dev/null >/dev/null
}

main "$@"
