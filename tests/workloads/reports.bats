#!/usr/bin/env bats
# What the head comments of the workloads after public reports, and of the controls, say, at
# their small scale. Bounds are loose, as in directions.bats.
# shellcheck disable=SC2154 # bats and the loaded files set them

bats_require_minimum_version 1.5.0
load common

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
}

@test "request-bodies: what the bodies leave behind" {
    replay request-bodies
    everyone 'ratio_peak < 1.7'
    holds 'tcmalloc.kept_bytes > 2 * jemalloc.kept_bytes'
    holds 'ptmalloc2.kept_bytes > 1.8 * jemalloc.kept_bytes'
    holds 'tcmalloc.kept_bytes > 2 * mimalloc.kept_bytes'
    holds 'ptmalloc2.retained_purged_bytes < 2 MiB'
    everyone 'retained_purged_bytes < 24 MiB'
}

@test "aligned-tensors: ptmalloc2 uses no hole again" {
    replay aligned-tensors
    holds 'jemalloc.ratio_peak < 1.1'
    holds 'mimalloc.ratio_peak < 1.1'
    holds 'tcmalloc.ratio_peak < 1.3'
    until_glibc 2.38
    # Of 12 tensors of 16 MiB at least 9 are kept.
    holds 'ptmalloc2.kept_bytes > 144 MiB'
    holds 'ptmalloc2.retained_purged_bytes < 1 MiB'
}

@test "aligned-tensors: unaligned, or each with a mapping of its own, is harmless" {
    replay aligned-tensors -L align=16
    holds 'ptmalloc2.ratio_peak < 1.6'
    also mapped aligned-tensors -a ptmalloc2:mmap_threshold=1048576
    holds 'mapped.ratio_peak < 1.02'
}

@test "mass-free: ptmalloc2 keeps small blocks until a large call" {
    replay mass-free
    everyone 'silence_footprint_bytes > 20 MiB'
    holds 'ptmalloc2.large_call_footprint_bytes < 1 MiB'
    holds 'jemalloc.large_call_footprint_bytes > 20 MiB'
    holds 'tcmalloc.large_call_footprint_bytes > 20 MiB'
    holds 'mimalloc.large_call_footprint_bytes > 20 MiB'
}

@test "mass-free: from 136 B on ptmalloc2 gives back at once" {
    replay mass-free -L size=136
    holds 'ptmalloc2.drop_footprint_bytes < 0.1 * ptmalloc2.peak_live_bytes'
    holds 'tcmalloc.drop_footprint_bytes > 20 MiB'
    holds 'mimalloc.drop_footprint_bytes > 20 MiB'
}

@test "mid-chunks: warmed by one freed block, ptmalloc2 keeps every chunk" {
    replay mid-chunks
    holds 'ptmalloc2.kept_bytes > 0.99 * ptmalloc2.peak_live_bytes'
    holds 'tcmalloc.kept_bytes > 0.99 * tcmalloc.peak_live_bytes'
    holds 'mimalloc.kept_bytes > 0.99 * mimalloc.peak_live_bytes'
    holds 'jemalloc.kept_bytes < 0.8 * jemalloc.peak_live_bytes'
    also cured mid-chunks -a ptmalloc2:trim_threshold=65536
    holds 'cured.kept_bytes < 1 MiB'
}

@test "mid-chunks: cold, ptmalloc2 gives them back, unless its threshold was raised by hand" {
    replay mid-chunks -L warm=0
    holds 'ptmalloc2.kept_bytes < 1 MiB'
    also raised mid-chunks -L warm=0 -a ptmalloc2:mmap_threshold=1048576
    holds 'raised.kept_bytes > 0.99 * raised.peak_live_bytes'
}

@test "first-fit-worst: half the number of rounds is the ratio, whatever the allocator" {
    replay first-fit-worst
    everyone 'ratio_peak > 3.7'
    everyone 'ratio_peak < 4.5'
    holds 'ptmalloc2.ratio_peak < 4.1'
    also eager first-fit-worst -a jemalloc:dirty_decay_ms=0
    holds 'eager.ratio_peak < 0.95 * jemalloc.ratio_peak'
}

@test "control-cache: a cache is data, not fragmentation" {
    replay control-cache
    everyone 'ratio_peak < 1.05'
    everyone 'ratio_end < 1.15'
    # More than the workspace of a request is never kept, and a purge gets only that.
    everyone 'kept_bytes < 14 MiB'
    everyone 'end_footprint_bytes > 133 MiB'
    everyone 'retained_purged_bytes < 6 MiB'
}

@test "control-leak: the ratio does not grow with a leak" {
    replay control-leak
    everyone 'drift < 1'
    holds 'ptmalloc2.ratio_end < 1.1'
    holds 'jemalloc.ratio_end < 1.25'
    holds 'mimalloc.ratio_end < 1.25'
    # 6,800 B take a block of 8 KiB.
    holds 'tcmalloc.ratio_end < 1.5'
    for name in ptmalloc2 jemalloc tcmalloc mimalloc; do
        holds "$name.retained_idle_10s_bytes - $name.retained_purged_bytes < 3 MiB"
    done
}
