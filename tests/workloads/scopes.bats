#!/usr/bin/env bats
# What the head comments of the workloads with scopes say of general allocators, at their small
# scale. Bounds are loose, as in directions.bats.
# shellcheck disable=SC2154 # bats and the loaded files set them

bats_require_minimum_version 1.5.0
load common

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
}

@test "request-scope: a small share of the memory; the caches are what stays" {
    replay request-scope
    everyone 'ratio_peak < 1.4'
    holds 'jemalloc.kept_bytes > 1.2 * ptmalloc2.kept_bytes'
    holds 'tcmalloc.kept_bytes > 1.2 * ptmalloc2.kept_bytes'
    holds 'mimalloc.kept_bytes > 1.2 * ptmalloc2.kept_bytes'
}

@test "arena-reuse: threads made anew cost more than threads that stay" {
    replay arena-reuse
    for name in ptmalloc2 jemalloc tcmalloc mimalloc; do
        holds "$name.made_anew_footprint_bytes > $name.reused_footprint_bytes + 1 MiB"
    done
    holds 'jemalloc.minor_faults > 3 * ptmalloc2.minor_faults'
    holds 'mimalloc.minor_faults > 3 * ptmalloc2.minor_faults'
}

@test "long-stream: what cannot go before the stream ends" {
    replay long-stream
    everyone 'peak_live_bytes > 20 MiB'
    everyone 'peak_footprint_bytes > 20 MiB'
    replay long-stream -L 'life={ops: 50}'
    everyone 'peak_live_bytes < 1 MiB'
    everyone 'peak_footprint_bytes < 8 MiB'
}

@test "arena-chunk: buffers of all sizes, a stock for each thread" {
    replay arena-chunk
    everyone 'ratio_peak < 3'
    holds 'ptmalloc2.ratio_peak < 1.6'
    holds 'jemalloc.ratio_peak > 1.1 * ptmalloc2.ratio_peak'
    holds 'tcmalloc.ratio_peak > 1.1 * ptmalloc2.ratio_peak'
    holds 'mimalloc.ratio_peak > 1.1 * ptmalloc2.ratio_peak'
    also eager arena-chunk -a mimalloc:reset_delay=0
    holds 'eager.ratio_peak < 0.8 * mimalloc.ratio_peak'
}

@test "forward-pass: in stack order ptmalloc2 gives every layer back and faults it in again" {
    replay forward-pass
    everyone 'ratio_peak < 1.25'
    holds 'ptmalloc2.minor_faults > 4 * jemalloc.minor_faults'
    holds 'ptmalloc2.minor_faults > 4 * tcmalloc.minor_faults'
    holds 'ptmalloc2.minor_faults > 4 * mimalloc.minor_faults'
    also padded forward-pass -a ptmalloc2:top_pad=67108864
    holds 'padded.minor_faults < 0.25 * ptmalloc2.minor_faults'
    holds 'padded.kept_bytes > 2 * ptmalloc2.kept_bytes'
}
