#!/usr/bin/env bats
# Every export format of a real run, read by its consumer; the exit codes in help and docs.

bats_require_minimum_version 1.5.0
load common

formats=(text csv json markdown junit github github-summary gitlab openmetrics benchmark-action)

# One run that is over a limit, with a row that is not installed and one that crashed.
run_all() {
    write_marked
    printf 'limits: {kept_bytes: 0, peak_footprint_bytes: 1GiB}\n' >>marked.yaml
    local exports=() format
    for format in "${formats[@]}"; do
        exports+=(--export "$format=$format.out")
    done
    run --separate-stderr "$FRAGBENCH" run -o out --layouts 1 --no-timing "${exports[@]}" \
        -a ptmalloc2 -a missing=/no/lib.so -a "crash=$FAULTY/libfaulty_crash.so" marked.yaml
}

valid() { # FORMAT FILE
    local status=0 said
    said=$(python3 "$BATS_TEST_DIRNAME/../formats/validate.py" "$1" "$2") || status=$?
    [[ $status -ne 77 ]] || skip "$said"
    [[ $status -eq 0 ]] || fail "$said"
}

@test "one run writes every format, and 5 wins over 1" {
    run_all
    assert_status 5
    for format in "${formats[@]}"; do
        [[ -s $format.out ]] || fail "$format is empty"
    done
    cmp json.out out/result.json
    assert_equal "$(<text.out)" "$output"
}

@test "run --help names every format" {
    run --separate-stderr "$FRAGBENCH" run --help
    local flat=${output//[$'\n ']/}
    for format in "${formats[@]}"; do
        assert_contains "$flat" "$format"
    done
}

@test "junit: a crash is an error, over a limit a failure, not installed skipped" {
    run_all
    valid junit junit.out
    assert_contains "$(<junit.out)" 'tests="5" failures="1" errors="1" skipped="1"'
    assert_contains "$(<junit.out)" 'type="over-limit"'
    assert_contains "$(<junit.out)" 'type="crashed"'
}

@test "github: annotations at the limit's line" {
    run_all
    valid github github.out
    assert_contains "$(<github.out)" "::error file=marked.yaml,line=9,title=fragbench%3A over-limit::"
    assert_contains "$(<github.out)" "::error file=marked.yaml,line=1,title=fragbench%3A crashed::"
    assert_contains "$(<github.out)" "::notice file=marked.yaml,line=1,title=fragbench%3A not-installed::"
}

@test "github-summary: the limits come first" {
    run_all
    valid github-summary github-summary.out
    assert_contains "$(head -n 1 github-summary.out)" "Limits: 1 kept, 1 over, 1 failed, 1 not judged."
}

@test "gitlab: an issue each for the crash and the limit" {
    run_all
    valid gitlab gitlab.out
    assert_equal "$(jq -r '.[] | .check_name + " " + .severity' gitlab.out | sort | paste -sd,)" \
        "fragbench-crashed critical,fragbench-over-limit major"
}

@test "openmetrics, benchmark-action, csv and json are well-formed" {
    run_all
    valid benchmark-action benchmark-action.out
    valid csv csv.out
    valid json json.out
    valid openmetrics openmetrics.out
}

@test "openmetrics holds the figures of result.json" {
    run_all
    local peak
    peak=$(jq '.cells[0].summary.peak_footprint_bytes.median' json.out)
    assert_contains "$(<openmetrics.out)" \
        "fragbench_peak_footprint_bytes{cell=\"marked/ptmalloc2\",workload=\"marked\",allocator=\"ptmalloc2\"} $peak"
}

@test "an export to stdout puts the table on stderr" {
    run --separate-stderr "$FRAGBENCH" run -o out --layouts 1 --no-timing -a ptmalloc2 \
        --export junit=- tiny.yaml
    assert_status 0
    assert_equal "${output%%$'\n'*}" '<?xml version="1.0" encoding="UTF-8"?>'
    assert_contains "$stderr" "peak RSS"
}

@test "the exit codes of --help, of every command's help and of docs/cli.md are the same" {
    local expected='0	done
2	bad command line or workload; results that cannot be compared
3	could not work (a file, memory, a process)
128+n	ended by signal n; what was measured is kept
4	nothing to run or compare
5	incomplete: a cell crashed, timed out …, or a shard is missing
1	a gate failed: over a limit, worse than the base, or missing'
    codes() { sed -n '/^Exit codes:/,$s/^  \([0-9+n]*\)  *\(.*\)/\1\t\2/p'; }
    assert_equal "$("$FRAGBENCH" --help | codes)" "$expected"
    for command in run compare merge check list doctor; do
        assert_equal "$("$FRAGBENCH" "$command" --help | codes)" "$expected"
    done
    # The table of the docs: the same words first, then what else there is to say.
    local code text documented
    while IFS=$'\t' read -r code text; do
        documented=$(sed -n '/^## Exit codes/,/^## /s/^| \([0-9+n]*\) | \(.*\) |$/\1\t\2/p' \
            "$BATS_TEST_DIRNAME/../../docs/cli.md" | grep -F "$code"$'\t' | cut -f 2)
        [[ $documented == "$text"* ]] || fail "$code: \"$documented\" does not begin with \"$text\""
    done <<<"$expected"
    assert_equal "$(sed -n '/^## Exit codes/,/^## /p' "$BATS_TEST_DIRNAME/../../docs/cli.md" |
        grep -c '^| [0-9]')" 7
}
