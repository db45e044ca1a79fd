/* An independent replay of a trace's ops, against which the compiler's figures are checked. */
#ifndef FB_TEST_REPLAY_H
#define FB_TEST_REPLAY_H

#include "lockstep.h"

#include <stdbool.h>

struct compiled;

struct replay {
    const struct fb_trace *trace;
    uint64_t *sizes;   /* by slot; 0 = empty */
    uint32_t *streams; /* by slot: who allocated its object */
    uint64_t *holds;   /* by stream: the time of its last HOLD */
    bool *foreign;     /* by class: one of its objects was touched by another stream */
    uint64_t live, touched, objects, now, phase_begin, volume;
    bool teardown;
    struct fb_trace_header counted;
};

/* Before the first op; steps come in lockstep order. */
struct replay replay_start(const struct fb_trace *trace);
void replay_step(struct replay *replay, const struct step *step);
void replay_free(struct replay *replay);

/* Compiles each of the scenarios and hands it to check. */
void each_scenario(void (*check)(const struct compiled *));

#endif
