/* Small traces and runs of them, for the runner's tests. */
#ifndef FB_TESTS_HARNESS_BENCH_H
#define FB_TESTS_HARNESS_BENCH_H

#include "harness/runner.h"
#include "trace/reader.h"

struct bench_trace {
    int fd;
    struct fb_trace trace;
};

/* One phase "serve": rounds × (allocate objects of size bytes, sample, free them, pause_ns), with
 * the checkpoints start, peak_live (first round) and phase_end. */
struct bench_shape {
    uint32_t objects;
    uint64_t size_bytes;
    unsigned rounds;
    uint64_t pause_ns;
    bool fail_on_refusal;
};
void bench_trace_open(struct bench_trace *out, const struct bench_shape *shape);
void bench_trace_close(struct bench_trace *trace);

/* The request with a 60 s timeout and everything else at its default. */
struct fb_run_request bench_request(const struct bench_trace *trace,
                                    const struct fb_contender *contender);

/* Runs requests and collects their outcomes by request index; fails the test on a harness error. */
void bench_run(const struct fb_run_request *requests, size_t count, unsigned parallel,
               struct fb_run_outcome *outcomes);
void bench_outcome_deinit(struct fb_run_outcome *outcome);

/* The contender of one spec; the caller deinits. */
struct fb_contenders bench_contender(const char *spec);
/* For setups: where the worker is. */
int bench_setup(void **state);

#endif
