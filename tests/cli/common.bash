# Shared by the bats files: a folder a case, small workloads, and what every case asserts with.
# shellcheck shell=bash

setup() {
    [[ -x ${FRAGBENCH:-} ]] || {
        echo "set FRAGBENCH to the program under test" >&2
        return 1
    }
    unset NO_COLOR
    cd "$BATS_TEST_TMPDIR" || return 1
    write_tiny
}

# 10 iterations of 100 blocks of 1 KiB, freed at their iteration's end, over 1 MiB that stays.
write_tiny() {
    cat >tiny.yaml <<'EOF'
fragbench: 1
name: tiny
description: Small blocks over one that stays. Made for tests.
seed: 7
params: {count: 100}
objects:
  base:  {size: 1MiB, lifetime: run}
  small: {size: 1KiB, lifetime: iteration}
phases:
  - {name: load, allocate: {base: 1}}
  - {name: serve, iterations: 10, every: 100ms, allocate: {small: $count}}
EOF
}

# Reaches the marked size of the faulty allocators (tests/cli/faulty.c) in its second phase.
write_marked() {
    cat >marked.yaml <<'EOF'
fragbench: 1
name: marked
objects:
  base: {size: 64KiB, lifetime: run}
  mark: {size: 7777, lifetime: phase}
phases:
  - {name: load, allocate: {base: 8}}
  - {name: trip, allocate: {mark: 1}}
EOF
}

# Takes some seconds: many small blocks.
write_slow() {
    cat >slow.yaml <<'EOF'
fragbench: 1
name: slow
objects:
  small: {size: {uniform: [16, 4096]}, lifetime: {iterations: 3}}
phases:
  - {name: grind, iterations: 40, allocate: {small: 50000}}
EOF
}

fail() {
    printf '%s\n' "$@" >&2
    return 1
}

assert_status() {
    # shellcheck disable=SC2154 # bats sets them
    [[ $status -eq $1 ]] || fail "status $status, expected $1" "$output" "${stderr:-}"
}

assert_contains() { # TEXT PART
    [[ $1 == *"$2"* ]] || fail "expected \"$2\" in:" "$1"
}

refute_contains() {
    [[ $1 != *"$2"* ]] || fail "did not expect \"$2\" in:" "$1"
}

assert_equal() {
    [[ $1 == "$2" ]] || fail "got:      $1" "expected: $2"
}

# The metrics of all repetitions that are exact under the virtual clock.
exact_metrics() { # RESULT.json
    jq -cS '[.cells[] | {id, status, metrics: [.repetitions[].metrics
        | with_entries(select(.key | endswith("_bytes") or startswith("ratio")))]}]' "$1"
}
