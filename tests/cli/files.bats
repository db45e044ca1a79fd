#!/usr/bin/env bats
# Folders, overwriting, full disks.

bats_require_minimum_version 1.5.0
load common

quick() {
    run --separate-stderr "$FRAGBENCH" run -a ptmalloc2 --layouts 1 --no-timing "$@"
}

@test "an existing result folder is refused without -f, replaced with it" {
    quick -o out tiny.yaml
    assert_status 0
    echo mine >out/notes.txt
    quick -o out tiny.yaml
    assert_status 2
    assert_contains "$stderr" "-f"
    quick -f -o out tiny.yaml
    assert_status 0
    assert_equal "$(cat out/notes.txt)" mine
}

@test "two runs in one second get two folders" {
    quick tiny.yaml
    quick tiny.yaml
    assert_equal "$(find results -mindepth 1 -maxdepth 1 -type d | wc -l)" 2
}

@test "results/latest that is no link is left alone" {
    mkdir -p results/latest
    quick tiny.yaml
    assert_status 0
    assert_contains "$stderr" "not a symbolic link"
    [[ -d results/latest && ! -L results/latest ]]
}

@test "a folder that cannot be made: exit 3, named" {
    quick -o /proc/none/out tiny.yaml
    assert_status 3
    assert_contains "$stderr" "/proc/none"
}

@test "a file where the folder should be: exit 2, named" {
    touch file
    quick -o file/out tiny.yaml
    assert_status 2
    assert_contains "$stderr" "file is a file"
    quick -o file tiny.yaml
    assert_status 2
}

@test "an export that cannot be made fails before the first cell: exit 3, named" {
    quick -o out --export json=/no/such/folder/a.json tiny.yaml
    assert_status 3
    assert_contains "$stderr" "/no/such/folder/a.json"
    assert_equal "$(jq '.cells[0].repetitions | length' out/result.json)" 0
}

@test "a device is written through, not replaced: /dev/full gives exit 3" {
    quick -o out --export json=/dev/full tiny.yaml
    assert_status 3
    assert_contains "$stderr" "/dev/full"
    assert_contains "$stderr" "No space left"
    [[ -c /dev/full ]]
}

# A tmpfs of $1 at ./small.
mount_small() {
    [[ $(id -u) -eq 0 ]] || skip "needs root for a small tmpfs"
    mkdir small
    mount -t tmpfs -o size="$1" none small 2>/dev/null || skip "no permission to mount"
}

teardown() {
    if mountpoint -q small; then umount small; fi
}

@test "a full disk at the start: exit 3, the file named" {
    mount_small 1m
    head -c 1M /dev/zero >small/filler 2>/dev/null || true
    quick -o small/out tiny.yaml
    assert_status 3
    assert_contains "$stderr" "small/out"
    assert_contains "$stderr" "No space left"
}

@test "a disk that fills up under the results: exit 3, the file named, earlier runs intact" {
    mount_small 1m
    run --separate-stderr "$FRAGBENCH" run -a ptmalloc2 --layouts 64 --repeat 10 --no-timing \
        -o small/out tiny.yaml
    assert_status 3
    assert_contains "$stderr" "small/out/"
    assert_contains "$stderr" "No space left"
    jq -e '.cells[0].repetitions | length > 5' small/out/result.json
    jq -e 'all(.cells[0].repetitions[]; .status == "ok")' small/out/result.json
    assert_equal "$(find small -name '.*' -type f)" ""
    assert_equal "$(find small/out -type f ! -name result.json ! -name '*.csv' ! -name '*.yaml')" ""
}

@test "a trace that does not fit on the disk is refused with the numbers: exit 2" {
    mount_small 80m
    sed 's/iterations: 10/iterations: 100000/' tiny.yaml >long.yaml
    quick -o small/out long.yaml
    assert_status 2
    assert_contains "$stderr" "MiB"
}

@test "a file size limit gives a message, not a signal: exit 3" {
    # 64 blocks of 1 KiB: the folder can be made, the series cannot be written.
    run --separate-stderr bash -c \
        'ulimit -f 8; "$FRAGBENCH" run -a ptmalloc2 --layouts 1 --no-timing -o out tiny.yaml'
    assert_status 3
    assert_contains "$stderr" "File too large"
}
