/* Where in time a metric of a run got its value, and how to look closer. */
#ifndef FB_METRICS_MOMENT_H
#define FB_METRICS_MOMENT_H

#include "result/record.h"

/* The done repetition with the largest value of the metric, the first of equals; NULL: none. */
const struct fb_repetition *fb_moment_worst(const struct fb_cell *cell, enum fb_metric metric);

/* "peak in phase serve at 12.3 s", "end of phase idle at 25 s"; times are the workload's own clock.
 * New string; NULL where the metric has no single moment or it is not known. */
char *fb_moment_text(const struct fb_repetition *repetition, enum fb_metric metric);

/* Whether the metric speaks of the footprint's peak; of what is there at a phase's end. */
bool fb_moment_is_peak(enum fb_metric metric);
bool fb_moment_is_end(enum fb_metric metric);

/* The phase with the highest peak, the first of equals; 0 where there is none. */
size_t fb_moment_peak_phase(const struct fb_repetition *repetition);

/* The command that runs the cell again, quoted for a shell, with `more` options behind it; a
 * program of one's own is run by `exec`. New string. */
char *fb_moment_command(const struct fb_cell *cell, const char *more);
/* The commands that show where the cell's memory is: it again, with fb_moment_closer(); a program
 * of one's own is recorded first, since only a replay can be explained. New string. */
char *fb_moment_look(const struct fb_cell *cell, enum fb_metric metric);
/* The option of `run` that says more about the metric: " --explain", or "". */
const char *fb_moment_closer(const struct fb_cell *cell, enum fb_metric metric);

#endif
