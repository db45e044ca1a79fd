/* fork, set-up in the child, exec of the worker. */
#ifndef FB_HARNESS_SPAWN_H
#define FB_HARNESS_SPAWN_H

#include "harness/run.h"

struct fb_spawn {
    const char *program;
    char *const *environment;
    int shared_fd, trace_fd, doorbell_fd, output_fd; /* become FB_FD_* and stdout/stderr */
    unsigned layout;
    enum fb_thp_plan thp;
};

struct fb_spawned {
    pid_t pid;
    bool layout_fixed; /* false: no personality(), or the stack limit could not be set */
    bool thp_fell_back;
};

/* Returns once exec has happened. A step that cannot be done without is an IO error that names the
 * step; the child has been reaped then. The child dies with the calling thread. */
int fb_spawn(const struct fb_spawn *spawn, struct fb_spawned *out,
             struct fb_error *err) FB_MUST_USE;

#endif
