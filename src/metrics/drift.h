/* Drift: does waste keep growing while the pattern repeats itself? */
#ifndef FB_METRICS_DRIFT_H
#define FB_METRICS_DRIFT_H

#include "metrics/timeline.h"

/* The measure, or NaN with *reason (static text) set. */
double fb_drift(const struct fb_repetition *repetition, const struct fb_timeline *timeline,
                const char **reason);

#endif
