/* The books of a compilation. Every op of the trace goes through here, so that the
 * counts, live and touched bytes, virtual time and samples cannot disagree with
 * the ops.
 *
 * One ledger a pass. In the first pass no samples are placed: their thresholds
 * follow from that pass's totals. The caller zeroes the struct, fills in the fields
 * marked "given", owns what they point to, and calls init and deinit.
 *
 * Threads: ops go to the stream that has the turn, in the order of lockstep, and one clock
 * runs over all of them. Only END is put into a stream that does not have the turn: it
 * gets it from the join.
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

struct fb_ledger_stream {
    uint64_t op_count;
    uint64_t hold_ns; /* time of its last HOLD */
};

struct fb_ledger {
    struct fb_trace_header header; /* given: the cost model, classes, phases; the rest is counted */
    const struct fb_trace_class *classes; /* given */
    bool *shared;                         /* given: one a class, set where an op is FOREIGN */
    struct fb_phase_totals *phases;       /* given: one a phase, zeroed */
    struct fb_trace_writer *writer;       /* given: NULL to count only */
    struct fb_sampling sampling;          /* given */
    uint64_t max_bytes;                   /* given: of the trace; 0: no limit */

    struct fb_ledger_stream *streams; /* header.stream_count; owned */
    size_t stream_capacity;
    uint64_t max_ops; /* what max_bytes leaves for them beside the tables */
    uint32_t stream;  /* that has the turn */
    uint32_t threads; /* alive, main included */
    bool teardown;    /* frees no longer count */
    uint32_t phase;
    uint64_t now_ns;
    uint64_t phase_begin_ns;
    uint64_t live_bytes;
    uint64_t touched_bytes;
    uint64_t iterations;
    uint64_t calls;                /* ALLOC, REALLOC and FREE */
    uint64_t allocating_calls;     /* ALLOC and REALLOC */
    uint64_t peak_call;            /* as in fb_sampling */
    uint64_t lowest_live_bytes;    /* since the last sample */
    uint64_t sampled_volume_bytes; /* header.allocated_bytes at the last sample */
};

/* The main stream, running. */
void fb_ledger_init(struct fb_ledger *ledger);
void fb_ledger_deinit(struct fb_ledger *ledger);

/* All below return 0, or -1 when the trace grows too long, time or bytes overflow (INPUT). */

/* Whether there is room for the allocations of so many objects, before they are made. */
int fb_ledger_require(const struct fb_ledger *ledger, uint64_t objects,
                      struct fb_error *err) FB_MUST_USE;

/* Allocator calls: counted, timed by the cost model, sampled as they need it. Given of op: flags,
 * class_index, slot and (but for free) arg, the size; of realloc and free also the size before. */
int fb_ledger_alloc(struct fb_ledger *ledger, struct fb_op op, struct fb_error *err) FB_MUST_USE;
int fb_ledger_realloc(struct fb_ledger *ledger, struct fb_op op, uint64_t old_size,
                      struct fb_error *err) FB_MUST_USE;
int fb_ledger_free(struct fb_ledger *ledger, struct fb_op op, uint64_t size,
                   struct fb_error *err) FB_MUST_USE;

/* Time: until `since_begin_ns` after the phase began, if that is later; for `ns`; until `ns`
 * after this stream's last HOLD, if that is later. */
int fb_ledger_pace(struct fb_ledger *ledger, uint64_t since_begin_ns,
                   struct fb_error *err) FB_MUST_USE;
int fb_ledger_sleep(struct fb_ledger *ledger, uint64_t ns, struct fb_error *err) FB_MUST_USE;
int fb_ledger_hold(struct fb_ledger *ledger, struct fb_error *err) FB_MUST_USE;
int fb_ledger_sleep_since_hold(struct fb_ledger *ledger, uint64_t ns,
                               struct fb_error *err) FB_MUST_USE;

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
/* Any other op without operands or sizes: kind, flags and arg as they are. */
int fb_ledger_mark(struct fb_ledger *ledger, struct fb_op op, struct fb_error *err) FB_MUST_USE;

/* Threads. The turn goes to another stream; nothing when that has it already. */
int fb_ledger_turn(struct fb_ledger *ledger, uint32_t stream, bool strict,
                   struct fb_error *err) FB_MUST_USE;
/* Main only: a new stream, started; it has no turn yet. */
int fb_ledger_start(struct fb_ledger *ledger, uint32_t *stream, struct fb_error *err) FB_MUST_USE;
/* Main only: the stream's END and the wait for it. */
int fb_ledger_join(struct fb_ledger *ledger, uint32_t stream, struct fb_error *err) FB_MUST_USE;

#endif
