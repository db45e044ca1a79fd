#!/usr/bin/env bats
# Bad command lines, help and version.

bats_require_minimum_version 1.5.0
load common

@test "no command: usage on stderr, exit 2" {
    run --separate-stderr "$FRAGBENCH"
    assert_status 2
    assert_equal "$output" ""
    assert_contains "$stderr" "COMMAND"
}

@test "unknown command: suggestion, exit 2" {
    run --separate-stderr "$FRAGBENCH" chekc
    assert_status 2
    assert_equal "$output" ""
    assert_contains "$stderr" 'unknown command "chekc"; did you mean "check"?'
}

@test "--version prints the version" {
    run --separate-stderr "$FRAGBENCH" --version
    assert_status 0
    [[ $output =~ ^fragbench\ [0-9]+\.[0-9]+\.[0-9]+$ ]] || fail "$output"
}

@test "--help lists every command and the exit codes" {
    run --separate-stderr "$FRAGBENCH" --help
    assert_status 0
    for word in run compare check list doctor "Exit codes:" "128+n"; do
        assert_contains "$output" "$word"
    done
}

@test "every command has --help with the exit codes" {
    for command in run compare check list doctor; do
        run --separate-stderr "$FRAGBENCH" "$command" --help
        assert_status 0
        assert_contains "$output" "fragbench $command"
        assert_contains "$output" "Exit codes:"
    done
}

@test "run --help names the export formats" {
    run --separate-stderr "$FRAGBENCH" run --help
    assert_contains "$output" "markdown"
    assert_contains "$output" "json"
}

@test "run without a workload: exit 2" {
    run --separate-stderr "$FRAGBENCH" run
    assert_status 2
    assert_contains "$stderr" "no workload given"
}

@test "bad option values: exit 2, the option and what it takes are named" {
    local cases=(
        "--layouts 0|--layouts \"0\": must be a number from 1 to 64"
        "--layouts three|--layouts \"three\""
        "--jobs -1|--jobs \"-1\""
        "--clock fast|must be virtual or real"
        "--thp maybe|must be advised, always or never"
        "--color red|must be auto, always or never"
        "--scale 0|must be a number above 0"
        "--scale nan|must be a number above 0"
        "--timeout 10|--timeout \"10\""
        "--interval 1ns|at least 1ms"
        "--memory-limit lots|--memory-limit \"lots\""
        "--export xml=out|formats: "
        "--export json|write FORMAT=FILE"
        "-L count|write VAR=VALUE"
        "-L count=1,,2|a value is empty"
        "--nonsense|unrecognized option"
    )
    for case in "${cases[@]}"; do
        # shellcheck disable=SC2086 # the options are words
        run --separate-stderr "$FRAGBENCH" run ${case%%|*} tiny.yaml
        assert_status 2
        assert_equal "$output" ""
        assert_contains "$stderr" "${case#*|}"
    done
}

@test "a parameter given twice: exit 2" {
    run --separate-stderr "$FRAGBENCH" run -L count=1 -L count=2 tiny.yaml
    assert_status 2
    assert_contains "$stderr" "-L count is given twice"
}

@test "two documents into one file: exit 2" {
    run --separate-stderr "$FRAGBENCH" run --export json=- --export csv=- tiny.yaml
    assert_status 2
    assert_contains "$stderr" "two documents"
}

@test "unknown allocator: suggestion, exit 2, nothing made" {
    run --separate-stderr "$FRAGBENCH" run -a jemaloc tiny.yaml
    assert_status 2
    assert_contains "$stderr" "jemalloc"
    [[ ! -e results ]]
}

@test "unknown workload name: suggestion, exit 2" {
    mkdir workloads
    cp tiny.yaml workloads/
    run --separate-stderr "$FRAGBENCH" run tinny
    assert_status 2
    assert_contains "$stderr" 'no workload "tinny"; did you mean "tiny"?'
}

@test "a workload path that is not there: exit 2" {
    run --separate-stderr "$FRAGBENCH" run missing.yaml
    assert_status 2
    assert_contains "$stderr" "missing.yaml"
}

@test "a full standard output: exit 3" {
    run bash -c '"$FRAGBENCH" list keys >/dev/full'
    assert_status 3
    assert_contains "$output" "cannot write to standard output"
}
