/* The renderers behind export.c's table, one file each. */
#ifndef FB_REPORT_FORMATS_H
#define FB_REPORT_FORMATS_H

#include "base/buf.h"
#include "result/record.h"

void fb_format_csv(const struct fb_result *result, struct fb_buf *out);
void fb_format_markdown(const struct fb_result *result, struct fb_buf *out);

#endif
