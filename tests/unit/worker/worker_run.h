/* A harness in small, for tests of the worker alone: builds a one-stream trace from a
 * list of ops and runs fragbench-worker on it. */
#ifndef FB_TESTS_WORKER_RUN_H
#define FB_TESTS_WORKER_RUN_H

#include "trace/format.h"
#include "trace/shared.h"

#include <stddef.h>

struct worker_run {
    /* in */
    const struct fb_op *ops;
    size_t op_count;
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
