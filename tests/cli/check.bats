#!/usr/bin/env bats
# `check`: numbers by hand calculation, all faults of all files, refusals.

bats_require_minimum_version 1.5.0
load common

# tiny.yaml: 1 + 10 × 100 = 1,001 objects; 1,000 are freed again: 2,001 operations.
# Allocated: 1 MiB + 1,000 KiB = 2,072,576 B = 1.977 MiB. Peak live: 1 MiB + 100 KiB = 1.098 MiB.
@test "the numbers of a small workload" {
    run --separate-stderr "$FRAGBENCH" check tiny.yaml
    assert_status 0
    assert_equal "$stderr" ""
    [[ $output =~ objects\ +1,001 ]] || fail "$output"
    assert_contains "$output" "at most 101 alive at once"
    [[ $output =~ operations\ +2,001 ]] || fail "$output"
    assert_contains "$output" "1,001 allocations, 1,000 frees, 0 reallocations"
    [[ $output =~ bytes\ allocated\ +1\.977\ MiB ]] || fail "$output"
    [[ $output =~ peak\ live\ +1\.098\ MiB ]] || fail "$output"
    [[ $output =~ end\ live\ +1\ MiB ]] || fail "$output"
}

# Paces at 0, 100, … 900 ms; the last iteration begins at 900 ms and its 100 allocations (100 ns + 128 ns of
# touching each) and 100 frees (100 ns) take 32,800 ns.
@test "the virtual time is the last pace and what follows it" {
    run --separate-stderr "$FRAGBENCH" check tiny.yaml
    [[ $output =~ virtual\ time\ +900(\.[0-9]+)?\ ms ]] || fail "$output"
}

@test "the phase table" {
    run --separate-stderr "$FRAGBENCH" check tiny.yaml
    [[ $output =~ load\ +-\ +1\ +0\ +0\ +1\ MiB\ +1\ MiB\ +1\ MiB ]] || fail "$output"
    [[ $output =~ serve\ +10\ +1,000\ +1,000\ +0\ +1000\ KiB\ +1\.098\ MiB\ +1\ MiB ]] ||
        fail "$output"
}

@test "--scale and -L change the numbers" {
    run --separate-stderr "$FRAGBENCH" check --scale 0.5 -L count=10,20 tiny.yaml
    assert_status 0
    assert_contains "$output" "tiny/count=10"
    [[ $output =~ objects\ +51\  ]] || fail "$output"
    assert_contains "$output" "tiny/count=20"
    [[ $output =~ objects\ +101\  ]] || fail "$output"
}

@test "all faults of all files, exit 2, nothing on stdout" {
    sed 's/serve, iterations/serve, iteratons/; s/1KiB/1Kib/' tiny.yaml >first.yaml
    sed 's/small: \$count/smal: 1/' tiny.yaml >second.yaml
    run --separate-stderr "$FRAGBENCH" check first.yaml second.yaml tiny.yaml
    assert_status 2
    assert_equal "$output" ""
    assert_contains "$stderr" "fragbench: first.yaml:11:"
    assert_contains "$stderr" 'did you mean "iterations"?'
    assert_contains "$stderr" "first.yaml:8:"
    assert_contains "$stderr" "fragbench: second.yaml:11:"
    assert_contains "$stderr" "2 of 3 workloads cannot be used"
}

@test "an override the file does not declare is a fault with a suggestion" {
    run --separate-stderr "$FRAGBENCH" check -L cuont=1 tiny.yaml
    assert_status 2
    assert_contains "$stderr" "count"
}

@test "10^12 objects are refused at once, with the numbers" {
    sed 's/iterations: 10/iterations: 10000000000/' tiny.yaml >huge.yaml
    run --separate-stderr timeout 5 "$FRAGBENCH" check huge.yaml
    assert_status 2
    assert_equal "$output" ""
    assert_contains "$stderr" "huge.yaml"
    [[ $stderr =~ 1,000,000,000,[0-9]{3} ]] || fail "$stderr"
}

@test "a peak above this machine's memory is refused with both numbers" {
    sed 's/1MiB/60TiB/' tiny.yaml >fat.yaml
    run --separate-stderr "$FRAGBENCH" check fat.yaml
    assert_status 2
    assert_contains "$stderr" "60 TiB"
    assert_contains "$stderr" "available here"
}

@test "two files of one name cannot be told apart" {
    cp tiny.yaml other.yaml
    run --separate-stderr "$FRAGBENCH" check tiny.yaml other.yaml
    assert_status 2
    assert_contains "$stderr" 'both named "tiny"'
}
