/* Where in time a metric of a run got its value, and how to look closer. */
#ifndef FB_METRICS_MOMENT_H
#define FB_METRICS_MOMENT_H

#include "result/record.h"

/* The done repetition with the largest value of the metric, the first of equals; NULL: none. */
const struct fb_repetition *fb_moment_worst(const struct fb_cell *cell, enum fb_metric metric);

/* "peak in phase serve at 12.3 s", "end of phase idle at 25 s"; times are the workload's own clock.
 * New string; NULL where the metric has no single moment or it is not known. */
char *fb_moment_text(const struct fb_repetition *repetition, enum fb_metric metric);

/* The command that runs the cell again and says more about the metric. New string. */
char *fb_moment_command(const struct fb_cell *cell, enum fb_metric metric);

#endif
