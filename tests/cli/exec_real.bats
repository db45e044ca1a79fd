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

need_mimalloc() {
    "$FRAGBENCH" list allocators | grep -q '^mimalloc .*not installed' && skip "no mimalloc"
    true
}

# A program that holds 32 MiB, taken by FUNCTION, for 0.4 s.
holder() { # FUNCTION FILE
    cat >"$2" <<EOF
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
void *$1(size_t);
int main(void)
{
    char *block = $1(32 << 20);
    memset(block, 1, 32 << 20);
    usleep(1000000);
    return block[12345] != 1;
}
EOF
}

assert_peak_above_32_mib() { # ALLOCATOR
    local peak
    peak=$(cell "$1" '.repetitions[0].metrics.peak_footprint_bytes')
    [[ $peak -gt 33554432 && $peak -lt 50331648 ]] || fail "$1: peak $peak"
}

build_go() { # CGO ARGUMENT...
    CGO_ENABLED=$1 GOCACHE=$PWD/cache GO111MODULE=off go build "${@:2}"
}

@test "a Go program: what it holds is measured, and that no allocator matters is said" {
    need go
    need_jemalloc
    cat >m.go <<'EOF'
package main

import "time"

func main() {
	block := make([]byte, 32<<20)
	for i := range block {
		block[i] = 1
	}
	time.Sleep(300 * time.Millisecond)
	println(block[12345])
}
EOF
    build_go 0 -o plain m.go || skip "go cannot build here"
    build_go 0 -ldflags '-s -w' -o stripped m.go
    local program
    for program in plain stripped; do
        watch -a ptmalloc2,jemalloc -- "./$program"
        assert_status 5
        assert_equal "$(cell jemalloc .status)" not-preloaded
        assert_contains "$(cell jemalloc .status_detail)" "Go program without C parts"
        assert_contains "$(cell jemalloc .status_detail)" GOMEMLIMIT
        assert_equal "$(cell ptmalloc2 .status)" ok
        assert_peak_above_32_mib ptmalloc2
        assert_contains "$output" "nothing to set, the program ran as it is"
    done
}

@test "a Go program with C parts: those are answered, the rest is said to be Go's" {
    need go gcc
    need_jemalloc
    cat >c.go <<'EOF'
package main

// #include <stdlib.h>
// #include <string.h>
// static void *take(size_t size) { return memset(malloc(size), 1, size); }
import "C"
import "time"

func main() {
	block := C.take(32 << 20)
	time.Sleep(300 * time.Millisecond)
	C.free(block)
}
EOF
    build_go 1 -o c c.go || skip "go cannot build with C here"
    watch --live -a ptmalloc2,jemalloc -- ./c
    assert_status 0
    assert_contains "$(cell jemalloc '.repetitions[0].programs[0].answered_by')" jemalloc
    assert_contains "$(cell jemalloc '.repetitions[0].notes[]')" "c has the Go runtime's allocator inside"
    [[ $(cell jemalloc '.repetitions[0].metrics.peak_live_bytes') -ge 33554432 ]]
}

# jemalloc under the names that Rust's crates give it, made from Debian's library.
prefixed_jemalloc() {
    local library name
    library=$(gcc -print-file-name=libjemalloc_pic.a)
    [[ -e $library ]] || skip "no libjemalloc_pic.a (libjemalloc-dev)"
    for name in malloc calloc realloc free posix_memalign aligned_alloc memalign valloc malloc_usable_size \
        mallocx rallocx xallocx sallocx dallocx sdallocx nallocx mallctl malloc_stats_print; do
        echo "$name _rjem_$name"
    done >names
    objcopy --redefine-syms=names "$library" librjem.a
}

assert_jemalloc_inside() { # PROGRAM
    local allocator
    watch -a ptmalloc2,mimalloc -- "./$1"
    assert_status 0
    assert_contains "$(cell ptmalloc2 '.repetitions[0].programs[0].answered_by')" libc.so
    assert_contains "$(cell mimalloc '.repetitions[0].programs[0].answered_by')" libmimalloc
    for allocator in ptmalloc2 mimalloc; do
        assert_contains "$(cell "$allocator" '.repetitions[0].notes[]')" "$1 has jemalloc inside"
        assert_peak_above_32_mib "$allocator"
    done
}

@test "jemalloc inside a C program under other names gets a note, stripped or not" {
    need gcc objcopy strip
    need_mimalloc
    prefixed_jemalloc
    holder _rjem_malloc inside.c
    gcc -O1 -fno-builtin -o inside inside.c librjem.a -pthread -ldl -lm
    assert_jemalloc_inside inside
    strip -o bare inside
    assert_jemalloc_inside bare
}

@test "a Rust program with jemalloc as its global allocator gets a note, stripped or not" {
    need rustc gcc objcopy strip
    need_mimalloc
    prefixed_jemalloc
    cat >crab.rs <<'EOF'
use std::alloc::{GlobalAlloc, Layout};
use std::os::raw::c_void;

extern "C" {
    fn _rjem_aligned_alloc(align: usize, size: usize) -> *mut c_void;
    fn _rjem_free(block: *mut c_void);
}

struct Jemalloc;

unsafe impl GlobalAlloc for Jemalloc {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        _rjem_aligned_alloc(layout.align(), layout.size()) as *mut u8
    }
    unsafe fn dealloc(&self, block: *mut u8, _: Layout) {
        _rjem_free(block as *mut c_void)
    }
}

#[global_allocator]
static GLOBAL: Jemalloc = Jemalloc;

fn main() {
    let blocks: Vec<Vec<u8>> = (0..32).map(|_| vec![1u8; 1 << 20]).collect();
    std::thread::sleep(std::time::Duration::from_millis(400));
    assert_eq!(blocks[31][12345], 1);
}
EOF
    rustc -O -L . -l static=rjem -o crab crab.rs || skip "rustc cannot build here"
    assert_jemalloc_inside crab
    strip -o bare crab
    assert_jemalloc_inside bare
}

@test "linked to jemalloc: each asked allocator answers, and how to use libc's is said" {
    need gcc
    need_mimalloc
    need_jemalloc
    local library libc bound
    holder malloc linked.c
    watch -a jemalloc -- sleep 0.2
    library=$(cell jemalloc .allocator.path)
    gcc -O1 -fno-builtin -o linked linked.c "$library"
    libc=$(ldd ./linked | awk '$1 ~ /^libc\.so/ { print $3 }')
    watch -a mimalloc -- ./linked
    assert_status 0
    assert_contains "$(cell mimalloc '.repetitions[0].programs[0].answered_by')" libmimalloc
    watch -a ptmalloc2 -- ./linked
    assert_status 0
    assert_equal "$(cell ptmalloc2 '.repetitions[0].programs[0].answered_by')" "$libc"
    assert_contains "$output" "LD_PRELOAD=$libc your-program"
    refute_contains "$output" "nothing to set"
    # What is said to be set is what works.
    bound=$(LD_PRELOAD=$libc LD_DEBUG=bindings ./linked 2>&1 | grep "file ./linked .* symbol .malloc'")
    assert_contains "$bound" " to $libc "
    # In a script's child only the run shows it; a way out is named, and is one.
    watch -a ptmalloc2 -- sh -c './linked; true'
    assert_status 5
    assert_contains "$(cell ptmalloc2 .status_detail)" "-a libc=$libc"
    watch -a libc="$libc" -- sh -c './linked; true'
    assert_status 0
}

as_nobody() { setpriv --reuid=nobody --regid=nogroup --clear-groups "$@"; }

# A set-user-id program of OWNER's in a folder that everybody can write to.
raised() { # OWNER
    [[ $(id -u) -eq 0 ]] || skip "not root: no program can be given to another user"
    need gcc setpriv
    need_jemalloc
    shared=$(mktemp -d "${TMPDIR:-/tmp}/fragbench-raised-XXXXXX")
    chmod 777 "$shared"
    cd "$shared" || return 1
    findmnt -no OPTIONS -T . | grep -q nosuid && skip "set-user-id means nothing on this file system"
    holder malloc raised.c
    gcc -O1 -fno-builtin -o raised raised.c
    chown "$1" raised
    chmod u+s raised
}

watch_as_nobody() {
    as_nobody "$FRAGBENCH" --version >/dev/null 2>&1 || skip "another user cannot run $FRAGBENCH"
    run --separate-stderr as_nobody timeout 60 "$FRAGBENCH" exec --progress never -f -o out "$@"
}

teardown() { [[ -z ${shared:-} ]] || rm -rf "$shared"; }

assert_raised_is_told() {
    local notes
    assert_status 5
    assert_equal "$(cell jemalloc .status)" not-preloaded
    assert_contains "$(cell jemalloc .status_detail)" "raised privileges"
    assert_equal "$(cell ptmalloc2 .status)" ok
    notes=$(cell ptmalloc2 '.repetitions[0].notes[]')
    assert_contains "$notes" "ran as it is"
    refute_contains "$notes" "not proven"
    assert_peak_above_32_mib ptmalloc2
}

# Before the run, and of a child.
assert_raised_is_told_by() { # WATCH
    "$1" -a ptmalloc2,jemalloc -- ./raised
    assert_raised_is_told
    "$1" -a ptmalloc2,jemalloc -- sh -c './raised; true'
    assert_raised_is_told
}

@test "root runs another user's set-user-id program: told before the run, and of a child" {
    raised nobody
    assert_raised_is_told_by watch
}

@test "a user runs root's set-user-id program, whose memory is closed to him: told all the same" {
    raised root
    assert_raised_is_told_by watch_as_nobody
    assert_equal "$(cell jemalloc '[.repetitions[0].programs[] | select(.name == "raised")] | length')" 1
}

@test "a user runs a program with file capabilities: told; of a child that nothing is proven" {
    raised root
    need setcap
    chmod u-s raised
    setcap cap_net_bind_service+ep raised || skip "no file capabilities on this file system"
    watch_as_nobody -a ptmalloc2,jemalloc -- ./raised
    assert_equal "$(cell jemalloc .status)" not-preloaded
    assert_contains "$(cell jemalloc .status_detail)" "raised privileges"
    watch_as_nobody -a jemalloc -- sh -c './raised; true'
    assert_contains "$(cell jemalloc '.repetitions[0].notes[]')" "raised may not be looked into"
}
