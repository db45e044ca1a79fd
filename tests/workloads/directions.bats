#!/usr/bin/env bats
# What each workload's head comment says, at its small scale: who is worse than whom, and a bound.
# Bounds are loose on purpose: they hold for other versions of the allocators too. The figures to
# the byte are exact.tsv's business.
# shellcheck disable=SC2154 # bats and the loaded files set them

bats_require_minimum_version 1.5.0
load common

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
}

@test "burst-then-idle: one survivor keeps a burst under all but jemalloc" {
    replay burst-then-idle
    holds 'ptmalloc2.burst_footprint_bytes > 0.99 * ptmalloc2.peak_live_bytes'
    holds 'tcmalloc.burst_footprint_bytes > 0.99 * tcmalloc.peak_live_bytes'
    holds 'mimalloc.burst_footprint_bytes > 0.99 * mimalloc.peak_live_bytes'
    holds 'jemalloc.burst_footprint_bytes < 0.8 * jemalloc.peak_footprint_bytes'
    # Silence gives nothing back, under anybody.
    everyone 'silence_footprint_bytes > 50 MiB'
    holds 'ptmalloc2.retained_active_10s_bytes > 50 MiB'
    everyone 'retained_purged_bytes < 8 MiB'
}

@test "burst-then-idle: without the survivor ptmalloc2 gives the burst back at once" {
    replay burst-then-idle -L survivors=0
    holds 'ptmalloc2.burst_footprint_bytes < 1 MiB'
    holds 'tcmalloc.burst_footprint_bytes > 0.99 * tcmalloc.peak_live_bytes'
    holds 'mimalloc.burst_footprint_bytes > 0.99 * mimalloc.peak_live_bytes'
}

@test "eviction-refill: ptmalloc2 joins holes and wins" {
    replay eviction-refill
    # Deleting a third gives nothing back, under anybody.
    everyone 'delete_footprint_bytes > 0.95 * ptmalloc2.fill_footprint_bytes'
    holds 'ptmalloc2.ratio_end < 1.25'
    holds 'jemalloc.ratio_end > 1.2 * ptmalloc2.ratio_end'
    holds 'tcmalloc.ratio_end > 1.2 * ptmalloc2.ratio_end'
    holds 'mimalloc.ratio_end > 1.2 * ptmalloc2.ratio_end'
}

@test "heap-top-pin: one small object holds ptmalloc2's heap until it is purged" {
    replay heap-top-pin
    holds 'ptmalloc2.kept_bytes > 0.95 * ptmalloc2.peak_live_bytes'
    holds 'ptmalloc2.retained_active_10s_bytes > 0.95 * ptmalloc2.peak_live_bytes'
    holds 'ptmalloc2.retained_purged_bytes < 0.1 * ptmalloc2.kept_bytes'
    holds 'tcmalloc.kept_bytes > 0.95 * tcmalloc.peak_live_bytes'
    holds 'mimalloc.kept_bytes > 0.95 * mimalloc.peak_live_bytes'
    holds 'jemalloc.kept_bytes < 0.4 * jemalloc.peak_live_bytes'
    # The price: jemalloc adds a page to each block of 64 KiB.
    holds 'jemalloc.peak_footprint_bytes > 1.04 * ptmalloc2.peak_footprint_bytes'
}

@test "inference-mixed: ptmalloc2 gives back most of each request, the others keep it all" {
    replay inference-mixed
    everyone 'ratio_peak < 1.2'
    holds 'ptmalloc2.kept_bytes < 30 MiB'
    holds 'jemalloc.kept_bytes > 2 * ptmalloc2.kept_bytes'
    holds 'tcmalloc.kept_bytes > 2 * ptmalloc2.kept_bytes'
    holds 'mimalloc.kept_bytes > 2 * ptmalloc2.kept_bytes'
}

@test "inference-service: near 1 at the peak for all; only tcmalloc keeps the buffer" {
    replay inference-service
    everyone 'ratio_peak < 1.03'
    holds 'ptmalloc2.ratio_end < 1.01'
    holds 'jemalloc.ratio_end < 1.01'
    holds 'mimalloc.ratio_end < 1.01'
    holds 'tcmalloc.kept_bytes > 49 MiB'
    holds 'tcmalloc.retained_purged_bytes < 8 MiB'
}

@test "inference-service to the letter: nothing is written, so nothing is used" {
    replay inference-service -L call=calloc -L touch=none
    holds 'ptmalloc2.ratio_peak < 0.01'
    holds 'ptmalloc2.peak_footprint_bytes < 1 MiB'
    holds 'jemalloc.peak_footprint_bytes < 2 MiB'
}

@test "kv-cache-growth: a modest peak, several times the data at the end" {
    replay kv-cache-growth
    everyone 'ratio_peak < 1.4'
    everyone 'ratio_end > 3.5'
    holds 'jemalloc.kept_bytes < 0.7 * ptmalloc2.kept_bytes'
    holds 'tcmalloc.kept_bytes > ptmalloc2.kept_bytes'
    holds 'mimalloc.kept_bytes > ptmalloc2.kept_bytes'
    # Once the last conversation is gone, ptmalloc2's heap shrinks by itself.
    holds 'ptmalloc2.retained_idle_0s_bytes < 1 MiB'
    holds 'tcmalloc.retained_active_10s_bytes > 0.95 * tcmalloc.peak_footprint_bytes'
    everyone 'retained_purged_bytes < 16 MiB'
}

@test "kv-cache-paged: peaks near 1, but jemalloc pays a page for each block" {
    replay kv-cache-paged
    holds 'ptmalloc2.ratio_peak < 1.03'
    holds 'tcmalloc.ratio_peak < 1.03'
    holds 'mimalloc.ratio_peak < 1.03'
    holds 'jemalloc.ratio_peak > 1.2'
    holds 'jemalloc.ratio_peak < 1.3'
    everyone 'ratio_end > 5'
}

@test "kv-cache-paged: blocks of 14 KiB, jemalloc's largest small class, cost it no page each" {
    replay kv-cache-paged -L block=14KiB
    holds 'jemalloc.ratio_peak < 1.1'
}

@test "metadata-bursts: all stay near the data at the peak and keep the pages at the end" {
    replay metadata-bursts
    everyone 'overhead_peak_bytes < 6 MiB'
    everyone 'ratio_end > 4'
    everyone 'end_footprint_bytes > 0.9 * ptmalloc2.peak_footprint_bytes'
    # tcmalloc's spans stay even when everything has been freed.
    holds 'tcmalloc.retained_purged_bytes > 0.8 * tcmalloc.peak_footprint_bytes'
    holds 'mimalloc.retained_purged_bytes < 2 MiB'
    holds 'ptmalloc2.retained_purged_bytes < 2 MiB'
    holds 'jemalloc.retained_purged_bytes < 2 MiB'
}

@test "model-swap: two models at the peak under all; jemalloc gives most of them back" {
    replay model-swap
    everyone 'ratio_peak < 1.25'
    holds 'tcmalloc.kept_bytes > 0.9 * tcmalloc.peak_footprint_bytes'
    holds 'mimalloc.kept_bytes > 1.5 * jemalloc.kept_bytes'
    holds 'ptmalloc2.kept_bytes > 1.2 * jemalloc.kept_bytes'
    holds 'jemalloc.kept_bytes < 0.4 * jemalloc.peak_footprint_bytes'
}

@test "pooled: near 1 under every allocator, at the peak and at the end" {
    replay pooled
    everyone 'ratio_peak < 1.06'
    everyone 'ratio_end < 1.06'
    everyone 'kept_bytes < 6 MiB'
}

@test "size-shift: pages of the old size cannot serve the new one, but under ptmalloc2" {
    replay size-shift
    everyone 'evict_footprint_bytes > 0.95 * ptmalloc2.evict_footprint_bytes'
    holds 'ptmalloc2.ratio_peak < 1.15'
    holds 'jemalloc.ratio_end > 1.3 * ptmalloc2.ratio_end'
    holds 'tcmalloc.ratio_end > 1.3 * ptmalloc2.ratio_end'
    holds 'mimalloc.ratio_end > 1.3 * ptmalloc2.ratio_end'
}

@test "sparse-survivors: the same under every allocator" {
    replay sparse-survivors
    everyone 'ratio_end > 9'
    everyone 'end_footprint_bytes < 1.2 * ptmalloc2.end_footprint_bytes'
    everyone 'end_footprint_bytes > 0.95 * ptmalloc2.peak_footprint_bytes'
}

@test "sparse-survivors: giving back at once does not help" {
    measure_small sparse-survivors -a jemalloc:dirty_decay_ms=0 -a ptmalloc2:trim_threshold=65536 \
        >result.json
    skip_unless_done result.json
    jq "$by_contender"' | with_entries(.key |= sub(":.*"; ""))' result.json >values.json
    holds 'jemalloc.ratio_end > 9'
    holds 'ptmalloc2.ratio_end > 9'
}

@test "null: the replay itself costs a constant" {
    measure_small pooled -a null >result.json
    measure_small metadata-bursts -a null >other.json
    jq -s '{pooled: .[0].cells[0].summary | map_values(.median),
        bursts: .[1].cells[0].summary | map_values(.median)}' result.json other.json >values.json
    holds 'pooled.peak_footprint_bytes == pooled.startup_bytes'
    holds 'pooled.peak_footprint_bytes == bursts.peak_footprint_bytes'
    holds 'pooled.peak_footprint_bytes < 200 KiB'
}
