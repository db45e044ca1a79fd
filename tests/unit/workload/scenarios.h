/* Workloads built by hand that between them use every distribution and lifetime. */
#ifndef FB_TEST_SCENARIOS_H
#define FB_TEST_SCENARIOS_H

#include "workload/workload.h"

struct scenario {
    const struct fb_workload *workload;
    uint64_t seed;
    const char *sha256; /* of its trace: a change here is a change of every published result */
};

extern const struct scenario scenarios[];
extern const size_t scenario_count;

/* All kinds of everything; the first of the scenarios. */
extern const struct fb_workload everything;
/* The same for threads; the last. */
extern const struct fb_workload crowd;

#endif
