/* A short helper program's output. */
#ifndef FB_HARNESS_CAPTURE_H
#define FB_HARNESS_CAPTURE_H

#include "base/buf.h"
#include "base/error.h"

/* Runs argv[0] (a path) with exactly the environment env, appends its stdout to out (initialised
 * by the caller, capped there) and waits for it. Fails when it cannot start or exits other than 0.
 * Its stderr goes to /dev/null. */
int fb_capture(char *const argv[], char *const env[], struct fb_buf *out,
               struct fb_error *err) FB_MUST_USE;

#endif
