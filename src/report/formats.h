/* The renderers behind export.c's table, one file each. */
#ifndef FB_REPORT_FORMATS_H
#define FB_REPORT_FORMATS_H

#include "base/buf.h"
#include "report/document.h"

void fb_format_csv(const struct fb_document *document, struct fb_buf *out);
void fb_format_markdown(const struct fb_document *document, struct fb_buf *out);

#endif
