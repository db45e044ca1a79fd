#include "metrics/drift.h"

#include "metrics/measure.h"

#include <math.h>

#define QUARTER_SAMPLES_MIN 10U
#define WASTE_MIN 0.001     /* below a thousandth of live, growth is noise of single pages */
#define REASON_ITERATION 1U /* fb_point_reasons[] */

enum { SECOND = 1, LAST = 3, QUARTERS };

struct mean {
    double sum;
    size_t count;
};

static size_t longest_phase(const struct fb_repetition *repetition)
{
    size_t longest = 0;
    for (size_t i = 1; i < repetition->phase_count; i++)
        if (repetition->phases[i].iterations > repetition->phases[longest].iterations)
            longest = i;
    return longest;
}

/* Waste is relative to live, so that a cache or a leak that is live does not count. */
static void add_point(struct mean quarters[QUARTERS], const struct fb_point *point,
                      uint64_t iterations)
{
    double live = (double)point->live_bytes;
    uint64_t quarter = (uint64_t)((double)point->iteration / (double)iterations * QUARTERS);
    struct mean *mean = &quarters[quarter < QUARTERS ? quarter : LAST];
    mean->sum += ((double)point->footprint_bytes - live) / live;
    mean->count++;
}

static double no_drift(const char **reason, const char *text)
{
    *reason = text;
    return NAN;
}

double fb_drift(const struct fb_repetition *repetition, const struct fb_timeline *timeline,
                const char **reason)
{
    size_t phase = longest_phase(repetition);
    uint64_t iterations = repetition->phase_count > 0 ? repetition->phases[phase].iterations : 0;
    struct mean quarters[QUARTERS] = {{0}};
    if (iterations < FB_DRIFT_MIN_ITERATIONS)
        return no_drift(reason, "fewer than 40 iterations");
    for (size_t i = 0; i < timeline->point_count; i++) {
        const struct fb_point *point = &timeline->points[i];
        if (point->phase == phase && point->reason == REASON_ITERATION &&
            point->live_bytes >= FB_RATIO_FLOOR_BYTES)
            add_point(quarters, point, iterations);
    }
    if (quarters[SECOND].count < QUARTER_SAMPLES_MIN || quarters[LAST].count < QUARTER_SAMPLES_MIN)
        return no_drift(reason, "fewer than 10 samples of 1 MiB live in a quarter");
    double base = quarters[SECOND].sum / (double)quarters[SECOND].count;
    if (base < WASTE_MIN)
        return no_drift(reason, "no waste to drift");
    return quarters[LAST].sum / (double)quarters[LAST].count / base;
}
