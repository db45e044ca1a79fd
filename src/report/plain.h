/* Texts of strangers (names, labels, paths, what a worker printed) for formats that take less than
 * any bytes: UTF-8 without control characters. */
#ifndef FB_REPORT_PLAIN_H
#define FB_REPORT_PLAIN_H

#include "base/buf.h"

enum fb_plain_lines { FB_PLAIN_ONE_LINE = 0, FB_PLAIN_KEEP_LINES };

/* The text as well-formed UTF-8: bytes that are none become U+FFFD, control characters (and what
 * XML 1.0 has no place for) a blank; line feeds stay where asked. NULL is "". New string. */
char *fb_plain_text(const char *text, enum fb_plain_lines lines);

/* One character of a format's own: from → to. */
struct fb_plain_escape {
    char from;
    const char *to;
};
/* Adds the plain text with its characters escaped by a table that ends with from '\0'. */
void fb_plain_add(struct fb_buf *out, const char *text, enum fb_plain_lines lines,
                  const struct fb_plain_escape *escapes);

#endif
