#!/usr/bin/env bats
# What the head comments of the workloads with threads say, at their small scale. Bounds are loose,
# as in directions.bats. Arenas depend on the number of CPUs, so nothing here needs more than 8.
# shellcheck disable=SC2154 # bats and the loaded files set them

bats_require_minimum_version 1.5.0
load common

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
}

@test "thread-churn: results that outlive their threads hold what the threads used" {
    replay thread-churn
    everyone 'ratio_peak < 1.8'
    holds 'ptmalloc2.ratio_end > 1.4 * jemalloc.ratio_end'
    holds 'tcmalloc.ratio_end > ptmalloc2.ratio_end'
    holds 'mimalloc.ratio_end > ptmalloc2.ratio_end'
    also one thread-churn -a ptmalloc2:arena_max=1
    holds 'one.ratio_end > 0.75 * ptmalloc2.ratio_end'
}

@test "pool-per-request: jemalloc gives back, the others keep what the threads left" {
    replay pool-per-request
    holds 'jemalloc.ratio_end < 2.2'
    holds 'ptmalloc2.ratio_end > 2 * jemalloc.ratio_end'
    holds 'tcmalloc.ratio_end > 2 * jemalloc.ratio_end'
    holds 'mimalloc.ratio_end > 2 * jemalloc.ratio_end'
    also one pool-per-request -a ptmalloc2:arena_max=1
    holds 'one.peak_footprint_bytes < 0.8 * ptmalloc2.peak_footprint_bytes'
}

@test "pool-per-request: a pinned mmap threshold trades memory for page faults" {
    replay pool-per-request
    also pinned pool-per-request -a ptmalloc2:mmap_threshold=1048576
    holds 'pinned.peak_footprint_bytes < 0.85 * ptmalloc2.peak_footprint_bytes'
    holds 'pinned.minor_faults > 10 * ptmalloc2.minor_faults'
}

@test "buffer-cycling: one buffer a thread stays under ptmalloc2 and mimalloc" {
    replay buffer-cycling
    holds 'ptmalloc2.ratio_peak > 6'
    holds 'mimalloc.ratio_peak > 6'
    holds 'tcmalloc.ratio_peak < 1.6'
    holds 'jemalloc.ratio_peak < 1.4'
    # malloc_trim leaves the tops of all arenas but the main one.
    holds 'ptmalloc2.retained_purged_bytes > 60 MiB'
    holds 'mimalloc.retained_purged_bytes < 4 MiB'
}

@test "buffer-cycling: an arena, a buffer; with its own mapping, none" {
    replay buffer-cycling
    also one buffer-cycling -a ptmalloc2:arena_max=1
    also two buffer-cycling -a ptmalloc2:arena_max=2
    also mapped buffer-cycling -a ptmalloc2:mmap_threshold=1048576
    holds 'one.kept_bytes < 12 MiB'
    holds 'two.kept_bytes > 20 MiB'
    holds 'two.kept_bytes < 25 MiB'
    holds 'ptmalloc2.kept_bytes > 3 * two.kept_bytes'
    holds 'mapped.kept_bytes < 1 MiB'
    holds 'mapped.minor_faults > 3 * ptmalloc2.minor_faults'
}

@test "frame-pipeline: ptmalloc2 has the highest peak, and a fixed mmap threshold cures it" {
    replay frame-pipeline
    everyone 'ratio_peak < 1.35'
    everyone 'kept_bytes > 80 MiB'
    holds 'ptmalloc2.ratio_peak > 1.05 * jemalloc.ratio_peak'
    holds 'ptmalloc2.ratio_peak > 1.05 * tcmalloc.ratio_peak'
    holds 'ptmalloc2.ratio_peak > 1.05 * mimalloc.ratio_peak'
    also pinned frame-pipeline -a ptmalloc2:mmap_threshold=131072
    holds 'pinned.ratio_peak < 1.03'
    holds 'pinned.kept_bytes < 4 MiB'
}

@test "thread-burst: a survivor a thread holds the whole burst" {
    replay thread-burst
    holds 'ptmalloc2.burst_footprint_bytes > 0.99 * ptmalloc2.peak_live_bytes'
    holds 'tcmalloc.burst_footprint_bytes > 0.99 * tcmalloc.peak_live_bytes'
    holds 'mimalloc.burst_footprint_bytes > 0.99 * mimalloc.peak_live_bytes'
    holds 'ptmalloc2.retained_active_10s_bytes > 50 MiB'
    holds 'ptmalloc2.retained_purged_bytes < 1 MiB'
    # The price of cache_oblivious: a page for each block of 16 KiB.
    holds 'jemalloc.peak_footprint_bytes > 1.15 * ptmalloc2.peak_footprint_bytes'
}

@test "thread-burst: without the survivors ptmalloc2 gives the burst back at once" {
    replay thread-burst -L survivors=0
    holds 'ptmalloc2.burst_footprint_bytes < 4 MiB'
    holds 'tcmalloc.burst_footprint_bytes > 0.99 * tcmalloc.peak_live_bytes'
    holds 'mimalloc.burst_footprint_bytes > 0.99 * mimalloc.peak_live_bytes'
}

@test "continuous-batching: no case against ptmalloc2; all keep everything at the end" {
    replay continuous-batching
    everyone 'ratio_peak < 1.6'
    holds 'ptmalloc2.ratio_peak < 1.15'
    holds 'jemalloc.ratio_peak > 1.1 * ptmalloc2.ratio_peak'
    holds 'tcmalloc.ratio_peak > 1.1 * ptmalloc2.ratio_peak'
    holds 'mimalloc.ratio_peak > 1.1 * ptmalloc2.ratio_peak'
    everyone 'kept_bytes > 40 MiB'
    also eager continuous-batching -a jemalloc:dirty_decay_ms=0
    holds 'eager.kept_bytes < 0.3 * jemalloc.kept_bytes'
}

@test "variable-shapes: holes of the wrong size, most of them under ptmalloc2" {
    replay variable-shapes
    holds 'tcmalloc.ratio_peak < 1.8'
    holds 'jemalloc.ratio_peak > 1.5 * tcmalloc.ratio_peak'
    holds 'mimalloc.ratio_peak > 1.5 * tcmalloc.ratio_peak'
    holds 'ptmalloc2.ratio_peak > 2 * tcmalloc.ratio_peak'
    holds 'ptmalloc2.retained_purged_bytes > 50 MiB'
    also trimmed variable-shapes -a ptmalloc2:trim_threshold=65536
    holds 'trimmed.ratio_peak < 1.3'
    holds 'trimmed.minor_faults > 2 * ptmalloc2.minor_faults'
}

@test "variable-shapes: alignment costs ptmalloc2 more, and nobody else" {
    replay variable-shapes
    until_glibc 2.38
    also plain variable-shapes -a ptmalloc2 -L align=16
    holds 'plain.peak_footprint_bytes < 0.85 * ptmalloc2.peak_footprint_bytes'
    also unaligned variable-shapes -a jemalloc -L align=16
    holds 'unaligned.peak_footprint_bytes > 0.95 * jemalloc.peak_footprint_bytes'
    also unaligned variable-shapes -a tcmalloc -L align=16
    holds 'unaligned.peak_footprint_bytes > 0.95 * tcmalloc.peak_footprint_bytes'
}

@test "idle-threads: what a thread costs before it does anything" {
    replay idle-threads
    holds 'ptmalloc2.peak_footprint_bytes < 2 MiB'
    holds 'jemalloc.end_footprint_bytes > 2 * ptmalloc2.end_footprint_bytes'
    holds 'mimalloc.end_footprint_bytes > 2 * ptmalloc2.end_footprint_bytes'
    holds 'tcmalloc.startup_bytes > 0.7 * tcmalloc.end_footprint_bytes'
    # One block of 64 KiB on each thread, and mimalloc keeps it.
    holds 'mimalloc.retained_active_10s_bytes > 2 * mimalloc.retained_idle_10s_bytes'
    holds 'mimalloc.retained_purged_bytes > 2 * mimalloc.retained_idle_10s_bytes'
}

@test "embedding-batch: growth by realloc costs those most who wait to give back" {
    replay embedding-batch
    holds 'jemalloc.ratio_peak > 1.5 * ptmalloc2.ratio_peak'
    holds 'mimalloc.ratio_peak > 1.5 * ptmalloc2.ratio_peak'
    holds 'ptmalloc2.ratio_peak > 1.5'
    holds 'ptmalloc2.retained_purged_bytes > 0.6 * ptmalloc2.kept_bytes'
    also eager embedding-batch -a jemalloc:dirty_decay_ms=0
    holds 'eager.ratio_peak < 0.5 * jemalloc.ratio_peak'
    also trimmed embedding-batch -a ptmalloc2:trim_threshold=65536
    holds 'trimmed.ratio_peak < 0.7 * ptmalloc2.ratio_peak'
}

@test "four-to-sixteen: many arenas, and peaks one at a time" {
    replay four-to-sixteen
    holds 'ptmalloc2.ratio_peak > 2'
    holds 'ptmalloc2.ratio_peak > 1.5 * tcmalloc.ratio_peak'
    holds 'jemalloc.ratio_peak > 1.2 * tcmalloc.ratio_peak'
    also one four-to-sixteen -a ptmalloc2:arena_max=1
    holds 'one.ratio_peak < 1.1'
    also spread four-to-sixteen -a ptmalloc2 -L prompts=6
    holds 'spread.ratio_peak < 1.2'
    # Neither small survivors nor a heap that is not trimmed are the reason.
    also bare four-to-sixteen -a ptmalloc2 -L sessions=0
    holds 'bare.ratio_peak > 2'
    also trimmed four-to-sixteen -a ptmalloc2:trim_threshold=65536
    holds 'trimmed.ratio_peak > 2'
}

@test "contiguous-64m: the batch is served everywhere, out of new memory" {
    replay contiguous-64m
    everyone 'arrival_footprint_bytes > 16 MiB'
    holds 'ptmalloc2.arrival_footprint_bytes - ptmalloc2.serve_footprint_bytes > 7.9 MiB'
    holds 'jemalloc.arrival_footprint_bytes - jemalloc.serve_footprint_bytes > 7.9 MiB'
    holds 'mimalloc.arrival_footprint_bytes - mimalloc.serve_footprint_bytes > 7.9 MiB'
    holds 'ptmalloc2.serve_footprint_bytes > 10 * ptmalloc2.load_footprint_bytes'
}
