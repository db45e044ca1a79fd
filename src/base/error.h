/* The one error value of the project.
 *
 * Functions that can fail return 0 or -1 and take a `struct fb_error *` last.
 * The first error wins: a later fb_fail() on the same struct keeps the first
 * text, so clean-up code may fail without hiding the cause. err may be NULL.
 * Caller's storage; nothing to free. Not shared between threads.
 */
#ifndef FB_BASE_ERROR_H
#define FB_BASE_ERROR_H

#include <stdarg.h>
#include <stdbool.h>

enum fb_error_kind {
    FB_ERROR_NONE = 0,
    FB_ERROR_INPUT,   /* the person's command line, workload or file is wrong: exit 2 */
    FB_ERROR_IO,      /* the system said no (file, memory, process): exit 3 */
    FB_ERROR_NOTHING, /* nothing to run or compare: exit 4 */
};

struct fb_error {
    enum fb_error_kind kind;
    char text[1024]; /* one or more lines, no trailing newline, says what to do next */
};

/* Records the error unless one is there already; always returns -1. */
int fb_fail(struct fb_error *err, enum fb_error_kind kind, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* fb_fail() of kind IO with ": strerror(errno)" appended. */
int fb_fail_errno(struct fb_error *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#define FB_MUST_USE __attribute__((warn_unused_result))

#endif
