/* The rows and columns of one group, and the notes that belong to them. */
#ifndef FB_REPORT_BLOCK_H
#define FB_REPORT_BLOCK_H

#include "report/grid.h"
#include "report/group.h"

#define FB_NOTES_MAX 9 /* superscript marks */
#define FB_COLUMNS_MAX 20

extern const char *const fb_note_marks[FB_NOTES_MAX];

struct fb_notes {
    const char *reasons[FB_NOTES_MAX]; /* of n/a, static text; marked ¹ … ⁹ in the grid */
    size_t reason_count;
    struct {
        const char *label, *reason; /* static text */
    } left_out[FB_COLUMNS_MAX];     /* columns that are n/a for one reason everywhere */
    size_t left_out_count;
};

/* The unit of a column of times: its smallest value keeps its digits. */
struct fb_time_scale {
    double from_ns, unit_ns; /* for smallest values from here on */
    const char *name, *per_op;
};
const struct fb_time_scale *fb_block_time_scale(const struct fb_group *group,
                                                enum fb_metric metric);

/* A row a cell. Failed and skipped cells show their status in place of numbers. The grid is the
 * caller's to deinit. */
void fb_block_init(const struct fb_group *group, struct fb_grid *grid, struct fb_notes *notes);
/* Says in a column's head what its ranges run over. */
void fb_block_head_range(const struct fb_group *group, struct fb_grid_column *head);
/* One note a line: what the columns are, why cells are n/a, what makes the numbers less than
 * exact. Each line is led by `bullet`. */
void fb_block_notes(const struct fb_group *group, const struct fb_host *host,
                    const struct fb_notes *notes, const char *bullet, struct fb_buf *out);

#endif
