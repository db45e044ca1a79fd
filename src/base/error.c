#include "base/error.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

__attribute__((format(printf, 3, 0))) static void
record(struct fb_error *err, enum fb_error_kind kind, const char *fmt, va_list args)
{
    if (err == NULL || err->kind != FB_ERROR_NONE)
        return;
    err->kind = kind;
    (void)vsnprintf(err->text, sizeof err->text, fmt, args);
}

int fb_fail(struct fb_error *err, enum fb_error_kind kind, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    record(err, kind, fmt, args);
    va_end(args);
    return -1;
}

int fb_fail_errno(struct fb_error *err, const char *fmt, ...)
{
    int saved = errno;
    char what[768];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(what, sizeof what, fmt, args);
    va_end(args);
    return fb_fail(err, FB_ERROR_IO, "%s: %s", what, strerror(saved));
}
