/* What a person sees while cells run: one line redrawn on a terminal, a plain line every 30 s
 * elsewhere, nothing when not wanted. */
#ifndef FB_COMMANDS_PROGRESS_H
#define FB_COMMANDS_PROGRESS_H

#include "commands/options.h"
#include "harness/runner.h"

#include <stdbool.h>
#include <stdint.h>

struct fb_progress {
    enum { FB_PROGRESS_NONE = 0, FB_PROGRESS_PLAIN, FB_PROGRESS_REDRAW } style;
    size_t total;       /* runs in all: memory and timing */
    size_t done_before; /* runs of earlier batches */
    uint64_t started_ns;
    uint64_t printed_ns;
};

/* Decides the style from --progress, stderr and TERM. */
void fb_progress_init(struct fb_progress *progress, enum fb_when when, size_t total);
/* A hook of fb_runner_run(); user is the struct fb_progress. */
void fb_progress_update(void *user, const struct fb_run_progress *running, size_t count,
                        size_t done, size_t total);
/* A batch of `runs` is over. */
void fb_progress_batch_done(struct fb_progress *progress, size_t runs);
void fb_progress_end(struct fb_progress *progress);

/* The columns of the terminal behind fd; 0 = not a terminal or unknown. */
unsigned fb_progress_terminal_width(int fd);

#endif
