/* Runs a helper program to its end and keeps what it wrote.
 *
 * The program gets its input as a file that it may open as often as it likes
 * (FB_PROCESS_INPUT), an empty standard input and only the environment it is given, so
 * nothing of the caller's settings reaches it. No temporary files. It is killed when it
 * takes too long or writes too much. For programs that draw or convert; workers have a
 * spawner of their own (harness/spawn.h). Blocks; not for use in several threads at once.
 */
#ifndef FB_BASE_PROCESS_H
#define FB_BASE_PROCESS_H

#include "base/buf.h"
#include "base/error.h"

#include <stdint.h>

/* Where the program finds its input. */
#define FB_PROCESS_INPUT "/dev/fd/3"

struct fb_process_request {
    const char *const *argv; /* NULL-terminated; argv[0] is looked up in PATH */
    const char *const *env;  /* NULL-terminated "NAME=value" */
    const void *input;
    size_t input_size;
    uint64_t timeout_ns; /* real time; > 0 */
};

struct fb_process_outcome {
    bool found;         /* false: there is no such program; nothing else is set */
    int exit_code;      /* 128+n when signal n ended it */
    bool timed_out;     /* killed for it */
    struct fb_buf out;  /* standard output; the cap is the caller's, overflow says it was passed */
    struct fb_buf errs; /* the first 8 KiB of standard error */
};

/* Returns 0 whatever the program did; −1 (IO) when it could not be started or watched, except for
 * not being there. */
int fb_process_run(const struct fb_process_request *request, size_t out_cap_bytes,
                   struct fb_process_outcome *outcome, struct fb_error *err) FB_MUST_USE;
void fb_process_outcome_deinit(struct fb_process_outcome *outcome);

#endif
