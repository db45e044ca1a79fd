/* The curves of a result, thinned for drawing: one repetition a cell.
 *
 * Of a cell's repetitions the one is drawn whose peak footprint is the median (the lower of the
 * middle two, the first of equals), so that the line's peak is the table's number. Series are
 * read one after the other and dropped, so a large result does not fill the memory.
 */
#ifndef FB_REPORT_CURVES_H
#define FB_REPORT_CURVES_H

#include "report/group.h"
#include "report/thin.h"

/* The most columns a curve is thinned to: 2,000 points. */
#define FB_CURVE_COLUMNS_MAX 400U

struct fb_cell_curves {
    const struct fb_repetition *drawn; /* NULL: there is nothing to draw */
    char *absent;                      /* then why: "timeout", "its series are not in the folder" */
    double end_s;                      /* of the last phase; the curves but tail end there */
    struct fb_curve footprint, live;   /* bytes over s */
    struct fb_curve ratio;             /* of the two; a gap where live is under 1 MiB */
    struct fb_curve tail; /* footprint − live over s since the last free; empty without one */
};

/* The repetition that stands for the cell; NULL when none is done. */
const struct fb_repetition *fb_curves_choose(const struct fb_cell *cell);

/* Never fails: what cannot be read says why in `absent`. */
void fb_curves_load(const char *dir, const struct fb_cell *cell, size_t columns,
                    struct fb_cell_curves *out);
void fb_curves_deinit(struct fb_cell_curves *curves);

#endif
