/* The replay engine: a trace's ops turned into allocator calls.
 *
 * Nothing here allocates, not even through libc (but for what pthread_create does for a
 * thread, which any program pays): everything of ours is the shared block, the mapped
 * trace, mappings that are MAP_SHARED too, and a few words of stack and .bss, so what the
 * kernel counts as anonymous is the allocator's plus a small constant.
 *
 * One actor is one thread's position in its stream. Counters are the actor's own row in
 * the shared block, so that threads never contend on them.
 *
 * Orders (trace/format.h): in lockstep only the actor that has the turn runs, so all else
 * here is as if single-threaded; in free order what threads share is atomic.
 */
#ifndef FB_WORKER_REPLAY_H
#define FB_WORKER_REPLAY_H

#include "trace/reader.h"
#include "trace/shared.h"

#include <pthread.h>
#include <stdbool.h>

/* What one instance of the loop does. Constants at each call of the loop, so the compiler
 * makes a lean loop of each: a branch an op would cost as much as the bookkeeping. */
struct fb_variant {
    bool null;   /* no allocator call, no touch */
    bool timing; /* real clock, latencies, no samples */
    bool verify;
    bool virtual_clock;
    bool free_order;
    bool explain; /* notes when objects were born */
};

struct fb_actor;

struct fb_replay {
    struct fb_shared *shared;
    struct fb_trace trace;
    struct fb_object *objects;
    struct fb_object_detail *details; /* NULL without FB_RUN_EXPLAIN */
    struct fb_sample *samples;
    uint64_t *alloc_latency; /* FB_LATENCY_BUCKETS counts each */
    uint64_t *free_latency;
    struct fb_counters *counters;
    struct fb_actor *actors;   /* one a thread alive at once; actors[0] is main */
    uint32_t *actor_of_stream; /* index into actors, for streams that were started */
    enum fb_purge purge;
    bool usable_known; /* malloc_usable_size belongs to the library that answers malloc */
    bool scopes;       /* the library that answers malloc knows scopes */
    int statm_fd;
    uint64_t start_ns; /* raw monotonic */
    struct fb_variant variant;
};

enum fb_actor_state { FB_ACTOR_RUNNING = 0, FB_ACTOR_PARKED, FB_ACTOR_ENDED };

struct fb_actor {
    _Alignas(64) struct fb_replay *replay;
    struct fb_counters *counters;
    _Atomic uint64_t *op_index; /* where its progress is published */
    uint64_t phase_begin_ns;    /* main's, read by all: written before threads go on */
    uint64_t hold_ns;           /* time of the last HOLD */
    uint64_t iteration;
    uint32_t phase;
    bool degraded;
    bool stopped;       /* a fault or the end: leave the loop */
    uint32_t countdown; /* allocator calls until the next timed one */
    uint32_t stride_state;
    /* threads.c */
    uint32_t stream;
    bool turn_passed;         /* PARK has done what the TURN after it says */
    bool taken;               /* belongs to a stream that has not been joined */
    _Atomic uint32_t turn;    /* futex: 1 = may run */
    _Atomic uint32_t state;   /* futex: enum fb_actor_state */
    _Atomic uint32_t started; /* futex: the thread has begun */
    _Atomic uint32_t errand;  /* futex: 1 = empty your cache, then wait for the turn again */
    pthread_t thread;
    void *stack;
};

/* Replays stream 0 to its end (timing: to the last phase's end). The outcome is in shared->end. */
void fb_replay_run(struct fb_replay *replay);

/* The loop over an actor's stream, from its first op. */
void fb_replay_stream(struct fb_actor *actor);

/* Ends the run with a fault: recorded once, the actor stops. */
void fb_replay_fault(struct fb_actor *actor, enum fb_worker_end end, const struct fb_op *op,
                     const char *text);

/* marks.c: everything that is not an allocator call. */
void fb_replay_mark(struct fb_actor *actor, const struct fb_op *op);
/* ns since the replay began: virtual or real. */
uint64_t fb_replay_elapsed_ns(const struct fb_actor *actor);

#endif
