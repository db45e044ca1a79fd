/* One repetition's readings in order of time: samples and checkpoints together.
 *
 * Stops at the checkpoint of the last phase's end: what comes after (teardown, the retained
 * measurements) is no part of the pattern's cost. Borrowed: the repetition must outlive it.
 */
#ifndef FB_METRICS_TIMELINE_H
#define FB_METRICS_TIMELINE_H

#include "result/record.h"

struct fb_reading {
    uint64_t t_ns, footprint_bytes, live_bytes, touched_bytes;
    int phase; /* −1 before the first */
};

struct fb_timeline {
    struct fb_reading *readings; /* owned */
    size_t count;
    const struct fb_point *points; /* the samples alone */
    size_t point_count;
    size_t checkpoint_count;         /* of the repetition's, up to and with end */
    const struct fb_checkpoint *end; /* of the last phase; NULL when no phase ended */
};

void fb_timeline_init(struct fb_timeline *timeline, const struct fb_repetition *repetition);
void fb_timeline_deinit(struct fb_timeline *timeline);

/* The first checkpoint of the kind ("idle_10s"), in any phase where phase is negative; or NULL. */
const struct fb_checkpoint *fb_timeline_checkpoint(const struct fb_repetition *repetition,
                                                   const char *kind, int phase);

#endif
