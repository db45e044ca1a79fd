/* Workload + seed → trace. Deterministic: the same input gives the same bytes.
 *
 * Passes over the same generator: fb_compile_totals() makes two that only count (all that
 * `check` needs; the second places the samples, whose thresholds follow from the first, and
 * deals slots, for which it must be known whose objects others free), fb_compile_trace() one
 * that writes ops at their final places. Memory: O(objects alive at once + streams).
 */
#ifndef FB_WORKLOAD_COMPILE_H
#define FB_WORKLOAD_COMPILE_H

#include "workload/workload.h"

struct fb_compile_options {
    uint64_t seed;      /* added to by --seeds; 0-based ensembles use workload->seed + i */
    double scale;       /* multiplies iterations (at least 1); 1 = as written */
    uint64_t max_bytes; /* of the trace file; 0 = no limit */
};

/* Per phase, for `check`. */
struct fb_phase_totals {
    uint64_t alloc_calls, free_calls, realloc_calls, allocated_bytes;
    uint64_t peak_live_bytes, end_live_bytes, duration_ns;
};

struct fb_totals {
    struct fb_trace_header header; /* counts and totals as they stand in the trace */
    uint64_t trace_bytes;
    uint64_t peak_call; /* which ALLOC or REALLOC, from 1, first reaches max L; 0: none */
    struct fb_phase_totals *phases; /* phase_count of the workload; owned */
    /* What the stream and class tables need; owned. */
    uint64_t *stream_ops; /* header.stream_count: ops of each stream */
    bool *shared;         /* class_count of the workload */
};

/* Counts only. Refuses (INPUT, with the numbers) a trace over max_bytes, from an
 * estimate first so that 10^12 objects are refused at once. */
int fb_compile_totals(const struct fb_workload *workload, const struct fb_compile_options *options,
                      struct fb_totals *out, struct fb_error *err) FB_MUST_USE;
void fb_totals_deinit(struct fb_totals *totals);

/* Writes the trace to fd (regular file, empty, read-write); totals from
 * fb_compile_totals() of the same arguments. A full disk is an IO error. */
int fb_compile_trace(const struct fb_workload *workload, const struct fb_compile_options *options,
                     const struct fb_totals *totals, int fd, struct fb_error *err) FB_MUST_USE;

#endif
