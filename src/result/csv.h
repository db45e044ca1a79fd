/* Comma-separated values after RFC 4180 (fields with a comma, quote or line break are quoted,
 * quotes doubled), one record a line, "\n" line ends. */
#ifndef FB_RESULT_CSV_H
#define FB_RESULT_CSV_H

#include "base/buf.h"

#include <stdio.h>

/* Adds one field, quoted where it must be; no separator. */
void fb_csv_add(struct fb_buf *buf, const char *text);
/* The same into a stream. */
void fb_csv_put(FILE *file, const char *text);
/* Splits one line (no line end) in place into at most `max` fields; returns their number, or -1
 * where a quote is left open or there are more than max. */
int fb_csv_split(char *line, char **fields, int max);

#endif
