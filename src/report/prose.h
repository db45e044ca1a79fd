/* Running text broken at a terminal's width. */
#ifndef FB_REPORT_PROSE_H
#define FB_REPORT_PROSE_H

#include "base/buf.h"

/* Adds text, each line broken at spaces to at most `width` columns (0 = unlimited). A word longer
 * than that stays whole; so do lines that begin with a space: they are commands to paste. */
void fb_prose_add(const char *text, unsigned width, struct fb_buf *out);

#endif
