/* What part of a plan a result is, and what of it comes from different machines. */
#ifndef FB_REPORT_ORIGIN_H
#define FB_REPORT_ORIGIN_H

#include "report/group.h"

/* A line on a result's shard, or on what it was merged from; nothing of a whole run. */
void fb_origin_line(const struct fb_result *result, struct fb_buf *out);

/* Why the times in a group of a merged result are not to be compared: they come from different
 * machines, or from runs that shared one at the same time. Static text; NULL: they may be. */
const char *fb_origin_times_apart(const struct fb_result *result, const struct fb_group *group);

#endif
