#!/usr/bin/env bats
# `fragbench record --sites` on a program whose functions are known.
bats_require_minimum_version 1.5.0
load common

setup_file() {
    cd "$BATS_FILE_TMPDIR" || return 1
    "$FRAGBENCH" record --sites -o sites.fbt -- "$RECORDED/recorded" sites >record.out 2>record.err
    "$FRAGBENCH" check sites.fbt >check.out
    "$FRAGBENCH" check --sites=3 sites.fbt >frames.out
}

# The table's line of the site whose innermost function it is.
line_of() { # FUNCTION FILE
    grep -E "^  s[0-9]+ .* $1, recorded\.c:[0-9]+( <|$)" "$2"
}

@test "the table says what each function held at the peak, with its line and its callers" {
    local out=$BATS_FILE_TMPDIR/check.out
    read -r -a fields <<<"$(line_of load_weights "$out")"
    assert_equal "${fields[*]:1:2} ${fields[5]} ${fields[6]}" "16 MiB 4 4"
    read -r -a fields <<<"$(line_of serve "$out")" # on two threads, from one place
    assert_equal "${fields[*]:1:2} ${fields[5]} ${fields[6]}" "7.629 MiB 2,000 2,000"
    local source=${BATS_TEST_DIRNAME}/recorded.c
    local at
    at=$(grep -n 'kept\[i\] = malloc(4 << 20)' "$source" | cut -d: -f1)
    assert_contains "$(line_of load_weights "$out")" "load_weights, recorded.c:$at < sites < main"
    assert_contains "$(cat "$BATS_FILE_TMPDIR/record.out")" "load_weights, recorded.c:$at < sites < main"
    # What it says to do next shows that.
    assert_equal "$(tail -n 1 "$BATS_FILE_TMPDIR/record.out")" \
        "  With all their frames: fragbench check --sites sites.fbt"
    # Ordered by what they held.
    assert_equal "$(grep -oE '(load_weights|serve), recorded' "$out" | tr '\n' ' ')" \
        "load_weights, recorded serve, recorded "
}

@test "check --sites=N shows N sites with all of their frames" {
    local out=$BATS_FILE_TMPDIR/frames.out
    assert_equal "$(grep -cE '^  s[0-9]+: .* at the peak; ' "$out")" 3
    grep -A3 'in 4 blocks at the peak; 4 births, 16 MiB in all' "$out" >stack
    assert_contains "$(sed -n 2p stack)" "      load_weights, recorded.c:"
    assert_contains "$(sed -n 3p stack)" "      sites, recorded.c:"
    assert_contains "$(sed -n 4p stack)" "      main, recorded.c:"
    assert_contains "$(cat "$out")" "start_thread"
}

@test "so many frames as were asked for" {
    "$FRAGBENCH" record --sites=1 -o one.fbt -- "$RECORDED/recorded" sites >/dev/null 2>&1
    "$FRAGBENCH" check --sites one.fbt >one.out
    assert_contains "$(cat one.out)" "load_weights, recorded.c:"
    refute_contains "$(cat one.out)" "main, recorded.c"
}

@test "a forked child has sites of its own, and a block that grows stays where it was born" {
    "$FRAGBENCH" check "$BATS_FILE_TMPDIR/sites.2.fbt" >child.out
    read -r -a fields <<<"$(line_of count_words child.out)"
    assert_equal "${fields[*]:1:2} ${fields[5]} ${fields[6]} ${fields[*]:7:2}" "3 MiB 1 1 3 MiB"
    read -r -a fields <<<"$(line_of load_weights child.out)"
    assert_equal "${fields[*]:1:2} ${fields[5]}" "16 MiB 4"
}

@test "--explain names the sites that hold the memory" {
    cd "$BATS_FILE_TMPDIR"
    "$FRAGBENCH" run sites.fbt -a ptmalloc2 --layouts 1 --progress never -o out -f --no-timing --explain \
        >run.out 2>&1
    assert_equal "$(jq -r '.cells[0].status' out/result.json)" ok
    assert_contains "$(cat run.out)" "load_weights: malloc to 4 MiB"
}

@test "the calls are those that are recorded without sites" {
    cd "$BATS_FILE_TMPDIR"
    "$FRAGBENCH" record -f -o plain.fbt -- "$RECORDED/recorded" sites >/dev/null 2>&1
    assert_equal "$("$FRAGBENCH" check plain.fbt | grep -E '^  (objects|operations|bytes|peak live) ')" \
        "$("$FRAGBENCH" check sites.fbt | grep -E '^  (objects|operations|bytes|peak live) ')"
}

@test "without --sites a recording has no names" {
    cd "$BATS_FILE_TMPDIR"
    "$FRAGBENCH" record -f -o plain.fbt -- "$RECORDED/recorded" sites >plain.out 2>&1
    refute_contains "$(cat plain.out)" "load_weights"
    run --separate-stderr "$FRAGBENCH" check --sites plain.fbt
    assert_status 0
    refute_contains "$output" "load_weights"
    assert_contains "$stderr" "plain.fbt has no call sites; \`fragbench record --sites\` records them"
    # All text that the file holds, unpacked: block headers are 48 bytes, the header is 64.
    python3 - plain.fbt sites.fbt <<'PY'
import struct, subprocess, sys
def content(path):
    data, at, out = open(path, "rb").read(), 64, b""
    while at < len(data):
        kind, packed = struct.unpack_from("<4xI", data, at)[0], struct.unpack_from("<32xI", data, at)[0]
        frame = data[at + 48:at + 48 + packed]
        out += frame if kind == 2 else subprocess.run(["zstd", "-dc"], input=frame, capture_output=True, check=True).stdout
        at += 48 + packed
    return out
plain, sites = content(sys.argv[1]), content(sys.argv[2])
assert b"load_weights" in sites and b"recorded.c" in sites
assert b"recorded" not in plain and b"main" not in plain
assert b"/" not in sites, "no folders"
PY
}

@test "C++ is named as it is written, and new is not the one who asks" {
    [[ -x $RECORDED/recorded_new ]] || skip "no C++ compiler"
    for allocator in ptmalloc2 jemalloc mimalloc; do
        run "$FRAGBENCH" record --sites -f -o new.fbt -a $allocator -- "$RECORDED/recorded_new"
        [[ $status -eq 4 ]] && continue # not installed
        assert_status 0
        "$FRAGBENCH" check new.fbt >new.out
        assert_contains "$(cat new.out)" "  round_of_calls, recorded_new.cc:"
        refute_contains "$(cat new.out)" "operator new"
        "$FRAGBENCH" check --sites=100 new.fbt >frames.out
        refute_contains "$(cat frames.out)" "fragbench" # nor the recorder's own
        # ptmalloc2 has none: there it is libstdc++'s that calls malloc.
        [[ $allocator == ptmalloc2 ]] || refute_contains "$(cat frames.out)" "operator new"
    done
}

@test "threads that all ask for much at many places lose nothing" {
    "$FRAGBENCH" record --sites=2 -o threads.fbt -- "$RECORDED/recorded" threads >/dev/null 2>err
    refute_contains "$(cat err)" "not seen"
    refute_contains "$(cat err)" "left out"
    "$FRAGBENCH" check threads.fbt >threads.out
    local line
    line=$(line_of pass_on threads.out)
    read -r -a fields <<<"$line"
    assert_equal "${fields[5]} ${fields[6]}" "80,000 80,000"
}

@test "where there are more places than there is room for, those of large blocks are known" {
    "$FRAGBENCH" record --sites=24 -o places.fbt -- "$RECORDED/recorded" places >/dev/null 2>err
    "$FRAGBENCH" check places.fbt >places.out
    read -r -a fields <<<"$(line_of load_weights places.out)"
    assert_equal "${fields[*]:1:2} ${fields[5]}" "16 MiB 4"
    # Half of 131,071 places are for small blocks; a few are libc's.
    read -r -a fields <<<"$(grep -E '^  - .*\(not known\)' places.out)"
    local unknown=${fields[5]//,/}
    [[ $unknown -ge 65537 && $unknown -le 65700 ]] || fail "$unknown blocks of unknown places"
}

# The unwinder has variables of each thread, which the loader allocates and frees: they are not the program's.
@test "threads that come and go have the calls that they have without sites" {
    "$FRAGBENCH" record --sites -o churn.fbt -- "$RECORDED/recorded" churn >/dev/null 2>err
    refute_contains "$(cat err)" "left out"
    refute_contains "$(cat err)" "not seen"
    "$FRAGBENCH" record -o plain.fbt -- "$RECORDED/recorded" churn >/dev/null 2>&1
    assert_equal "$("$FRAGBENCH" check churn.fbt | grep -E '^  (objects|operations|bytes) ')" \
        "$("$FRAGBENCH" check plain.fbt | grep -E '^  (objects|operations|bytes) ')"
}

@test "bad numbers say what is allowed" {
    run "$FRAGBENCH" record --sites=0 -- true
    assert_status 2
    assert_contains "$output" '--sites "0": give a number of frames from 1 to 64'
    run "$FRAGBENCH" record --sites=65 -- true
    assert_status 2
    assert_contains "$output" '--sites "65": give a number of frames from 1 to 64'
    run "$FRAGBENCH" record --sites=few -- true
    assert_status 2
    assert_contains "$output" '--sites: "few" is no number'
    run "$FRAGBENCH" check --sites=0 "$BATS_FILE_TMPDIR/sites.fbt"
    assert_status 2
    assert_contains "$output" '--sites "0": must be above 0'
}
