#!/usr/bin/env bats
# The workloads made from recordings: who is worse than whom, and that they follow from their data.
# shellcheck disable=SC2154 # bats and the loaded files set them

bats_require_minimum_version 1.5.0
load common

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
}

@test "torch-encoder: glibc's heaps of tensors are the largest; jemalloc alone gives back" {
    replay torch-encoder
    holds 'ptmalloc2.peak_footprint_bytes > 1.2 * jemalloc.peak_footprint_bytes'
    holds 'ptmalloc2.peak_footprint_bytes > 1.2 * mimalloc.peak_footprint_bytes'
    holds 'tcmalloc.ratio_peak < 1.3'
    holds 'jemalloc.kept_bytes < 16 MiB'
    holds 'tcmalloc.kept_bytes > 5 * jemalloc.kept_bytes'
    holds 'mimalloc.kept_bytes > 5 * jemalloc.kept_bytes'
}

@test "torch-encoder: thresholds that do not rise keep ptmalloc2 near the data" {
    replay torch-encoder -a ptmalloc2:trim_threshold=131072
    jq -e '[.cells[] | select(.allocator.spec | startswith("ptmalloc2:")) |
        .summary.ratio_peak.median] | length == 1 and .[0] < 1.15' result.json >/dev/null ||
        fail "$(jq -c '[.cells[] | [.allocator.spec, .summary.ratio_peak.median]]' result.json)"
}

@test "torch-decoder-kv: nobody is far from the data; tcmalloc and mimalloc keep most" {
    replay torch-decoder-kv
    everyone 'ratio_peak < 1.3'
    holds 'tcmalloc.kept_bytes > 1.5 * jemalloc.kept_bytes'
    holds 'mimalloc.kept_bytes > 1.5 * jemalloc.kept_bytes'
    holds 'tcmalloc.retained_purged_bytes > 1.2 * mimalloc.retained_purged_bytes'
}

@test "ort-dynamic: tcmalloc uses again what the others hold twice" {
    replay ort-dynamic
    holds 'tcmalloc.ratio_peak < 1.6'
    holds 'ptmalloc2.peak_footprint_bytes > 1.5 * tcmalloc.peak_footprint_bytes'
    holds 'jemalloc.peak_footprint_bytes > 1.5 * tcmalloc.peak_footprint_bytes'
    holds 'jemalloc.kept_bytes < 8 MiB'
    holds 'ptmalloc2.kept_bytes > 4 * jemalloc.kept_bytes'
}

@test "make-workload.py --check: notices data that the workload does not follow from" {
    cp -r "$WORKLOADS" workloads
    run workloads/data/make-workload.py --check
    [[ $status -eq 0 ]] || fail "$output"
    sed -i 's/^64,10416,/64,99999,/' workloads/data/torch-encoder.life.csv
    run workloads/data/make-workload.py --check
    [[ $status -eq 1 && $output == *torch-encoder.yaml* && $output != *ort-dynamic* ]] ||
        fail "$status: $output"
    workloads/data/make-workload.py torch-encoder
    run workloads/data/make-workload.py --check
    [[ $status -eq 0 ]] || fail "$output"
    "$FRAGBENCH" check workloads/torch-encoder.yaml >/dev/null
}
