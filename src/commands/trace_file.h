/* A compiled trace on disk, without a name: nothing is left behind however the process ends. */
#ifndef FB_COMMANDS_TRACE_FILE_H
#define FB_COMMANDS_TRACE_FILE_H

#include "base/sha256.h"
#include "commands/plan.h"

struct fb_trace_file {
    int fd;
    const struct fb_trace_header *header; /* the whole file, mapped read-only */
    size_t size_bytes;
    char sha256[FB_SHA256_HEX];
};

/* Compiles the unit's seed into an unnamed file on folder's disk. IO errors name the folder. */
int fb_trace_file_make(const char *folder, const struct fb_plan_unit *unit, unsigned seed,
                       struct fb_trace_file *out, struct fb_error *err) FB_MUST_USE;
void fb_trace_file_close(struct fb_trace_file *file);

#endif
