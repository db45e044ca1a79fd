/* The tables of a page. */
#ifndef FB_REPORT_HTML_TABLE_H
#define FB_REPORT_HTML_TABLE_H

#include "report/grid.h"
#include "report/group.h"

/* A grid with row and column headings, made sortable by the page's script. */
void fb_html_grid(struct fb_buf *out, const struct fb_grid *grid, const char *caption);

/* Every metric of every cell of the group: median, and the range where there is one. */
void fb_html_metrics(struct fb_buf *out, const struct fb_group *group);

/* What each metric that the group has means: name, title, unit, definition, source. */
void fb_html_definitions(struct fb_buf *out, const struct fb_group *group);

#endif
