/* An independent replay of a trace's ops, against which the compiler's figures are checked. */
#ifndef FB_TEST_REPLAY_H
#define FB_TEST_REPLAY_H

#include "trace/reader.h"

#include <stdbool.h>

struct compiled;

struct replay {
    const struct fb_trace *trace;
    uint64_t *sizes; /* by slot; 0 = empty */
    uint64_t live, touched, objects, now, phase_begin, volume;
    bool teardown;
    struct fb_trace_header counted;
};

/* At the first op; free sizes. */
struct replay replay_start(const struct fb_trace *trace);
void replay_step(struct replay *replay, const struct fb_op *op);

/* Compiles each of the scenarios and hands it to check. */
void each_scenario(void (*check)(const struct compiled *));

#endif
