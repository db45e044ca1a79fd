#!/usr/bin/env bats
# A budget that bites: over-budget at its small scale, which needs 447 MiB, in 192 MiB. Refused caches
# degrade their requests, and the service goes on to its end.
# shellcheck disable=SC2154,SC2016 # bats and the loaded files set them; $budget is jq's

bats_require_minimum_version 1.5.0
load common

budget=$((192 << 20))
# What docs/budgeted.md promises of the mode "footprint": 1/32 of the budget and 1 MiB.
slack=$((budget / 32 + (1 << 20)))

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
}

# under_budget SPEC: one cell that refused, as one object in cell.json.
under_budget() {
    measure_small over-budget -a "$1" >result.json
    jq -e '.cells[0].status != "not-installed"' result.json >/dev/null || skip "$1: not installed"
    jq '.cells[0] | .status as $status | .summary as $summary | .repetitions[0] | {
        status: $status, refused, degraded_iterations,
        iterations: [.phases[].iterations] | max,
        end_live: $summary.end_live_bytes.median, footprint: $summary.peak_footprint_bytes.median,
        charged: [.checkpoints[].allocator.budget_peak_bytes] | max}' result.json >cell.json
}

says() { # JQ_CLAIM
    jq -e --argjson budget "$budget" --argjson slack "$slack" "$1" cell.json >/dev/null ||
        fail "does not hold: $1" "$(cat cell.json)"
}

degrades_and_goes_on() {
    says '.status == "refused"'
    says '.refused >= 5 and .degraded_iterations == .refused'
    says '.iterations == 100'
    says '.end_live == 134217728'
    says '.charged > 0.9 * $budget and .charged <= $budget'
}

@test "over-budget: without a limit everybody needs more than twice the budget" {
    replay over-budget
    everyone 'peak_footprint_bytes > 384 MiB'
    everyone 'end_live_bytes == 128 MiB'
}

@test "over-budget: what is handed out stays below the budget, degraded requests are counted" {
    for inner in '' +jemalloc +tcmalloc +mimalloc; do
        under_budget "budgeted:budget=192MiB$inner"
        degrades_and_goes_on
    done
}

@test "over-budget: in the mode footprint so does what is resident, within its slack" {
    for inner in '' +jemalloc +tcmalloc +mimalloc; do
        under_budget "budgeted:budget=192MiB,mode=footprint$inner"
        degrades_and_goes_on
        says '.footprint <= $budget + $slack'
    done
}

@test "over-budget: handed-out bytes are no footprint; ptmalloc2's holes come on top" {
    under_budget budgeted:budget=192MiB
    says '.footprint > $budget + $slack'
}
