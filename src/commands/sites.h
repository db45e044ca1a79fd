/* A recording's call sites as a table or as stacks: what held most at its peak. */
#ifndef FB_COMMANDS_SITES_H
#define FB_COMMANDS_SITES_H

#include "workload/sites.h"

#include <stdbool.h>
#include <stddef.h>

#define FB_SITES_SHOWN 10U

struct fb_sites_view {
    const char *file; /* the recording's, for the command that shows more */
    size_t count;     /* sites shown, at most */
    bool frames;      /* each with all of its frames, instead of the innermost in a line */
};

/* Prints to stdout; nothing where there are none. */
void fb_sites_print(const struct fb_recording *recording, const struct fb_site_uses *uses,
                    const struct fb_sites_view *view);

#endif
