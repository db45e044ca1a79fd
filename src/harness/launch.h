/* Starting the user's own program with the recorder in front of its allocator.
 *
 * Its environment, terminal, working directory and descriptors are the caller's; only LD_PRELOAD,
 * the allocator's variables and the spool's are added.
 */
#ifndef FB_HARNESS_LAUNCH_H
#define FB_HARNESS_LAUNCH_H

#include "harness/contender.h"

#include <sys/types.h>

struct fb_launch {
    char *const *argv; /* NULL-terminated; searched for in PATH */
    const char *spool_folder;
    unsigned site_frames; /* call sites are recorded with so many frames; 0: they are not */
    bool fresh_pages;     /* blocks of FB_SPOOL_BIG_BYTES get them */
    const struct fb_contender *contender; /* NULL: whatever the program uses by itself */
};

/* Starts it, and makes the calling process the parent of whatever its children leave behind.
 * INPUT: there is no such program. IO: the recorder library is not there, no process. */
int fb_launch(const struct fb_launch *launch, pid_t *pid, struct fb_error *err) FB_MUST_USE;

#endif
