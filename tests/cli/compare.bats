#!/usr/bin/env bats
# `compare`: A/A, injected regressions, refusals, exit codes, what is printed where.

bats_require_minimum_version 1.5.0
load common

# Blocks of 1 to 3 KiB that come and go, some 23 MiB of them at their peak.
write_churn() {
    cat >churn.yaml <<'EOF'
fragbench: 1
name: churn
description: Blocks that come and go. Made for tests.
seed: 7
params: {count: 4000}
objects:
  small: {size: {uniform: [1000, 3000]}, lifetime: {iterations: 3}}
phases:
  - {name: serve, iterations: 8, every: 100ms, allocate: {small: $count}}
  - {name: idle, for: 2s}
EOF
}

measure() { # FOLDER ARGUMENT...
    local folder=$1
    shift
    "$FRAGBENCH" run --no-timing --progress never -o "$folder" "$@" >/dev/null 2>&1 ||
        fail "run -o $folder $*"
}

require_exact() { # FOLDER: exact cells need fixed addresses and an exact kernel
    jq -e '.host.statm_exact and all(.cells[]; .layout == "fixed")' "$1/result.json" >/dev/null ||
        skip "this machine has no exact cells (fragbench doctor)"
}

# The change of a metric from the first to the second cell, in per cent.
measured() { # FOLDER METRIC
    jq -r --arg m "$2" '.cells | 100 * (.[1].summary[$m].median / .[0].summary[$m].median - 1)' \
        "$1/result.json"
}

@test "the same thing twice: unchanged, exit 0, and the same to the byte" {
    measure base -a ptmalloc2 tiny.yaml
    measure new -a ptmalloc2 tiny.yaml
    require_exact base
    run --separate-stderr "$FRAGBENCH" compare base new
    assert_status 0
    assert_equal "$stderr" ""
    assert_contains "$output" "ratio_peak"
    assert_contains "$output" "3 unchanged"
    assert_contains "$output" "gate: passed"
    run --separate-stderr "$FRAGBENCH" compare --expect-same base new
    assert_status 0
    run --separate-stderr "$FRAGBENCH" compare --exact base new
    assert_status 0
}

@test "every default allocator against itself: no false alarm" {
    write_churn
    measure base churn.yaml
    measure new churn.yaml
    require_exact base
    run --separate-stderr "$FRAGBENCH" compare --expect-same base new
    assert_status 0
    assert_contains "$output" "gate: passed"
}

@test "a build that takes more is caught at the threshold and above, not below" {
    write_churn
    local percent
    for percent in 2 5 6 10; do
        measure "by-$percent" -a "old=$FAULTY/libpadded_0.so" -a "new=$FAULTY/libpadded_$percent.so" \
            churn.yaml
        require_exact "by-$percent"
        run --separate-stderr "$FRAGBENCH" compare --by allocator --metric peak_footprint_bytes \
            "by-$percent"
        if jq -en "$(measured "by-$percent" peak_footprint_bytes) >= 5" >/dev/null; then
            assert_status 1
            assert_contains "$output" "churn, new against old: peak_footprint_bytes"
            assert_contains "$output" "peak in phase serve at"
            assert_contains "$output" "new, anonymous RSS phase by phase"
        else
            assert_status 0
        fi
        [[ $percent != 2 || $status -eq 0 ]]
        [[ $percent -lt 6 || $status -eq 1 ]]
    done
    # Below the threshold is caught by a lower one.
    run "$FRAGBENCH" compare --by allocator --metric peak_footprint_bytes --threshold 1% \
        --noise 64KiB by-2
    assert_status 1
    run "$FRAGBENCH" compare --by allocator --metric peak_footprint_bytes --exact by-2
    assert_status 1
    # One threshold of one metric; the other keeps its own.
    run "$FRAGBENCH" compare --by allocator --metric peak_footprint_bytes \
        --threshold peak_footprint_bytes=1% --noise peak_footprint_bytes=1KiB by-2
    assert_status 1
}

@test "a build that only moves addresses is no regression" {
    write_churn
    measure shifted -a "old=$FAULTY/libpadded_0.so" -a "new=$FAULTY/libpadded_shifted.so" churn.yaml
    run --separate-stderr "$FRAGBENCH" compare --by allocator shifted
    assert_status 0
    assert_contains "$output" "gate: passed"
}

@test "the base may be named" {
    write_churn
    measure both -a "old=$FAULTY/libpadded_0.so" -a "new=$FAULTY/libpadded_10.so" churn.yaml
    run --separate-stderr "$FRAGBENCH" compare --by allocator --base new \
        --metric peak_footprint_bytes both
    assert_status 0
    assert_contains "$output" "churn, against new"
    assert_contains "$output" "improved"
    run --separate-stderr "$FRAGBENCH" compare --by allocator --base newer both
    assert_status 2
    assert_contains "$stderr" '--base "newer"'
}

@test "what gates is a choice" {
    write_churn
    measure both -a "old=$FAULTY/libpadded_0.so" -a "new=$FAULTY/libpadded_10.so" churn.yaml
    run "$FRAGBENCH" compare --by allocator --fail-on none --metric peak_footprint_bytes both
    assert_status 0
    run "$FRAGBENCH" compare --by allocator --fail-on improved --base new \
        --metric peak_footprint_bytes both
    assert_status 1
}

@test "a missing cell fails, a new one does not" {
    measure one -a ptmalloc2 tiny.yaml
    measure two -a ptmalloc2 -a "more=$FAULTY/libpadded_0.so" tiny.yaml
    run --separate-stderr "$FRAGBENCH" compare two one
    assert_status 1
    assert_contains "$output" "missing: tiny, more: in base, missing from new"
    run --separate-stderr "$FRAGBENCH" compare --fail-on regressed two one
    assert_status 0
    run --separate-stderr "$FRAGBENCH" compare one two
    assert_status 0
    assert_contains "$output" "new: not in base"
    run --separate-stderr "$FRAGBENCH" compare --fail-on new one two
    assert_status 1
}

@test "nothing in common: exit 4" {
    measure one -a ptmalloc2 tiny.yaml
    measure two -a "other=$FAULTY/libpadded_0.so" tiny.yaml
    run --separate-stderr "$FRAGBENCH" compare one two
    assert_status 4
    assert_contains "$stderr" "nothing to compare"
    run --separate-stderr "$FRAGBENCH" compare --by allocator one two
    assert_status 0
    assert_contains "$output" "ptmalloc2 → other"
}

@test "a cell that failed is incomplete: exit 5, with its end" {
    write_marked
    measure good -a "x=$FAULTY/libpadded_0.so" marked.yaml
    "$FRAGBENCH" run --no-timing --progress never -o bad -a "x=$FAULTY/libfaulty_crash.so" \
        marked.yaml >/dev/null 2>&1 || true
    run --separate-stderr "$FRAGBENCH" compare good bad
    assert_status 5
    assert_contains "$output" "failed: marked, x: crashed (SIGSEGV"
    assert_contains "$output" "gate: failed (1 failed)"
}

@test "other conditions are refused with both values: exit 2" {
    measure base -a ptmalloc2 -L count=100 tiny.yaml
    sed 's/seed: 7/seed: 8/' tiny.yaml >other.yaml
    measure new -a ptmalloc2 --layouts 2 -L count=100 other.yaml
    run --separate-stderr "$FRAGBENCH" compare base new
    assert_status 2
    assert_contains "$stderr" "cannot compare tiny/ptmalloc2/count=100"
    assert_contains "$stderr" "seed: 7 in base, 8 in new"
    assert_contains "$stderr" "layouts: fixed 0, 1, 2 in base, fixed 0, 1 in new"
    assert_contains "$stderr" "--by seed,layouts"
    run --separate-stderr "$FRAGBENCH" compare --by seed,layouts base new
    assert_status 0
}

@test "another machine's libc is refused, another kernel is shown" {
    measure base -a ptmalloc2 tiny.yaml
    mkdir libc kernel
    jq '.host.libc = "glibc 2.99"' base/result.json >libc/result.json
    jq '.host.kernel = "Linux 9.9"' base/result.json >kernel/result.json
    run --separate-stderr "$FRAGBENCH" compare base libc
    assert_status 2
    assert_contains "$stderr" "glibc 2.99 in new"
    run --separate-stderr "$FRAGBENCH" compare base kernel
    assert_status 0
    assert_contains "$output" "Linux 9.9"
}

@test "what was measured elsewhere is skipped where asked, and the rest is judged" {
    measure base -a ptmalloc2 -a "more=$FAULTY/libpadded_0.so" tiny.yaml
    mkdir lib libc
    sed "s/$(jq -r '.cells[1].allocator.sha256' base/result.json)/1234567890ab/" \
        base/result.json >lib/result.json
    jq '.host.libc = "glibc 2.99"' base/result.json >libc/result.json
    run --separate-stderr "$FRAGBENCH" compare --skip-unlike lib base
    assert_status 0
    assert_contains "$output" "3 unchanged, 1 skipped"
    assert_contains "$output" "gate: passed for what was judged"
    assert_contains "$stderr" "skipped: more sha256 1234567890ab expected, "
    assert_contains "$stderr" " found (tiny/more)"
    run --separate-stderr "$FRAGBENCH" compare --skip-unlike --fail-on skipped lib base
    assert_status 1
    run --separate-stderr "$FRAGBENCH" compare lib base
    assert_status 2
    # All of it: there is no gate, and that is said.
    run --separate-stderr "$FRAGBENCH" compare --skip-unlike libc base
    assert_status 4
    assert_contains "$stderr" "skipped: libc glibc 2.99 expected, "
    assert_contains "$stderr" "found (tiny/ptmalloc2 and 1 more)"
    assert_contains "$stderr" "measure the base again"
}

@test "a result without its curves is compared all the same" {
    write_churn
    measure both -a "old=$FAULTY/libpadded_0.so" -a "new=$FAULTY/libpadded_10.so" churn.yaml
    rm -r both/series
    run --separate-stderr "$FRAGBENCH" compare --by allocator --metric peak_footprint_bytes \
        both/result.json
    assert_status 1
    assert_contains "$output" "peak in phase serve at"
}

@test "sets have labels, more than two go" {
    measure one -a ptmalloc2 tiny.yaml
    run --separate-stderr "$FRAGBENCH" compare main=one branch=one
    assert_status 0
    assert_contains "$output" "main: one: fragbench"
    assert_contains "$output" "branch: one: fragbench"
    cp -r one three
    run --separate-stderr "$FRAGBENCH" compare one one three
    assert_status 0
    assert_contains "$output" "tiny, three"
    assert_contains "$output" "6 unchanged"
}

@test "parameters and tunables of one set" {
    measure params -a ptmalloc2 -L count=100,2000 tiny.yaml
    run --separate-stderr "$FRAGBENCH" compare --by params params
    assert_contains "$output" "tiny (count=100), against ptmalloc2"
    assert_contains "$output" "count=2000"
    measure tunables -a 'ptmalloc2:arena_max={1,2}' tiny.yaml
    run --separate-stderr "$FRAGBENCH" compare --by tunables tunables
    assert_status 0
    assert_contains "$output" "against ptmalloc2:arena_max=1"
}

@test "documents: stdout in a format, others in files, colour only when asked for" {
    measure base -a ptmalloc2 tiny.yaml
    run --separate-stderr "$FRAGBENCH" compare base base --export text=out.txt
    assert_status 0
    assert_equal "$output" "$(cat out.txt)"
    refute_contains "$output" $'\033'
    run "$FRAGBENCH" compare base base --color always
    assert_contains "$output" $'\033['
    run --separate-stderr "$FRAGBENCH" compare base base --export text=/no/such/folder/out.txt
    assert_status 3
    assert_contains "$stderr" "/no/such/folder"
}

@test "bad command lines: exit 2, nothing on stdout, what to write instead" {
    measure base -a ptmalloc2 tiny.yaml
    local cases=(
        "|no result given"
        "base|--by allocator, tunables"
        "base --by seed|one result: say what"
        "base base --by libk|did you mean \"libc\""
        "base base --metric ratio_peek|did you mean \"ratio_peak\""
        "base base --metric peak_live_bytes|nothing to judge"
        "base base --metric ratio_peak,,kept_bytes|a name is empty"
        "base base --threshold lots|--threshold \"lots\""
        "base base --threshold ratio_peek=5%|no such metric"
        "base base --noise 5%|write a size"
        "base base --noise minor_faults=x|plain number"
        "base base --fail-on worse|no such verdict"
        "base base --format xml|no such format"
        "base base --color red|must be auto, always or never"
        "x=base x=base|two results are called \"x\""
        "base base --exact --expect-same|leave one out"
        "base nowhere|nowhere"
    )
    local case
    for case in "${cases[@]}"; do
        # shellcheck disable=SC2086 # the options are words
        run --separate-stderr "$FRAGBENCH" compare ${case%%|*}
        assert_status 2
        assert_equal "$output" ""
        assert_contains "$stderr" "${case#*|}"
    done
}

@test "a damaged result: exit 2 with its name" {
    measure base -a ptmalloc2 tiny.yaml
    mkdir bad
    head -c 200 base/result.json >bad/result.json
    run --separate-stderr "$FRAGBENCH" compare base bad
    assert_status 2
    assert_contains "$stderr" "bad/result.json"
}
