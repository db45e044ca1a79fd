/* The call sites of a recording by what they held at its peak: at the event after which most bytes
 * were asked for and not yet freed. A block counts for the site of its birth, also after a realloc.
 */
#ifndef FB_WORKLOAD_SITES_H
#define FB_WORKLOAD_SITES_H

#include "trace/recording.h"

#include <stddef.h>

struct fb_site_use {
    uint32_t site; /* number in the recording; 0: those that are not known */
    uint64_t live_bytes, live_blocks;
    /* Over all of the recording: reallocs are no births, and count by how much they grow a block.
     */
    uint64_t births, allocated_bytes;
};

struct fb_site_uses {
    struct fb_site_use *items; /* by live bytes, then by allocated bytes, the most first */
    size_t count;              /* sites that had births */
    uint64_t peak_bytes;
    uint64_t peak_ns; /* of the event, since the recording's begin */
};

/* Reads the recording twice and rewinds it. Nothing is in out on failure, or where the recording
 * has no call sites. */
int fb_site_uses(struct fb_recording *recording, struct fb_site_uses *out,
                 struct fb_error *err) FB_MUST_USE;
void fb_site_uses_deinit(struct fb_site_uses *uses);

/* How much of a frame's line of that length is the function: "parse" of "parse, request.c:120". */
size_t fb_site_function_length(const char *line, size_t length);
/* A site's frames (as fb_recording_site() gives them) from the innermost on that is not of C++'s
 * library; all of them where there is no other. */
const char *fb_site_program(const char *frames);
/* Its function, cut to size; "" where none is known. */
void fb_site_function(const char *frames, char *out, size_t size);

#endif
