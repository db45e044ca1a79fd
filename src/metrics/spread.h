/* What a cell's repetitions differ by: over address layouts, over workload seeds, and over repeats
 * of the very same run. */
#ifndef FB_METRICS_SPREAD_H
#define FB_METRICS_SPREAD_H

#include "result/record.h"

enum fb_axis { FB_AXIS_LAYOUTS = 0, FB_AXIS_SEEDS, FB_AXIS_REPEATS, FB_AXIS_COUNT };

struct fb_spread {
    unsigned count; /* of different layouts, seeds, repeats among the done repetitions; 0: none */
    double range;   /* largest − smallest value with the two others held still, the largest of all
                       such lines; 0 where there is nothing to compare */
};

/* Over the done repetitions in which the metric is not n/a. The k-th repetition of one seed and
 * layout is repeat k. */
void fb_spread_of(const struct fb_cell *cell, enum fb_metric metric,
                  struct fb_spread out[FB_AXIS_COUNT]);

#endif
