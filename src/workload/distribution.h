/* Distributions of sizes, counts and times.
 *
 * Sampling uses base/rng and base/detmath only, so draws are the same bits on
 * every machine. Results are rounded to the nearest whole unit and clamped to
 * [minimum, FB_DISTRIBUTION_MAX]. Values owned by histogram, choice and cycle are
 * freed by fb_distribution_deinit().
 */
#ifndef FB_WORKLOAD_DISTRIBUTION_H
#define FB_WORKLOAD_DISTRIBUTION_H

#include "base/rng.h"

#include <stddef.h>
#include <stdint.h>

#define FB_DISTRIBUTION_MAX (UINT64_C(1) << 46)

enum fb_distribution_kind {
    FB_DISTRIBUTION_CONSTANT = 0, /* a */
    FB_DISTRIBUTION_UNIFORM,      /* a ≤ x ≤ b, both included */
    FB_DISTRIBUTION_NORMAL,       /* mean a, standard deviation b */
    FB_DISTRIBUTION_LOGNORMAL,    /* median a, 99th percentile b */
    FB_DISTRIBUTION_EXPONENTIAL,  /* mean a */
    FB_DISTRIBUTION_PARETO,       /* minimum a, shape b */
    FB_DISTRIBUTION_GEOMETRIC,    /* mean a ≥ 1: 1, 2, 3 … */
    FB_DISTRIBUTION_CHOICE,       /* values by weight */
    FB_DISTRIBUTION_CYCLE,        /* values in turn */
    FB_DISTRIBUTION_HISTOGRAM,    /* edges e0 < … < en, counts c1 … cn: uniform within a bin */
};

struct fb_distribution {
    enum fb_distribution_kind kind;
    double a, b;
    double *values;  /* choice, cycle: values; histogram: edges */
    double *weights; /* choice: weights; histogram: counts; both cumulative after init */
    size_t count;    /* of values; histogram: of bins */
};

/* One draw. *cursor is the cycle's position, kept by the caller (start at 0). */
uint64_t fb_distribution_draw(const struct fb_distribution *distribution, struct fb_rng *rng,
                              uint64_t *cursor, uint64_t minimum);
/* The exact mean (pareto with shape ≤ 1: FB_DISTRIBUTION_MAX). */
double fb_distribution_mean(const struct fb_distribution *distribution);
/* Bounds that no draw leaves, before clamping to FB_DISTRIBUTION_MAX. */
double fb_distribution_lowest(const struct fb_distribution *distribution);
void fb_distribution_deinit(struct fb_distribution *distribution);

#endif
