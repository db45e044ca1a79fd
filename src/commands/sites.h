/* A recording's call sites as a table or as stacks: what held most at its peak. */
#ifndef FB_COMMANDS_SITES_H
#define FB_COMMANDS_SITES_H

#include "trace/recording.h"

#include <stdbool.h>
#include <stddef.h>

#define FB_SITES_SHOWN 10U

struct fb_sites_view {
    size_t count; /* sites shown, at most */
    bool frames;  /* each with all of its frames, instead of the innermost in a line */
};

/* Prints to stdout; nothing for a recording without sites. Reads the recording, and rewinds it. */
int fb_sites_print(struct fb_recording *recording, const struct fb_sites_view *view,
                   struct fb_error *err) FB_MUST_USE;

#endif
