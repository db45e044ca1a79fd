/* A harness in small, for tests of the worker alone: builds a trace from lists of ops, one a
 * stream, and runs fragbench-worker on it. */
#ifndef FB_TESTS_WORKER_RUN_H
#define FB_TESTS_WORKER_RUN_H

#include "trace/format.h"
#include "trace/shared.h"

#include <stddef.h>

struct worker_stream {
    const struct fb_op *ops;
    size_t count;
};

struct worker_run {
    /* in */
    struct worker_stream streams[32];
    uint32_t stream_count;
    uint32_t thread_peak; /* 0: as many as streams */
    uint32_t order;
    const struct fb_trace_class *classes;
    uint32_t class_count;
    uint64_t slot_count;
    uint32_t clock_mode, mode, flags;
    uint64_t brk_shift_bytes;
    const char *allocator;     /* library to preload, NULL: none */
    const char *environment;   /* one NAME=VALUE, or NULL */
    const char *readback_keys; /* or NULL */
    int fail_on_refusal;
    /* out */
    struct fb_shared *shared; /* copies as the worker left them */
    struct fb_sample *samples;
    uint64_t *latency; /* allocations, then frees */
    struct fb_bell bells[64];
    size_t bell_count;
    int wait_status;
};

void worker_run(struct worker_run *run);
void worker_run_deinit(struct worker_run *run);

#endif
