/* Phases of a cell, as medians over its runs. */
#ifndef FB_METRICS_PHASES_H
#define FB_METRICS_PHASES_H

#include "result/record.h"

struct fb_phase_change {
    const char *name;               /* the cell's */
    double peak_before, peak_after; /* largest footprint within it, bytes */
    double end_before, end_after;   /* footprint at its end, bytes */
    double live_before, live_after; /* live at its end, bytes */
};

/* Phase by phase of two cells with the same phases: a new array, NULL and *count 0 where their
 * phases are not the same ones or no run is done. */
struct fb_phase_change *fb_phases_compare(const struct fb_cell *base, const struct fb_cell *cell,
                                          size_t *count);
/* Whether anything in it differs. */
bool fb_phase_differs(const struct fb_phase_change *change);

#endif
