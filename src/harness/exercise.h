/* A small fixed run, for `doctor`: a trace of a few thousand blocks with a pause in it, long enough
 * for an allocator that reads the clock to be seen doing so. */
#ifndef FB_HARNESS_EXERCISE_H
#define FB_HARNESS_EXERCISE_H

#include "harness/runner.h"

struct fb_exercise {
    enum fb_status status;
    char *detail, *owner; /* may be NULL */
    uint64_t clock_calls;
    bool clock_proven;
};

int fb_exercise_run(const struct fb_contender *contender, struct fb_exercise *out,
                    struct fb_error *err) FB_MUST_USE;
void fb_exercise_deinit(struct fb_exercise *exercise);

#endif
