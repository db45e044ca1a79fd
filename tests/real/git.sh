#!/usr/bin/env bash
# git packs a repository of 1500 commits anew, on two threads, and reads its whole log. The repository is made by
# git fast-import from a fixed history, so everybody packs the same.
# shellcheck source-path=SCRIPTDIR source=common.bash
. "$(dirname "$0")/common.bash"

check() {
    need git git
}

# A history of COUNT commits, each of which changes 3 of 400 files.
history_of() { # COUNT
    awk -v count="$1" 'BEGIN {
        srand(1)
        for (i = 1; i <= count; i++) {
            stamp = 1600000000 + i * 600
            printf "commit refs/heads/main\nmark :%d\ncommitter a <a@b> %d +0000\ndata 9\nchange %02d\n", i, stamp, i % 100
            if (i > 1) printf "from :%d\n", i - 1
            for (k = 0; k < 3; k++) {
                text = ""
                lines = 40 + int(rand() * 300)
                for (l = 0; l < lines; l++) text = text sprintf("line %d of %d: %d\n", l, i, l % 7 ? l * 7919 : rand() * 1e9)
                printf "M 100644 inline d%d/f%d\ndata %d\n%s\n", int(rand() * 20), int(rand() * 20), length(text), text
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
