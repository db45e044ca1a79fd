/* The program's environment: the person's own, with the allocator put in.
 *
 * Unlike a worker's it is not built anew: the program has to find its settings. LD_PRELOAD and
 * GLIBC_TUNABLES are joined with what the person has there, which comes behind.
 */
#ifndef FB_HARNESS_EXEC_ENVIRON_H
#define FB_HARNESS_EXEC_ENVIRON_H

#include "harness/contender.h"

#include <sys/types.h>

struct fb_environ_additions {
    const struct fb_contender *contender;
    const char *libc;         /* preloaded as the allocator, or NULL */
    const char *live_library; /* preloaded before the allocator, or NULL */
    const char *live_block;   /* its file; with live_library */
};

/* NULL-terminated array of new strings; fb_environment_free() frees it. */
char **fb_environ_new(char *const *own, const struct fb_environ_additions *additions);

/* The person's own and FRAGBENCH_PID=pid, for the driver. */
char **fb_environ_with_pid(char *const *own, pid_t pid);

#endif
