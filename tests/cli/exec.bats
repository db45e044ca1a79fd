#!/usr/bin/env bats
# exec: a program of one's own, watched from outside. Numbers are the program's own.

bats_require_minimum_version 1.5.0
load common

MIB=1048576

subject() { echo "$FAULTY/exec_subject"; }

watch() { # OPTION… -- PROGRAM…
    run --separate-stderr timeout 60 "$FRAGBENCH" exec --progress never -f -o out "$@"
}

cell() { # ALLOCATOR JQ
    jq -r --arg part "/$1" ".cells[] | select(.id | endswith(\$part)) | $2" out/result.json
}

metric() { cell "$1" ".repetitions[0].metrics.$2"; }

near() { # VALUE EXPECTED TOLERANCE
    [[ $1 != null && $(($1 - $2)) -le $3 && $(($2 - $1)) -le $3 ]] || fail "got $1, expected $2 ± $3"
}

# The allocators that are installed here, as -a takes them.
installed() {
    "$FRAGBENCH" list allocators | awk '/^(ptmalloc2|jemalloc|tcmalloc|mimalloc) / && !/not installed/ {
        printf "%s%s", n++ ? "," : "", $1 }'
}

# The subjects that this test started: others run theirs at the same time, in other folders.
own_subjects() {
    local pid
    for pid in $(pgrep -f "$FAULTY/exec_subject"); do
        [[ $(readlink "/proc/$pid/cwd") != "$PWD"* ]] || echo "$pid"
    done
}

# Nobody of the tree is left.
assert_none_left() {
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        [[ -n $(own_subjects) ]] || return 0
        sleep 0.1
    done
    fail "left behind: $(own_subjects)"
}

@test "64 MiB held show as 64 MiB more under each allocator" {
    local allocators
    allocators=$(installed)
    watch -a "$allocators" -- "$(subject)" block 0 200
    assert_status 0
    cp out/result.json empty.json
    watch -a "$allocators" -- "$(subject)" block 64 300
    assert_status 0
    for allocator in ${allocators//,/ }; do
        local base
        base=$(jq ".cells[] | select(.id | endswith(\"/$allocator\")) |
            .repetitions[0].metrics.peak_footprint_bytes" empty.json)
        near "$(($(metric "$allocator" peak_footprint_bytes) - base))" $((64 * MIB)) $((4 * MIB))
        near "$(metric "$allocator" end_footprint_bytes)" \
            "$(metric "$allocator" peak_footprint_bytes)" $MIB
        assert_contains "$(cell "$allocator" '.repetitions[0].programs[0].answered_by')" \
            "$([[ $allocator == ptmalloc2 ]] && echo libc.so || echo "lib$allocator")"
    done
    [[ $(cell ptmalloc2 .clock) == real && $(cell ptmalloc2 .order) == free ]]
    assert_equal "$(metric ptmalloc2 ratio_peak)" null
    assert_contains "$(cell ptmalloc2 '.repetitions[0].na.ratio_peak')" --live
}

@test "--live counts 64 MiB as 64 MiB under each allocator" {
    local allocators
    allocators=$(installed)
    watch --live -a "$allocators" -- "$(subject)" hold 64 300
    assert_status 0
    for allocator in ${allocators//,/ }; do
        # Usable bytes: mimalloc's class for 64 KiB blocks is 64 KiB, ptmalloc2's adds 8 bytes,
        # jemalloc and tcmalloc have one of 64 KiB.
        near "$(metric "$allocator" peak_live_bytes)" $((64 * MIB)) $((MIB))
    done
}

@test "--live: what is freed is no longer live; the footprint may stay" {
    watch --live -a ptmalloc2 -- "$(subject)" halve 64
    assert_status 0
    near "$(metric ptmalloc2 peak_live_bytes)" $((64 * MIB)) $MIB
    near "$(metric ptmalloc2 end_live_bytes)" $((32 * MIB)) $MIB
    local most
    most=$(tail -n +2 out/series/*.csv | cut -d, -f3 | sort -n | tail -1)
    near "$most" $((64 * MIB)) $MIB
}

@test "--live follows threads that come and go, forks and exec'd children" {
    watch --live -a ptmalloc2 -- "$(subject)" threads 300
    assert_status 0
    near "$(metric ptmalloc2 end_live_bytes)" $((8 * MIB)) $((MIB))
    # 300 × 8 × 4 × 2 calls of the threads, 128 blocks, and what starting a thread takes
    [[ $(cell ptmalloc2 '.repetitions[0].ops') -ge 19328 ]]
    watch --live -a ptmalloc2 -- "$(subject)" spread 16 3 400
    assert_status 0
    near "$(metric ptmalloc2 peak_live_bytes)" $((48 * MIB)) $((MIB))
    watch --live -a ptmalloc2 -- "$(subject)" exec hold 32 400
    assert_status 0
    near "$(metric ptmalloc2 peak_live_bytes)" $((32 * MIB)) $((MIB))
}

@test "the tree is summed, pages that a fork shares count once" {
    watch -a ptmalloc2 -- "$(subject)" spread 16 4 400
    assert_status 0
    near "$(metric ptmalloc2 peak_footprint_bytes)" $((64 * MIB)) $((2 * MIB))
    watch -a ptmalloc2 -- "$(subject)" share 64 6 400
    assert_status 0
    near "$(metric ptmalloc2 peak_footprint_bytes)" $((64 * MIB)) $((4 * MIB))
}

@test "a daemon's way out of its session is followed, and it is ended" {
    watch -a ptmalloc2 --driver 'sleep 0.5' -- "$(subject)" daemon 32 20000
    assert_status 0
    near "$(metric ptmalloc2 end_footprint_bytes)" $((32 * MIB)) $MIB
    assert_none_left
    watch -a ptmalloc2 -- "$(subject)" daemon 32 20000
    assert_status 0
    assert_contains "$(cell ptmalloc2 '.repetitions[0].notes[]')" "outlived"
    assert_none_left
}

@test "a program that its driver ends: kept, said" {
    # shellcheck disable=SC2016 # the driver's shell expands it
    watch -a ptmalloc2 --driver 'sleep 0.3; kill "$FRAGBENCH_PID"; sleep 20' -- \
        "$(subject)" threads 100000000
    assert_status 5
    assert_contains "$(cell ptmalloc2 .status_detail)" SIGTERM
    watch -a ptmalloc2 --driver 'sleep 20' -- "$(subject)" block 16 300
    assert_status 0
    near "$(metric ptmalloc2 end_footprint_bytes)" $((16 * MIB)) $MIB
    assert_contains "$(cell ptmalloc2 '.repetitions[0].notes[]')" "before its driver"
}

@test "a crash is a row with its signal and last words; the others run" {
    watch -a ptmalloc2 -- "$(subject)" crash
    assert_status 5
    assert_equal "$(cell ptmalloc2 .status)" crashed
    assert_contains "$(cell ptmalloc2 .status_detail)" SIGSEGV
    assert_contains "$(cell ptmalloc2 .status_detail)" "last words"
    assert_equal "$(metric ptmalloc2 peak_footprint_bytes)" null
}

@test "an exit code other than 0 is kept" {
    watch -a ptmalloc2 -- "$(subject)" leave 7
    assert_status 5
    assert_contains "$(cell ptmalloc2 .status_detail)" "exit code 7"
    assert_contains "$(cat out/logs/*.log)" "leaving with 7"
}

@test "a service: ready by its port, loaded by a driver, asked to end" {
    watch -a ptmalloc2 --ready-port 47613 --driver 'echo driven' --settle 300ms -- \
        "$(subject)" serve 47613 16
    assert_status 0
    assert_equal "$(cell ptmalloc2 '[.repetitions[0].phases[].name] | join(" ")')" "start work idle"
    near "$(metric ptmalloc2 end_footprint_bytes)" $((16 * MIB)) $MIB
    [[ $(metric ptmalloc2 startup_bytes) -gt 0 ]]
    assert_equal "$(cat out/logs/*.driver.log)" driven
    assert_none_left
}

@test "a service: ready by a line of its output" {
    watch -a ptmalloc2 --ready-line '^serv(ing|ed)$' --driver true -- "$(subject)" serve 47614 16
    assert_status 0
    near "$(metric ptmalloc2 startup_bytes)" $((16 * MIB)) $MIB
}

@test "a port that somebody else holds is said, not waited for" {
    "$(subject)" serve 47615 0 3>&- &
    local other=$!
    sleep 0.4
    watch -a ptmalloc2 --ready-port 47615 --timeout 20s -- "$(subject)" hold 1 10000
    kill "$other"
    assert_status 5
    assert_contains "$(cell ptmalloc2 .status_detail)" "47615 is taken"
}

@test "one that ends before it is ready, one that never is" {
    watch -a ptmalloc2 --ready-port 47616 -- "$(subject)" leave 0
    assert_status 5
    assert_contains "$(cell ptmalloc2 .status_detail)" "before it was ready"
    watch -a ptmalloc2 --ready-port 47616 --timeout 500ms -- "$(subject)" hold 1 20000
    assert_status 5
    assert_equal "$(cell ptmalloc2 .status)" timeout
    assert_none_left
}

@test "a driver that fails fails the cell with its words" {
    watch -a ptmalloc2 --driver 'echo no server >&2; exit 4' -- "$(subject)" hold 1 20000
    assert_status 5
    assert_contains "$(cell ptmalloc2 .status_detail)" "the driver"
    assert_contains "$(cell ptmalloc2 .status_detail)" "exit code 4"
    assert_contains "$(cell ptmalloc2 .status_detail)" "no server"
    assert_none_left
}

@test "one that ignores SIGTERM is killed after the grace, and that is said" {
    watch -a ptmalloc2 --driver 'sleep 0.2' --grace 300ms -- "$(subject)" stubborn 20000
    assert_status 0
    assert_contains "$(cell ptmalloc2 '.repetitions[0].notes[]')" "SIGTERM"
    assert_none_left
}

@test "--memory-limit and --timeout end a run" {
    watch -a ptmalloc2 --memory-limit 32MiB -- "$(subject)" spread 16 4 20000
    assert_status 5
    assert_equal "$(cell ptmalloc2 .status)" over-memory-limit
    watch -a ptmalloc2 --timeout 300ms -- "$(subject)" hold 1 20000
    assert_status 5
    assert_equal "$(cell ptmalloc2 .status)" timeout
    assert_none_left
}

@test "a static program and one with a malloc of its own cannot be switched: said, with a reason" {
    command -v jemalloc-config >/dev/null || [[ $(installed) == *jemalloc* ]] || skip "no jemalloc"
    watch -a ptmalloc2,jemalloc -- "$FAULTY/exec_static" hold 4 200
    assert_status 5
    assert_equal "$(cell jemalloc .status)" not-preloaded
    assert_contains "$(cell jemalloc .status_detail)" "statically linked"
    assert_equal "$(cell ptmalloc2 .status)" ok
    watch -a jemalloc -- "$FAULTY/exec_own_malloc"
    assert_status 5
    assert_equal "$(cell jemalloc .status)" not-preloaded
    assert_contains "$(cell jemalloc .status_detail)" "of its own"
}

@test "a library that calls another malloc, and one inside under another name, get notes" {
    [[ $(installed) == *jemalloc* ]] || skip "no jemalloc"
    watch -a jemalloc --driver 'sleep 0.2' -- "$(subject)" deepbind "$FAULTY/libexec_stray.so"
    assert_status 0
    local notes
    notes=$(cell jemalloc '.repetitions[0].notes[]')
    assert_contains "$notes" "libexec_stray.so calls malloc in"
    assert_contains "$notes" "libexec_stray.so has jemalloc inside"
}

@test "what a program loads as it runs is seen, though it ends by itself" {
    [[ $(installed) == *jemalloc* ]] || skip "no jemalloc"
    watch -a jemalloc -- python3 -c 'import ctypes, os, sys, time
time.sleep(0.4)
ctypes.CDLL(sys.argv[1], mode=os.RTLD_NOW | os.RTLD_DEEPBIND)
time.sleep(1)' "$FAULTY/libexec_stray.so"
    assert_status 0
    assert_contains "$(cell jemalloc '.repetitions[0].notes[]')" "libexec_stray.so calls malloc in"
    assert_contains "$(cell jemalloc '.repetitions[0].notes[]')" "libexec_stray.so has jemalloc inside"
}

@test "--live counts C++'s operators once, whoever defines them" {
    command -v g++ >/dev/null || skip "no g++"
    cat >new.cpp <<'CPP'
#include <chrono>
#include <memory>
#include <new>
#include <thread>
#include <vector>
struct alignas(64) Line { char bytes[1024]; };
int main()
{
    std::vector<std::unique_ptr<char[]>> blocks;
    for (int i = 0; i < 256; i++)
        blocks.emplace_back(new char[32768]);
    std::unique_ptr<Line[]> lines(new Line[8192]);
    for (int i = 0; i < 1000; i++)
        delete new (std::nothrow) int(i);
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    try {
        volatile size_t huge = size_t(1) << 60;
        char *block = huge == 0 ? nullptr : static_cast<char *>(::operator new(huge));
        return block != nullptr;
    } catch (const std::bad_alloc &) {
        return 0;
    }
}
CPP
    g++ -O1 -std=c++17 -o new new.cpp
    local allocators
    allocators=$(installed)
    allocators=${allocators/,mimalloc/} # its operator new ends the program where others throw
    watch --live -a "$allocators" -- ./new
    assert_status 0
    for allocator in ${allocators//,/ }; do
        near "$(metric "$allocator" peak_live_bytes)" $((16 * MIB)) $MIB
    done
}

@test "an environment that a parent clears: the allocator did not answer, said" {
    [[ $(installed) == *jemalloc* ]] || skip "no jemalloc"
    watch -a jemalloc -- env -i "$(subject)" hold 16 300
    assert_status 5
    assert_equal "$(cell jemalloc .status)" not-preloaded
    assert_contains "$(cell jemalloc .status_detail)" "libc.so.6"
}

@test "the person's environment reaches the program; LD_PRELOAD is joined" {
    [[ $(installed) == *jemalloc* ]] || skip "no jemalloc"
    GREETING=hello watch -a ptmalloc2 -- "$(subject)" environment GREETING
    assert_contains "$(cat out/logs/*.log)" "GREETING=hello"
    LD_PRELOAD="$FAULTY/libno_allocator.so" watch -a jemalloc -- "$(subject)" environment LD_PRELOAD
    [[ $(cat out/logs/*.log) == *libjemalloc*:*libno_allocator.so ]] || fail "$(cat out/logs/*.log)"
}

@test "without --live, too, a tie over repeats is told as one" {
    [[ $(installed) == *jemalloc* ]] || skip "no jemalloc"
    : >runs
    # 16, 48 and 32 MiB under the one, 48, 16 and 32 under the other
    watch -a ptmalloc2,jemalloc -r 3 -- bash -c "sizes=(16 48 48 16 32 32); n=\$(cat runs | wc -c)
        printf . >>runs; exec $(subject) hold \${sizes[n]} 100"
    assert_status 0
    assert_contains "$output" "within 2 % or overlapping over the repeats"
}

@test "repeats are interleaved over the allocators; all are kept" {
    watch -a ptmalloc2,jemalloc -r 2 -- "$(subject)" hold 1 50
    assert_equal "$(cell ptmalloc2 '.repetitions | length')" 2
    assert_equal "$(cell ptmalloc2 '[.repetitions[].index] | join(",")')" "0,1"
    [[ -e out/logs/exec_subject_ptmalloc2.1.log ]]
}

@test "Ctrl-C: what was measured is kept, nothing is left; exit 130" {
    # In a session of its own: a background job of a shell without job control ignores SIGINT.
    python3 -c 'import os, signal, subprocess, sys, time
signal.signal(signal.SIGINT, signal.SIG_DFL)
run = subprocess.Popen(sys.argv[1:], stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
time.sleep(1)
run.send_signal(signal.SIGINT)
sys.exit(run.wait(20))' "$FRAGBENCH" exec -a ptmalloc2 -f -o out -- "$(subject)" daemon 8 20000 &&
        true
    [[ -e out/result.json ]]
    python3 -c 'import signal, subprocess, sys, time
signal.signal(signal.SIGINT, signal.SIG_DFL)
run = subprocess.Popen(sys.argv[1:], stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
time.sleep(1)
run.send_signal(signal.SIGINT)
sys.exit(run.wait(20))' "$FRAGBENCH" exec -a ptmalloc2 -f -o out -- "$(subject)" spread 8 2 20000 ||
        status=$?
    assert_equal "$status" 130
    assert_equal "$(cell ptmalloc2 .status)" interrupted
    assert_none_left
}

@test "fragbench itself killed with -9 leaves nothing of the tree" {
    "$FRAGBENCH" exec -a ptmalloc2 -f -o out -- "$(subject)" spread 8 3 30000 \
        >/dev/null 2>&1 3>&- &
    local harness=$!
    sleep 1
    pgrep -f "$FAULTY/exec_subject" >/dev/null || fail "it did not start"
    kill -9 "$harness"
    assert_none_left
}

@test "bad command lines say what to do: exit 2" {
    run --separate-stderr "$FRAGBENCH" exec
    assert_status 2
    # shellcheck disable=SC2154 # bats sets it
    assert_contains "$stderr" "no program given"
    watch -a ptmalloc2 -- no-such-program-anywhere
    assert_status 2
    assert_contains "$stderr" "PATH"
    watch -a null -- true
    assert_status 2
    watch --ready-line '(' -- true
    assert_status 2
    assert_contains "$stderr" "regular expression"
    watch --settle 1s -- true
    assert_status 2
    assert_contains "$stderr" "--driver"
    watch --ready-port 70000 -- true
    assert_status 2
}

@test "the result validates, is read back and shows as a table with a verdict" {
    watch --live -a ptmalloc2 -r 2 --export json=- -- "$(subject)" hold 8 100
    assert_status 0
    python3 -c 'import jsonschema' 2>/dev/null || skip "no python3-jsonschema"
    python3 - "$BATS_TEST_DIRNAME/../../docs/result-schema.json" out/result.json <<'PY'
import json, jsonschema, sys
jsonschema.Draft7Validator(json.load(open(sys.argv[1]))).validate(json.load(open(sys.argv[2])))
PY
    assert_contains "$stderr" "real time, 2 runs each"
    assert_contains "$stderr" "To use ptmalloc2"
}

@test "pictures: the curves, and memory against the work's wall time; what needs a replay says so" {
    command -v gnuplot >/dev/null || skip "gnuplot is not installed"
    watch --plot --sketch always -a ptmalloc2 -r 2 -- "$(subject)" hold 32 300
    assert_status 0
    assert_contains "$output" "p ptmalloc2: peak"
    assert_contains "$stderr" "2 pictures are in out/plots"
    assert_contains "$(cat out/plots/pareto-exec_subject.svg)" "wall time of the work (ms)"
    run --separate-stderr "$FRAGBENCH" plot out --plot parts
    assert_contains "$stderr" "\`fragbench record\` it, then \`fragbench run FILE.fbt --explain\`"
}
