/* The replay engine: a trace's ops turned into allocator calls.
 *
 * Nothing here allocates, not even through libc: everything of ours is the shared
 * block, the mapped trace and a few words of stack and .bss, so what the kernel
 * counts as anonymous is the allocator's plus a small constant.
 *
 * One actor is one thread's position in its stream. Counters are the actor's own
 * and published to the shared block, so that threads never contend on them.
 */
#ifndef FB_WORKER_REPLAY_H
#define FB_WORKER_REPLAY_H

#include "trace/reader.h"
#include "trace/shared.h"

#include <stdbool.h>

struct fb_replay {
    struct fb_shared *shared;
    struct fb_trace trace;
    struct fb_object *objects;
    struct fb_sample *samples;
    uint64_t *alloc_latency; /* FB_LATENCY_BUCKETS counts each */
    uint64_t *free_latency;
    enum fb_purge purge;
    bool usable_known; /* malloc_usable_size belongs to the library that answers malloc */
    int statm_fd;
    uint64_t start_ns; /* raw monotonic */
};

struct fb_actor {
    struct fb_replay *replay;
    const struct fb_op *ops; /* the section's start: for op indices */
    uint64_t live_bytes, touched_bytes, volume_bytes;
    uint64_t phase_begin_ns;
    uint64_t iteration;
    uint32_t phase;
    bool degraded;
    bool stopped;       /* a fault or the end: leave the loop */
    uint32_t countdown; /* allocator calls until the next timed one */
    uint32_t stride_state;
    uint64_t ops_done;
};

/* Replays stream 0 to its end (timing: to the last phase's end). The outcome is in shared->end. */
void fb_replay_run(struct fb_replay *replay);

/* Ends the run with a fault: recorded once, the actor stops. */
void fb_replay_fault(struct fb_actor *actor, enum fb_worker_end end, const struct fb_op *op,
                     const char *text);

/* marks.c: everything that is not an allocator call. */
void fb_replay_mark(struct fb_actor *actor, const struct fb_op *op);

#endif
