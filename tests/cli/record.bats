#!/usr/bin/env bats
# `fragbench record` on programs whose calls are known (tests/cli/recorded.c), and what `run` and
# `check` make of the recordings.
bats_require_minimum_version 1.5.0
load common

# How many of "allocations", "frees" or "reallocations" a recording holds, as `check` tells it.
calls_of() { # WORD FILE
    "$FRAGBENCH" check "$2" | sed -nE "s/.* ([0-9,]+) $1.*/\1/p" | tr -d , | head -n 1
}

# The same beyond what the program does without being asked for anything.
assert_calls() { # FILE ALLOCATIONS FREES REALLOCATIONS
    "$FRAGBENCH" record -f -o nothing.fbt -- "$RECORDED/recorded" nothing >/dev/null
    local i=2 word
    for word in allocations frees reallocations; do
        assert_equal "$word $(($(calls_of $word "$1") - $(calls_of $word nothing.fbt)))" "$word ${!i}"
        i=$((i + 1))
    done
}

recorded() { # MODE: as MODE.fbt
    "$FRAGBENCH" record -f -o "$1.fbt" -- "$RECORDED/recorded" "$1" >"$1.out" 2>"$1.err"
}

@test "every function of the malloc family is counted" {
    recorded counts
    assert_calls counts.fbt 1000 1000 100
}

@test "every form of new and delete is counted, whoever answers it" {
    [[ -x $RECORDED/recorded_new ]] || skip "no C++ compiler"
    for allocator in ptmalloc2 jemalloc tcmalloc mimalloc; do
        run "$FRAGBENCH" record -f -o base.fbt -a $allocator -- "$RECORDED/recorded_new" nothing
        [[ $status -eq 4 ]] && continue # not installed
        assert_status 0
        "$FRAGBENCH" record -f -o new.fbt -a $allocator -- "$RECORDED/recorded_new" >/dev/null
        assert_equal "$allocator $(($(calls_of allocations new.fbt) - $(calls_of allocations base.fbt)))" \
            "$allocator 20000"
        assert_equal "$allocator $(($(calls_of frees new.fbt) - $(calls_of frees base.fbt)))" \
            "$allocator 20000"
    done
}

@test "a new that throws leaves the recorder at work" {
    [[ -x $RECORDED/recorded_new ]] || skip "no C++ compiler"
    for allocator in ptmalloc2 jemalloc; do
        run "$FRAGBENCH" record -f -o new.fbt -a $allocator -- "$RECORDED/recorded_new" throws
        [[ $status -eq 4 ]] && continue
        assert_status 0
        [[ $(calls_of frees new.fbt) -ge 20000 ]] || fail "only $(calls_of frees new.fbt) frees"
    done
}

@test "frees by other threads come after the allocations, eight threads at once" {
    recorded threads
    [[ $(calls_of allocations threads.fbt) -ge 80000 ]]
    [[ $(calls_of frees threads.fbt) -ge 80000 ]]
    refute_contains "$(cat threads.err)" "not seen"
    refute_contains "$(cat threads.err)" "left out"
    recorded contended
    [[ $(calls_of allocations contended.fbt) -ge 160000 ]]
    refute_contains "$(cat contended.err)" "not seen"
}

@test "threads that come and go are streams of their own" {
    recorded churn
    [[ $(calls_of allocations churn.fbt) -ge 3000 ]]
    assert_contains "$(cat churn.out)" " 301 "
    "$FRAGBENCH" run churn.fbt -a ptmalloc2 --layouts 1 --progress never -o result --verify >/dev/null 2>&1
    assert_equal "$(jq -r '.cells[0].status' result/result.json)" ok
}

@test "calls of constructors, of key destructors and after them are there" {
    recorded ending
    # 8 threads: one block, and one in each of the four rounds, which frees the one before;
    # 100 pairs of a destructor. The threads' own bookkeeping comes on top.
    [[ $(calls_of allocations ending.fbt) -ge 140 ]]
    [[ $(calls_of frees ending.fbt) -ge 132 ]]
    refute_contains "$(cat ending.err)" "not seen"
}

@test "a forked child has a recording of its own, and its parent's blocks are none of it" {
    "$FRAGBENCH" record --all -o fork.fbt -- "$RECORDED/recorded" fork >out 2>err
    assert_equal "$(calls_of allocations fork.2.fbt)" 2000
    assert_contains "$(cat err)" "500 frees of blocks from before the recording"
    assert_calls fork.fbt 1000 1000 0
}

@test "a program that becomes another one has two recordings" {
    "$FRAGBENCH" record --all -o exec.fbt -- "$RECORDED/recorded" exec >/dev/null
    assert_calls exec.fbt 1000 1000 100
    [[ -e exec.2.fbt ]]
}

@test "small processes are left out unless asked for" {
    run --separate-stderr "$FRAGBENCH" record -o sh.fbt -- sh -c "$RECORDED/recorded peak; true"
    assert_status 0
    assert_contains "$stderr" "1 recording of small processes not kept"
    assert_equal "$(echo sh*.fbt)" "sh.fbt"
    assert_contains "$output" "recorded"
}

@test "what a killed program did is recorded to the last call" {
    recorded kill
    assert_calls kill.fbt 3000 -1 0 # its constructor's block stays as well
    assert_contains "$(cat kill.err)" "ended by signal 9"
}

@test "the peak is the program's own, replayed exactly" {
    recorded peak
    "$FRAGBENCH" run peak.fbt -a ptmalloc2 --layouts 1 --progress never -o one --no-timing >one.table 2>/dev/null
    "$FRAGBENCH" run peak.fbt -a ptmalloc2 --layouts 1 --progress never -o two --no-timing >/dev/null 2>&1
    local peak
    peak=$(jq '.cells[0].repetitions[0].metrics.peak_live_bytes' one/result.json)
    assert_contains "$(cat one.table)" "peak live 64 MiB, recorded"
    # 64 MiB, and what the constructor keeps
    assert_equal "$peak" "$(((64 << 20) + 777))"
    assert_equal "$(exact_metrics one/result.json)" "$(exact_metrics two/result.json)"
    assert_equal "$(jq -r '.cells[0].workload | .name, (.params | length)' one/result.json | tr '\n' ' ')" \
        "peak 0 "
    [[ $(jq '.cells[0].repetitions[0].metrics.peak_footprint_bytes' one/result.json) -gt $peak ]]
}

@test "what there is when a pause begins is on the curve all along it" {
    recorded pause
    "$FRAGBENCH" run pause.fbt -a ptmalloc2 --layouts 1 --progress never -o out --no-timing >/dev/null 2>&1
    # t_ns,footprint_bytes,live_bytes,…,reason: the pair after the pause begins the last iteration
    local live
    live=$(awk -F, '$8 == "iteration" { found = before } { before = $3 } END { print found }' out/series/*.csv)
    [[ $live -lt 1048576 ]] || fail "$live bytes live in the pause, though 64 MiB were freed before it"
}

@test "of large blocks only what was written is touched in the replay" {
    recorded share
    "$FRAGBENCH" run share.fbt -a ptmalloc2 --layouts 1 --progress never -o out --no-timing >/dev/null 2>&1
    local footprint
    footprint=$(jq '.cells[0].repetitions[0].metrics.peak_footprint_bytes' out/result.json)
    # 16 MiB, a quarter, nothing; of those that live on half and nothing
    [[ $footprint -ge $((28 << 20)) && $footprint -le $((32 << 20)) ]] || fail "$footprint"
}

@test "on pages that were there before, --fresh-pages tells what is written" {
    local how touched
    for how in "" --fresh-pages; do
        "$FRAGBENCH" record -f -a ptmalloc2 ${how:+"$how"} -o reuse.fbt -- "$RECORDED/recorded" reuse \
            >/dev/null 2>err
        refute_contains "$(cat err)" "exited with" # it checks what is in its blocks
        "$FRAGBENCH" run reuse.fbt -a ptmalloc2 --layouts 1 --progress never -f -o out --no-timing --explain \
            >/dev/null 2>&1
        touched=$(grep -oE '[0-9]+/16 touched' out/result.json || true)
        # A quarter and a page, in sixteenths rounded up; without fresh pages all of it.
        assert_equal "$touched" "${how:+5/16 touched}"
    done
}

@test "memory beside the heap is measured, by kind, whoever allocates" {
    local allocator mapped library stack heap
    for allocator in ptmalloc2 jemalloc tcmalloc mimalloc; do
        run "$FRAGBENCH" record -f -o beside.fbt -a $allocator -- "$RECORDED/recorded" beside
        [[ $status -eq 4 ]] && continue # not installed
        assert_status 0
        assert_contains "$output" "MiB mapped by the program"
        "$FRAGBENCH" run beside.fbt -f -a ptmalloc2 --layouts 1 --progress never -o out --no-timing \
            >out.table 2>/dev/null
        read -r mapped library stack heap < <(jq -r '.cells[0].workload.recorded |
            [.mapped_bytes, .library_bytes, .stack_bytes,
             .peak_bytes - .mapped_bytes - .library_bytes - .stack_bytes] |
            map(. / 104857.6 | floor) | join(" ")' out/result.json)
        # in tenths of MiB; an allocator's own tables are the heap's
        [[ $mapped -ge 200 && $mapped -le 202 ]] || fail "$allocator: mapped $mapped"
        [[ $library -ge 60 && $library -le 80 ]] || fail "$allocator: data $library"
        [[ $stack -ge 40 && $stack -le 45 ]] || fail "$allocator: stacks $stack"
        [[ $heap -ge 320 && $heap -le 400 ]] || fail "$allocator: heap $heap"
        assert_contains "$(cat out.table)" "A replay is the heap alone"
        assert_contains "$("$FRAGBENCH" check beside.fbt)" "peak recorded"
    done
}

@test "a recording is explained, drawn and reported like a workload" {
    recorded beside
    "$FRAGBENCH" run beside.fbt -a ptmalloc2 --layouts 1 --progress never -o out --no-timing --explain \
        --sketch always >out.table 2>/dev/null
    assert_contains "$(cat out.table)" "Where the memory is when most is live"
    assert_contains "$(cat out.table)" "beside: RSS, anonymous (MiB) over virtual time"
    "$FRAGBENCH" report out >/dev/null 2>&1
    assert_contains "$(cat out/report.html)" "A replay is the heap alone"
    command -v gnuplot >/dev/null || skip "gnuplot is not installed: no pictures"
    "$FRAGBENCH" plot out >/dev/null 2>&1
    local picture
    for picture in rss parts heat; do
        [[ -s out/plots/$picture-beside.svg ]] || fail "no $picture"
    done
}

@test "free order replays it, too" {
    recorded threads
    "$FRAGBENCH" run threads.fbt -a ptmalloc2 --order free --layouts 1 --progress never -o out --verify \
        >/dev/null 2>&1
    assert_equal "$(jq -r '.cells[0].status' out/result.json)" ok
}

@test "at its limit recording stops and the program goes on" {
    run --separate-stderr "$FRAGBENCH" record -o many.fbt --limit 200KiB -- \
        sh -c "$RECORDED/recorded grind && echo finished"
    assert_status 0
    assert_contains "$output" "finished"
    assert_contains "$stderr" "it reached --limit"
    [[ $(calls_of allocations many.fbt) -lt 1500000 ]]
    [[ $(stat -c %s many.fbt) -lt 1000000 ]]
}

@test "--rate holds the program back and loses nothing" {
    "$FRAGBENCH" record -o free.fbt -- "$RECORDED/recorded" grind >/dev/null 2>free.err
    refute_contains "$(cat free.err)" "--rate"
    local size
    size=$(stat -c %s free.fbt)
    local begin=$EPOCHREALTIME
    "$FRAGBENCH" record -o held.fbt --rate $((size / 3)) -- "$RECORDED/recorded" grind >/dev/null 2>held.err
    local end=$EPOCHREALTIME
    assert_contains "$(cat held.err)" "nothing was written, to stay below"
    assert_equal "$("$FRAGBENCH" check held.fbt | grep -E 'operations|bytes allocated')" \
        "$("$FRAGBENCH" check free.fbt | grep -E 'operations|bytes allocated')"
    # It cannot be done sooner, but for what is in the buffers when the program ends.
    [[ $(((${end/./} - ${begin/./}) / 1000)) -ge 1500 ]] || fail "not held back: $begin to $end"
}

@test "after its time recording stops and the program goes on" {
    mkfifo go
    "$FRAGBENCH" record -o slow.fbt --for 500ms -- \
        sh -c "$RECORDED/recorded peak; read line <go; echo finished >done" >out 2>err
    assert_contains "$(cat err)" "goes on, without being recorded"
    [[ ! -e done ]]
    echo go >go
    for _ in $(seq 50); do
        [[ -s done ]] && break
        sleep 0.1
    done
    assert_equal "$(cat done)" finished
    "$FRAGBENCH" check slow.fbt >/dev/null
}

@test "a full disk ends the recording, not the program" {
    mkdir small
    mount -t tmpfs -o size=64k tmpfs small 2>/dev/null || skip "may not mount"
    run --separate-stderr "$FRAGBENCH" record -o small/grind.fbt -- \
        sh -c "$RECORDED/recorded grind && echo finished"
    umount small
    assert_status 3
    assert_contains "$output" "finished"
    assert_contains "$stderr" "recording stopped, the program goes on"
    assert_contains "$stderr" "No space left"
    assert_contains "$output" "grind.fbt" # what fitted is a recording
}

@test "no room for the buffers is said once, and the program goes on" {
    run --separate-stderr "$FRAGBENCH" record -o none.fbt -- \
        sh -c "ulimit -f 10; exec $RECORDED/recorded counts"
    assert_status 0 # the shell itself was recorded
    assert_contains "$stderr" "may not write files as large as its buffers"
}

@test "bad command lines and programs say what to do" {
    run "$FRAGBENCH" record --rate 0 -- true
    assert_status 2
    assert_contains "$output" '--rate "0": must be above 0'
    run "$FRAGBENCH" record --rate 5ms -- true
    assert_status 2
    assert_contains "$output" '--rate'
    run "$FRAGBENCH" record
    assert_status 2
    assert_contains "$output" "-- COMMAND"
    run "$FRAGBENCH" record -o x.fbt -- ./no-such-program
    assert_status 2
    assert_contains "$output" "cannot run \"./no-such-program\""
    touch here.fbt
    run "$FRAGBENCH" record -o here.fbt -- true
    assert_status 2
    assert_contains "$output" "-f replaces it"
    run "$FRAGBENCH" record -o x.fbt --limit 0 -- true
    assert_status 2
    assert_equal "$(echo x*)" "x*"
}

@test "a damaged, cut or foreign file is refused with its place, or read as far as it goes" {
    recorded counts
    cp counts.fbt damaged.fbt
    printf 'X' | dd of=damaged.fbt bs=1 seek=300 conv=notrunc status=none
    run "$FRAGBENCH" run damaged.fbt -a ptmalloc2
    assert_status 2
    assert_contains "$output" "damaged.fbt: byte 112: a block does not match its checksum"
    head -c 40 counts.fbt >short.fbt
    run "$FRAGBENCH" check short.fbt
    assert_status 2
    assert_contains "$output" "byte 40"
    printf 'not a recording' >foreign.fbt
    run "$FRAGBENCH" check foreign.fbt
    assert_status 2
    # without its end: a program whose fragbench was killed
    head -c "$(($(stat -c %s counts.fbt) - 50))" counts.fbt >cut.fbt
    "$FRAGBENCH" check cut.fbt >/dev/null
}

@test "what a recording cannot do is said" {
    recorded counts
    run "$FRAGBENCH" run counts.fbt --seeds 2 -a ptmalloc2
    assert_status 2
    assert_contains "$output" "no other seeds"
    run "$FRAGBENCH" run counts.fbt --scale 0.5 -a ptmalloc2
    assert_status 2
    assert_contains "$output" "cannot be scaled"
    run "$FRAGBENCH" run counts.fbt -L n=1 -a ptmalloc2
    assert_status 2
    assert_contains "$output" "no parameters"
}

@test "nothing is left behind" {
    mkdir spool
    "$FRAGBENCH" record --spool spool -o counts.fbt -- "$RECORDED/recorded" counts >/dev/null
    assert_equal "$(ls spool)" ""
    assert_equal "$(echo counts*)" "counts.fbt"
}

# "+1.8" of the note that says how near a fitted workload's peak comes.
deviation() {
    sed -nE 's/.*peak live .* \(([-+][0-9.]+) %\)$/\1/p'
}

@test "a fitted workload passes check, runs, and has nearly the recording's peak" {
    for mode in threads share; do
        recorded $mode
        run --separate-stderr "$FRAGBENCH" record --from $mode.fbt --workload $mode.yaml
        assert_status 0
        local off
        off=$(deviation <<<"$stderr")
        awk -v off="$off" 'BEGIN { exit !(off >= -10 && off <= 10) }' || fail "$mode: $off"
        "$FRAGBENCH" check $mode.yaml >/dev/null
        "$FRAGBENCH" run $mode.yaml -a ptmalloc2 --layouts 1 --no-timing --progress never -o out-$mode \
            >/dev/null 2>&1
        assert_equal "$(jq -r '.cells[0].status' out-$mode/result.json)" ok
    done
}

@test "recording and fitting go in one" {
    "$FRAGBENCH" record -o peak.fbt --workload peak.yaml -- "$RECORDED/recorded" peak >/dev/null
    "$FRAGBENCH" check peak.yaml peak.fbt 2>&1 | grep -q "both named" # cells would be confused
    "$FRAGBENCH" check peak.yaml >/dev/null
}

@test "a workload file is not overwritten unasked, and needs a recording" {
    recorded peak
    touch there.yaml
    run "$FRAGBENCH" record --from peak.fbt --workload there.yaml
    assert_status 2
    assert_contains "$output" "-f replaces it"
    run "$FRAGBENCH" record --from tiny.yaml --workload new.yaml
    assert_status 2
    assert_contains "$output" "--from takes a recording"
    run "$FRAGBENCH" record --from peak.fbt
    assert_status 2
    assert_contains "$output" "--from needs --workload"
    run "$FRAGBENCH" record --workload new.txt -- true
    assert_status 2
    assert_contains "$output" "ends in .yaml"
}
