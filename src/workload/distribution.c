#include "workload/distribution.h"

#include "base/detmath.h"

#include <math.h>
#include <stdlib.h>

#define NORMAL_P99 2.32634787404084110089 /* the standard normal's 99th percentile */

/* 1 − u lies in (0, 1], which has a logarithm. */
static double draw_log(struct fb_rng *rng)
{
    return fb_det_log(1.0 - fb_rng_unit(rng));
}

/* Marsaglia's polar method: needs no sine, whose bits libm does not promise. */
static double draw_standard_normal(struct fb_rng *rng)
{
    double x = 0, square = 0;
    do {
        x = 2.0 * fb_rng_unit(rng) - 1.0;
        double y = 2.0 * fb_rng_unit(rng) - 1.0;
        square = x * x + y * y;
    } while (square >= 1.0 || square <= 0.0);
    return x * sqrt(-2.0 * fb_det_log(square) / square);
}

static double lognormal_sigma(const struct fb_distribution *distribution)
{
    return fb_det_log(distribution->b / distribution->a) / NORMAL_P99;
}

/* The first of count cumulative weights above a uniform draw; an entry of weight 0
 * equals its predecessor and is never the first. */
static size_t draw_index(const double *cumulative, size_t count, struct fb_rng *rng)
{
    double at = fb_rng_unit(rng) * cumulative[count - 1];
    size_t low = 0, high = count - 1;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (cumulative[middle] > at)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static double draw_uniform(const struct fb_distribution *d, struct fb_rng *rng, uint64_t *cursor)
{
    (void)cursor;
    double span = d->b - d->a + 1.0;
    if (span < 1.0)
        span = 1.0;
    if (span > (double)FB_DISTRIBUTION_MAX)
        span = (double)FB_DISTRIBUTION_MAX;
    return d->a + (double)fb_rng_below(rng, (uint64_t)span);
}

static double draw_constant(const struct fb_distribution *d, struct fb_rng *rng, uint64_t *cursor)
{
    (void)rng;
    (void)cursor;
    return d->a;
}

static double draw_normal(const struct fb_distribution *d, struct fb_rng *rng, uint64_t *cursor)
{
    (void)cursor;
    return d->a + d->b * draw_standard_normal(rng);
}

static double draw_lognormal(const struct fb_distribution *d, struct fb_rng *rng, uint64_t *cursor)
{
    (void)cursor;
    return d->a * fb_det_exp(lognormal_sigma(d) * draw_standard_normal(rng));
}

static double draw_exponential(const struct fb_distribution *d, struct fb_rng *rng,
                               uint64_t *cursor)
{
    (void)cursor;
    return -d->a * draw_log(rng);
}

static double draw_pareto(const struct fb_distribution *d, struct fb_rng *rng, uint64_t *cursor)
{
    (void)cursor;
    return d->a * fb_det_exp(-draw_log(rng) / d->b);
}

/* Inversion: 1 + ⌊ln u / ln(1 − p)⌋ with p = 1/mean. */
static double draw_geometric(const struct fb_distribution *d, struct fb_rng *rng, uint64_t *cursor)
{
    (void)cursor;
    double log_u = draw_log(rng);
    return d->a > 1.0 ? 1.0 + floor(log_u / fb_det_log(1.0 - 1.0 / d->a)) : 1.0;
}

static double draw_choice(const struct fb_distribution *d, struct fb_rng *rng, uint64_t *cursor)
{
    (void)cursor;
    return d->values[draw_index(d->weights, d->count, rng)];
}

static double draw_cycle(const struct fb_distribution *d, struct fb_rng *rng, uint64_t *cursor)
{
    (void)rng;
    double value = d->values[*cursor % d->count];
    (*cursor)++;
    return value;
}

static double draw_histogram(const struct fb_distribution *d, struct fb_rng *rng, uint64_t *cursor)
{
    (void)cursor;
    size_t bin = draw_index(d->weights, d->count, rng);
    return d->values[bin] + (d->values[bin + 1] - d->values[bin]) * fb_rng_unit(rng);
}

static double mean_constant(const struct fb_distribution *d)
{
    return d->a;
}

static double mean_uniform(const struct fb_distribution *d)
{
    return (d->a + d->b) / 2.0;
}

/* E = e^(µ + σ²/2), the median being e^µ. */
static double mean_lognormal(const struct fb_distribution *d)
{
    double sigma = lognormal_sigma(d);
    return d->a * fb_det_exp(sigma * sigma / 2.0);
}

static double mean_pareto(const struct fb_distribution *d)
{
    return d->b > 1.0 ? d->a * d->b / (d->b - 1.0) : (double)FB_DISTRIBUTION_MAX;
}

static double mean_weighted(const struct fb_distribution *d)
{
    double sum = 0.0;
    for (size_t i = 0; i < d->count; i++) {
        double value = d->kind == FB_DISTRIBUTION_HISTOGRAM ? (d->values[i] + d->values[i + 1]) / 2
                                                            : d->values[i];
        sum += value * (d->weights[i] - (i > 0 ? d->weights[i - 1] : 0.0));
    }
    return sum / d->weights[d->count - 1];
}

static double mean_cycle(const struct fb_distribution *d)
{
    double sum = 0.0;
    for (size_t i = 0; i < d->count; i++)
        sum += d->values[i];
    return sum / (double)d->count;
}

static double lowest_unbounded(const struct fb_distribution *d)
{
    (void)d;
    return -HUGE_VAL;
}

static double lowest_zero(const struct fb_distribution *d)
{
    (void)d;
    return 0.0;
}

static double lowest_one(const struct fb_distribution *d)
{
    (void)d;
    return 1.0;
}

static double lowest_value(const struct fb_distribution *d)
{
    double lowest = d->values[0]; /* a histogram's edges ascend: its first bin's */
    for (size_t i = 1; i < d->count; i++)
        lowest = d->values[i] < lowest ? d->values[i] : lowest;
    return lowest;
}

static const struct kind {
    double (*draw)(const struct fb_distribution *, struct fb_rng *, uint64_t *cursor);
    double (*mean)(const struct fb_distribution *);
    double (*lowest)(const struct fb_distribution *);
} kinds[] = {
    [FB_DISTRIBUTION_CONSTANT] = {draw_constant, mean_constant, mean_constant},
    [FB_DISTRIBUTION_UNIFORM] = {draw_uniform, mean_uniform, mean_constant},
    [FB_DISTRIBUTION_NORMAL] = {draw_normal, mean_constant, lowest_unbounded},
    [FB_DISTRIBUTION_LOGNORMAL] = {draw_lognormal, mean_lognormal, lowest_zero},
    [FB_DISTRIBUTION_EXPONENTIAL] = {draw_exponential, mean_constant, lowest_zero},
    [FB_DISTRIBUTION_PARETO] = {draw_pareto, mean_pareto, mean_constant},
    [FB_DISTRIBUTION_GEOMETRIC] = {draw_geometric, mean_constant, lowest_one},
    [FB_DISTRIBUTION_CHOICE] = {draw_choice, mean_weighted, lowest_value},
    [FB_DISTRIBUTION_CYCLE] = {draw_cycle, mean_cycle, lowest_value},
    [FB_DISTRIBUTION_HISTOGRAM] = {draw_histogram, mean_weighted, lowest_value},
};

/* Not (x > 0) also takes what is not a number, whose conversion would be undefined. */
static uint64_t whole(double x)
{
    if (!(x > 0.0))
        return 0;
    if (x >= (double)FB_DISTRIBUTION_MAX)
        return FB_DISTRIBUTION_MAX;
    return (uint64_t)(x + 0.5);
}

uint64_t fb_distribution_draw(const struct fb_distribution *distribution, struct fb_rng *rng,
                              uint64_t *cursor, uint64_t minimum)
{
    uint64_t drawn = whole(kinds[distribution->kind].draw(distribution, rng, cursor));
    return drawn > minimum ? drawn : minimum;
}

double fb_distribution_mean(const struct fb_distribution *distribution)
{
    double mean = kinds[distribution->kind].mean(distribution);
    return mean < (double)FB_DISTRIBUTION_MAX ? mean : (double)FB_DISTRIBUTION_MAX;
}

double fb_distribution_lowest(const struct fb_distribution *distribution)
{
    return kinds[distribution->kind].lowest(distribution);
}

void fb_distribution_deinit(struct fb_distribution *distribution)
{
    free(distribution->values);
    free(distribution->weights);
    distribution->values = NULL;
    distribution->weights = NULL;
    distribution->count = 0;
}
