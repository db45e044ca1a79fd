/* Where the memory is, for people: a table a moment, what keeps pages, what the allocators say of
 * themselves, and sentences with a next step. Of cells whose free pages were split only. */
#ifndef FB_REPORT_PARTS_H
#define FB_REPORT_PARTS_H

#include "report/grid.h"
#include "report/group.h"
#include "report/verdict.h"

#define FB_PARTS_GRIDS_MAX 5

struct fb_parts_grid {
    char *title; /* a line of prose; owned */
    struct fb_grid grid;
};

/* The tables, in reading order; 0 where no cell was explained. Each is the caller's to deinit. */
size_t fb_parts_grids(const struct fb_group *group, struct fb_parts_grid grids[FB_PARTS_GRIDS_MAX]);
void fb_parts_grid_deinit(struct fb_parts_grid *grid);

/* What the tables mean and what to do next; lines and commands are led as the verdict's. */
void fb_parts_sentences(const struct fb_group *group, const struct fb_verdict_style *style,
                        struct fb_buf *out);

#endif
