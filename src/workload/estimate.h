/* How long a trace will be, before it is generated.
 *
 * From the means of the distributions, so it can be off by a little; it is there to
 * refuse 10^12 objects at once. What it lets through is stopped exactly in the
 * first pass.
 */
#ifndef FB_WORKLOAD_ESTIMATE_H
#define FB_WORKLOAD_ESTIMATE_H

#include "workload/workload.h"

struct fb_estimate {
    double objects; /* allocated, growth steps included */
    double ops;     /* of the trace, samples excluded */
    double held;    /* the most objects that phases and runs keep alive at once, at least */
    double streams; /* threads in all, main included: exact */
};

/* iterations: one a phase, scaled. */
struct fb_estimate fb_estimate_of(const struct fb_workload *workload, const uint64_t *iterations);

#endif
