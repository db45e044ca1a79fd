/* The harness's side of the counters that libfragbench-live.so keeps (trace/live.h). */
#ifndef FB_HARNESS_EXEC_LIVE_H
#define FB_HARNESS_EXEC_LIVE_H

#include "harness/exec/family.h"
#include "trace/live.h"

struct fb_live {
    int fd; /* −1: not counted */
    struct fb_live_block *block;
    char path[64];                   /* for the library, by FB_LIVE_VARIABLE */
    uint64_t gone_bytes, gone_calls; /* allocated by processes that have ended */
};

struct fb_live_count {
    uint64_t live_bytes;   /* usable; of the processes that run */
    uint64_t volume_bytes; /* allocated so far, by all */
    uint64_t calls;
};

int fb_live_open(struct fb_live *live, struct fb_error *err) FB_MUST_USE;
/* Sums over the tree's processes and frees the slots of those that have ended. Call it after
 * fb_family_scan(). A process is never below 0: a forked child starts at 0 and may free what it
 * inherited. */
void fb_live_read(struct fb_live *live, const struct fb_family *family, struct fb_live_count *out);
void fb_live_close(struct fb_live *live);

#endif
