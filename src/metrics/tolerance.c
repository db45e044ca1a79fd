#include "metrics/tolerance.h"

#include <math.h>

#define ROUNDING 1e-9 /* a change of 5 % to the letter passes 5 % */
#define M(name) FB_METRIC_##name

enum scale { OWN = 0, PEAK };
enum noise {
    BYTES = 0, /* noise_bytes */
    OVER,      /* noise_bytes over another metric of the base */
    FIXED,
};

/* A row for each metric that is judged; the zero row is right for plain sizes. */
static const struct rule {
    enum scale scale;
    enum noise noise;
    enum fb_metric over; /* OVER: what the ratio divides by */
    double fixed;        /* FIXED: in the metric's unit */
    enum fb_metric twin; /* 0 = none: peak_footprint_bytes is no twin */
} rules[FB_METRIC_COUNT] = {
    [M(OVERHEAD_PEAK_BYTES)] = {.scale = PEAK},
    [M(OVERHEAD_END_BYTES)] = {.scale = PEAK},
    [M(KEPT_BYTES)] = {.scale = PEAK},
    [M(RETAINED_IDLE_0S_BYTES)] = {.scale = PEAK},
    [M(RETAINED_IDLE_1S_BYTES)] = {.scale = PEAK},
    [M(RETAINED_IDLE_10S_BYTES)] = {.scale = PEAK},
    [M(RETAINED_ACTIVE_10S_BYTES)] = {.scale = PEAK},
    [M(RETAINED_PURGED_BYTES)] = {.scale = PEAK},
    [M(RATIO_PEAK)] = {OWN, OVER, M(PEAK_LIVE_BYTES), 0, M(OVERHEAD_PEAK_BYTES)},
    [M(RATIO_AT_PEAK_LIVE)] = {OWN, OVER, M(PEAK_LIVE_BYTES), 0, M(OVERHEAD_PEAK_BYTES)},
    [M(RATIO_AT_PEAK_FOOTPRINT)] = {OWN, OVER, M(PEAK_LIVE_BYTES), 0, M(OVERHEAD_PEAK_BYTES)},
    [M(RATIO_MAX)] = {OWN, OVER, M(PEAK_LIVE_BYTES), 0, 0},
    [M(RATIO_MEAN)] = {OWN, OVER, M(PEAK_LIVE_BYTES), 0, 0},
    [M(RATIO_MEAN_TIME)] = {OWN, OVER, M(PEAK_LIVE_BYTES), 0, 0},
    [M(RATIO_TOUCHED)] = {OWN, OVER, M(PEAK_TOUCHED_BYTES), 0, 0},
    [M(RATIO_END)] = {OWN, OVER, M(END_LIVE_BYTES), 0, M(OVERHEAD_END_BYTES)},
    [M(DRIFT)] = {OWN, FIXED, 0, 0.05, 0},
    [M(NS_PER_OP)] = {OWN, FIXED, 0, 1, 0},
    [M(LATENCY_P50_NS)] = {OWN, FIXED, 0, 5, 0},
    [M(LATENCY_P99_NS)] = {OWN, FIXED, 0, 20, 0},
    [M(LATENCY_P999_NS)] = {OWN, FIXED, 0, 200, 0},
    [M(LATENCY_MAX_NS)] = {OWN, FIXED, 0, 100000, 0},
    [M(MINOR_FAULTS)] = {OWN, FIXED, 0, 256, 0}, /* 1 MiB of 4 KiB pages */
    [M(USER_S)] = {OWN, FIXED, 0, 0.02, 0},      /* two ticks of the kernel's clock */
    [M(SYSTEM_S)] = {OWN, FIXED, 0, 0.02, 0},
    [M(MAPPINGS_MAX)] = {OWN, FIXED, 0, 16, 0},
};

void fb_tolerances_init(struct fb_tolerances *tolerances)
{
    tolerances->relative = FB_TOLERANCE_RELATIVE;
    tolerances->noise_bytes = FB_TOLERANCE_NOISE_BYTES;
    for (size_t i = 0; i < FB_METRIC_COUNT; i++) {
        tolerances->relative_of[i] = NAN;
        tolerances->absolute_of[i] = NAN;
    }
}

static double median(const struct fb_cell *cell, enum fb_metric metric)
{
    return cell->summary[metric].n > 0 ? cell->summary[metric].median : NAN;
}

bool fb_tolerance_of_peak(enum fb_metric metric)
{
    return rules[metric].scale == PEAK;
}

double fb_tolerance_scale(enum fb_metric metric, const struct fb_cell *base)
{
    return median(base, rules[metric].scale == PEAK ? M(PEAK_FOOTPRINT_BYTES) : metric);
}

double fb_tolerance_relative(const struct fb_tolerances *tolerances, enum fb_metric metric)
{
    double own = tolerances->relative_of[metric];
    return isnan(own) ? tolerances->relative : own;
}

double fb_tolerance_absolute(const struct fb_tolerances *tolerances, enum fb_metric metric,
                             const struct fb_cell *base)
{
    const struct rule *rule = &rules[metric];
    if (!isnan(tolerances->absolute_of[metric]))
        return tolerances->absolute_of[metric];
    if (rule->noise == FIXED)
        return rule->fixed;
    if (rule->noise == BYTES)
        return tolerances->noise_bytes;
    double divisor = median(base, rule->over);
    return divisor > 0 ? tolerances->noise_bytes / divisor : 0;
}

bool fb_tolerance_exceeded(const struct fb_tolerances *tolerances, enum fb_metric metric,
                           const struct fb_cell *base, double before, double after)
{
    double change = fabs(after - before) * (1 + ROUNDING);
    double scale = fb_tolerance_scale(metric, base);
    bool relative = !(scale > 0) || change >= fb_tolerance_relative(tolerances, metric) * scale;
    return change > 0 && relative && change >= fb_tolerance_absolute(tolerances, metric, base);
}

enum fb_metric fb_tolerance_twin(enum fb_metric metric)
{
    return rules[metric].twin == 0 ? metric : rules[metric].twin;
}
