/* The folder through which recorded processes hand over their records, and the recordings that are
 * made of them: one file a process image.
 *
 * Single-threaded: the owner polls. Segment files lose their names as soon as they are mapped, so a
 * finished recording leaves nothing behind.
 */
#ifndef FB_HARNESS_SPOOL_H
#define FB_HARNESS_SPOOL_H

#include "harness/spool_image.h"

struct fb_spool_options {
    const char *folder;   /* where the buffers' own folder is made; NULL: in memory where there is
                             room, else TMPDIR */
    const char *output;   /* the recording's path: "service.fbt"; others become "service.2.fbt" */
    bool force;           /* replaces files that are there */
    bool keep_small;      /* keeps images that allocated less than 1 % of the largest's bytes */
    uint64_t limit_bytes; /* of all recordings together; 0: none */
    /* Of all recordings together, a second, on average since the first began; 0: as they come.
     * Programs that call faster wait once their buffers are full: nothing is lost. */
    uint64_t rate_bytes;
};

struct fb_spool {
    struct fb_spool_options options;
    char *folder; /* this recording's own */
    int alive_fd;
    struct fb_spool_image **images; /* in the order they were met; once finished, by volume */
    size_t image_count;
    size_t dropped;                 /* small ones, once finished */
    uint64_t looked_ns, flushed_ns; /* when it last looked for ends, and wrote what it had */
    uint64_t opened_ns;
    uint64_t polled_ns; /* last */
    uint64_t held_ns;   /* how long nothing was read, for the rate's sake */
    bool full;          /* the limit was reached: all recordings are closed */
};

/* Makes the folder. INPUT: output exists and force is not set. IO: no folder can be made. */
int fb_spool_open(const struct fb_spool_options *options, struct fb_spool *out,
                  struct fb_error *err) FB_MUST_USE;
/* Reads what has come. *progress: there was something. Recordings of processes that have ended are
 * closed. -1: a recording could not be written; that ends them all, the programs go on. */
int fb_spool_poll(struct fb_spool *spool, bool *progress, struct fb_error *err) FB_MUST_USE;
/* Reads the rest and closes all recordings; all_ended: every process is known to have ended. Until
 * then they are OUTPUT.part-…: now the image that allocated most gets the output's own name, the
 * others numbers. */
int fb_spool_finish(struct fb_spool *spool, bool all_ended, enum fb_recording_reason reason,
                    struct fb_error *err) FB_MUST_USE;
/* Removes the folder. */
void fb_spool_deinit(struct fb_spool *spool);

/* A copy of the path, made of a number before the ".fbt": ("service.fbt", 2) → "service.2.fbt". */
char *fb_spool_numbered(const char *path, unsigned number);

#endif
