/* The books of a compilation. Every op of the trace goes through here, so that the
 * counts, live and touched bytes, virtual time and samples cannot disagree with
 * the ops.
 *
 * One ledger a pass. In the first pass no samples are placed: their thresholds
 * follow from that pass's totals. The caller zeroes the struct, fills in the fields
 * marked "given" and owns what they point to.
 */
#ifndef FB_WORKLOAD_LEDGER_H
#define FB_WORKLOAD_LEDGER_H

#include "trace/writer.h"
#include "workload/compile.h"

#include <stdbool.h>

struct fb_sampling {
    bool placed;
    uint64_t threshold_bytes;  /* a rise of this much makes a local maximum */
    uint64_t step_bytes;       /* allocation volume after which a sample is due */
    uint64_t iteration_stride; /* an iteration in so many is sampled */
    uint64_t peak_call;        /* which allocating call, from 1, first reaches max L; 0: none */
};

struct fb_ledger {
    struct fb_trace_header header;        /* given: the cost model; the rest is counted */
    const struct fb_trace_class *classes; /* given */
    struct fb_phase_totals *phases;       /* given: one a phase, zeroed */
    struct fb_trace_writer *writer;       /* given: NULL to count only */
    struct fb_sampling sampling;          /* given */
    uint64_t max_ops;                     /* given */
    uint64_t max_bytes;                   /* given: what max_ops comes from, for the message */

    bool teardown; /* frees no longer count */
    uint32_t phase;
    uint64_t now_ns;
    uint64_t phase_begin_ns;
    uint64_t live_bytes;
    uint64_t touched_bytes;
    uint64_t iterations;
    uint64_t allocating_calls;     /* ALLOC and REALLOC */
    uint64_t peak_call;            /* as in fb_sampling */
    uint64_t lowest_live_bytes;    /* since the last sample */
    uint64_t sampled_volume_bytes; /* header.allocated_bytes at the last sample */
};

/* All return 0, or -1 when the trace grows too long, time or bytes overflow (INPUT). */

/* Whether there is room for the allocations of so many objects, before they are made. */
int fb_ledger_require(const struct fb_ledger *ledger, uint64_t objects,
                      struct fb_error *err) FB_MUST_USE;

/* Allocator calls: counted, timed by the cost model, sampled as they need it. */
int fb_ledger_alloc(struct fb_ledger *ledger, uint16_t class_index, uint32_t slot, uint64_t size,
                    struct fb_error *err) FB_MUST_USE;
int fb_ledger_realloc(struct fb_ledger *ledger, uint16_t class_index, uint32_t slot,
                      uint64_t old_size, uint64_t size, struct fb_error *err) FB_MUST_USE;
int fb_ledger_free(struct fb_ledger *ledger, uint16_t class_index, uint32_t slot, uint64_t size,
                   struct fb_error *err) FB_MUST_USE;

/* Time: until `since_begin_ns` after the phase began, if that is later; for `ns`. */
int fb_ledger_pace(struct fb_ledger *ledger, uint64_t since_begin_ns,
                   struct fb_error *err) FB_MUST_USE;
int fb_ledger_sleep(struct fb_ledger *ledger, uint64_t ns, struct fb_error *err) FB_MUST_USE;

/* Marks cost no time. */
int fb_ledger_phase_begin(struct fb_ledger *ledger, uint32_t phase,
                          struct fb_error *err) FB_MUST_USE;
/* With its checkpoint. */
int fb_ledger_phase_end(struct fb_ledger *ledger, struct fb_error *err) FB_MUST_USE;
int fb_ledger_iteration(struct fb_ledger *ledger, uint64_t index, struct fb_error *err) FB_MUST_USE;
int fb_ledger_sample(struct fb_ledger *ledger, enum fb_sample_reason reason,
                     struct fb_error *err) FB_MUST_USE;
int fb_ledger_checkpoint(struct fb_ledger *ledger, enum fb_checkpoint_kind kind,
                         struct fb_error *err) FB_MUST_USE;
/* PURGE, HEARTBEAT or END: ops without operands. */
int fb_ledger_mark(struct fb_ledger *ledger, enum fb_op_kind kind,
                   struct fb_error *err) FB_MUST_USE;

#endif
