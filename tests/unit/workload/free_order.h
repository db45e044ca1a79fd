/* A replay of a trace in free order, by a schedule drawn from a seed: each thread goes on whenever
 * nothing in trace/format.h makes it wait. */
#ifndef FB_TEST_FREE_ORDER_H
#define FB_TEST_FREE_ORDER_H

#include "lockstep.h"

enum policy {
    POLICY_RANDOM,   /* any thread that can go on, op by op */
    POLICY_PRIORITY, /* one that can go on does, in an order of threads drawn at first */
    POLICY_STICKY,   /* one thread as long as it can, or about 100 ops */
    POLICY_COUNT
};

/* NULL, or what went wrong first: a deadlock, a slot used twice, an object freed by an op that was
 * meant for another one. lockstep tells which that is. */
const char *free_order_run(const struct fb_trace *trace, const struct lockstep *lockstep,
                           enum policy policy, uint64_t seed);

#endif
