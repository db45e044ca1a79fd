/* A trace's ops in the order in which lockstep runs them, found by following turns, starts and
 * joins as trace/format.h tells, without the compiler's help. */
#ifndef FB_TEST_LOCKSTEP_H
#define FB_TEST_LOCKSTEP_H

#include "trace/reader.h"

struct step {
    const struct fb_op *op;
    uint32_t stream;
};

struct lockstep {
    struct step *steps; /* header.op_count of them */
    uint64_t count;
    uint32_t thread_peak;
};

/* Fails the test where a turn goes to a thread that does not run, a join finds more than an end,
 * a thread is left over, or an op is never come to. */
struct lockstep lockstep_of(const struct fb_trace *trace);
void lockstep_free(struct lockstep *lockstep);

#endif
