/* The table and verdict that `run` ends with, as text. */
#ifndef FB_REPORT_TABLE_H
#define FB_REPORT_TABLE_H

#include "base/buf.h"
#include "result/record.h"

struct fb_table_options {
    bool color;
    unsigned width; /* columns of the terminal; 0 = unlimited. Narrower: least important columns go
                       first, said below */
};

/* One block a workload × parameter set: heading (objects, peak live, clock, layouts), a row an
 * allocator: status, peak, live, ratio_peak with its range, kept, ratio_end, drift, retained, ns
 * per op, p99; n/a with its reason below; then the verdict with the exact environment to set. */
void fb_table_render(const struct fb_result *result, const struct fb_table_options *options,
                     struct fb_buf *out);

/* The environment of a cell as one line to paste: "LD_PRELOAD=… MALLOC_CONF=…", shell-quoted. New
 * string. */
char *fb_table_environment(const struct fb_cell *cell);

/* Adds text as one word of a shell, quoted where it must be. */
void fb_table_quote(struct fb_buf *line, const char *text);

#endif
