/* How large a change has to be to matter: relative to something, and in absolute terms. */
#ifndef FB_METRICS_TOLERANCE_H
#define FB_METRICS_TOLERANCE_H

#include "result/record.h"

#define FB_TOLERANCE_RELATIVE 0.05         /* 5 % */
#define FB_TOLERANCE_NOISE_BYTES 1048576.0 /* 1 MiB */

/* What a person asked for; NaN where they did not. */
struct fb_tolerances {
    double relative;                     /* of every metric: 0.05 is 5 % */
    double noise_bytes;                  /* of every metric that counts bytes */
    double relative_of[FB_METRIC_COUNT]; /* of one, before `relative` */
    double absolute_of[FB_METRIC_COUNT]; /* of one, in its own unit, before `noise_bytes` */
};

/* 5 % and 1 MiB, nothing for single metrics. */
void fb_tolerances_init(struct fb_tolerances *tolerances);

/* What a metric's relative change is relative to, of a base cell, in the metric's unit; ≤ 0 or NaN
 * where there is no such thing. Its own value; but the peak footprint for what is a difference of
 * footprint and live (kept, overhead, retained): that can be zero or negative, and 2 MiB more than
 * 1 MiB kept are not "three times as much memory" in a heap of 300 MiB. */
double fb_tolerance_scale(enum fb_metric metric, const struct fb_cell *base);
/* Whether the scale is the peak footprint. */
bool fb_tolerance_of_peak(enum fb_metric metric);

double fb_tolerance_relative(const struct fb_tolerances *tolerances, enum fb_metric metric);
/* The smallest change that matters, in the metric's unit. Of a ratio: the noise in bytes over what
 * the ratio divides by in the base, so that 1.2 to 1.3 of a heap of 2 MiB stays noise. */
double fb_tolerance_absolute(const struct fb_tolerances *tolerances, enum fb_metric metric,
                             const struct fb_cell *base);

/* Whether a change from `before` to `after` passes both. Where there is nothing to be relative to,
 * the absolute one decides alone. No change never passes. */
bool fb_tolerance_exceeded(const struct fb_tolerances *tolerances, enum fb_metric metric,
                           const struct fb_cell *base, double before, double after);

/* The metric in bytes that is judged where a ratio is n/a; the metric itself where there is none.
 */
enum fb_metric fb_tolerance_twin(enum fb_metric metric);

#endif
