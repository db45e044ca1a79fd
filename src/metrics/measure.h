/* Fragmentation measures of one repetition: pure functions of its series,
 * checkpoints and phases. Definitions and sources: result/metric.c's table. */
#ifndef FB_METRICS_MEASURE_H
#define FB_METRICS_MEASURE_H

#include "result/record.h"

/* Ratios are n/a where the denominator is below. */
#define FB_RATIO_FLOOR_BYTES (UINT64_C(1) << 20)
#define FB_DRIFT_MIN_ITERATIONS 40

/* Fills values[], na[], kept_phase and the phases' ratio, kept and peaks from
 * repetition->series, checkpoints and phases (names and iterations given). Values
 * that the harness knows (minor_faults, user_s, …) and timing values are left as
 * they are, unless NaN without a reason: then na gets "timing pass off" or "not read". Of a run
 * that is not done only the phases it ended are filled in; its values are n/a, since the peak of
 * half a run is no peak. */
void fb_measure(struct fb_repetition *repetition);

/* Sets a value to NaN with a reason. */
void fb_measure_na(struct fb_repetition *repetition, enum fb_metric metric, const char *reason);

/* From two latency histograms (allocations, frees; trace/shared.h's buckets as
 * counts with lower and upper bounds in ns): the quantile, 0 < q ≤ 1; NaN when empty.
 * Linear within a bucket. */
struct fb_latency_bin {
    double low_ns, high_ns;
    uint64_t count;
};
double fb_measure_quantile(const struct fb_latency_bin *bins, size_t count, double q);

#endif
