/* The faults of one file, collected so that a person sees all of them at once.
 *
 * Bounded: after FB_DIAGNOSTIC_MAX the rest is counted only. Rendering is the GNU
 * form "fragbench: FILE:LINE:COLUMN: text [id]" with the line and a caret below.
 */
#ifndef FB_WORKLOAD_DIAGNOSTIC_H
#define FB_WORKLOAD_DIAGNOSTIC_H

#include "base/buf.h"

#include <stddef.h>

#define FB_DIAGNOSTIC_MAX 50

struct fb_diagnostic {
    size_t line, column; /* from 1; 0 = the whole file */
    size_t length;       /* of the marked text, ≥ 1 */
    char *text;          /* lower case, ends by saying what to do; no [id] in it */
    const char *id;      /* "unknown-key": stable, listed in docs */
};

struct fb_diagnostics {
    struct fb_diagnostic items[FB_DIAGNOSTIC_MAX];
    size_t count;
    size_t dropped;
    char *file;   /* owned: as given by the person */
    char *source; /* owned: the file's text for snippets, NULL when unreadable or not text */
    size_t source_size;
};

void fb_diagnostics_init(struct fb_diagnostics *diagnostics);
void fb_diagnostics_deinit(struct fb_diagnostics *diagnostics);
void fb_diagnostics_add(struct fb_diagnostics *diagnostics, size_t line, size_t column,
                        size_t length, const char *id, const char *fmt, ...)
    __attribute__((format(printf, 6, 7)));
/* All of them in file order, rendered into out (no colour). */
void fb_diagnostics_render(const struct fb_diagnostics *diagnostics, struct fb_buf *out);

#endif
