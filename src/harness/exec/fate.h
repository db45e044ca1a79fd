/* From how a program ended to a status: a pure function, so that a table can test it. */
#ifndef FB_HARNESS_EXEC_FATE_H
#define FB_HARNESS_EXEC_FATE_H

#include "result/record.h"

#include <stdbool.h>

enum fb_fate_stage {
    FB_FATE_STARTING = 0, /* not ready yet */
    FB_FATE_WORKING,
    FB_FATE_SETTLING,
    FB_FATE_STOPPING, /* was asked to end */
};

struct fb_fate {
    const char *name;         /* of the program */
    enum fb_fate_stage stage; /* when the program ended, or the run */
    bool ended;               /* by itself or after SIGTERM; else killed at the end of the grace */
    int wait_status;
    bool waits_for_ready; /* there was a condition */
    bool driver_ended;
    int driver_status; /* as waitpid() gives it */
    const char *text;  /* the end of its log */
    const char *driver_text;
    const char *head;      /* the beginning of its log, where ld.so and allocators complain */
    const char *library;   /* the contender's, or NULL */
    bool proven;           /* the program was seen running on it */
    bool tunables;         /* the contender has some */
    const char *not_asked; /* why the asked allocator did not answer where it matters; or NULL */
    bool oom_known, oom_moved;
};

/* *detail: NULL when ok, else a new string. */
enum fb_status fb_fate_judge(const struct fb_fate *fate, char **detail);

#endif
