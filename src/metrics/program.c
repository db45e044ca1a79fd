#include "metrics/program.h"

#include "metrics/measure.h"

#include <math.h>

#define NO_LIVE "live bytes not counted: --live"
#define NO_TEARDOWN "only a replay frees everything"

static const enum fb_metric from_live[] = {
    FB_METRIC_PEAK_LIVE_BYTES,    FB_METRIC_OVERHEAD_PEAK_BYTES, FB_METRIC_RATIO_PEAK,
    FB_METRIC_KEPT_BYTES,         FB_METRIC_RATIO_END,           FB_METRIC_END_LIVE_BYTES,
    FB_METRIC_OVERHEAD_END_BYTES, FB_METRIC_RATIO_MEAN,          FB_METRIC_RATIO_MEAN_TIME,
    FB_METRIC_RATIO_AT_PEAK_LIVE, FB_METRIC_RATIO_MAX,           FB_METRIC_RATIO_AT_PEAK_FOOTPRINT,
    FB_METRIC_WASTE_BYTE_SECONDS,
};

static const struct {
    enum fb_metric metric;
    const char *reason;
} never[] = {
    {FB_METRIC_PEAK_TOUCHED_BYTES, "what a program wrote to is not known"},
    {FB_METRIC_RATIO_TOUCHED, "what a program wrote to is not known"},
    {FB_METRIC_DRIFT, "a program has no iterations"},
    {FB_METRIC_RETAINED_IDLE_0S_BYTES, NO_TEARDOWN},
    {FB_METRIC_RETAINED_IDLE_1S_BYTES, NO_TEARDOWN},
    {FB_METRIC_RETAINED_IDLE_10S_BYTES, NO_TEARDOWN},
    {FB_METRIC_RETAINED_ACTIVE_10S_BYTES, NO_TEARDOWN},
    {FB_METRIC_RETAINED_PURGED_BYTES, NO_TEARDOWN},
};

static void drop_live(struct fb_repetition *repetition)
{
    for (size_t i = 0; i < sizeof from_live / sizeof from_live[0]; i++)
        fb_measure_na(repetition, from_live[i], NO_LIVE);
    for (size_t i = 0; i < repetition->phase_count; i++) {
        repetition->phases[i].ratio = NAN;
        repetition->phases[i].kept_bytes = NAN;
    }
    repetition->kept_phase[0] = '\0';
}

void fb_measure_program(struct fb_repetition *repetition, bool live_counted)
{
    for (int i = 0; i < FB_METRIC_COUNT; i++)
        if (fb_metrics[i].timing)
            fb_measure_na(repetition, (enum fb_metric)i, "only a replay has a timing pass");
    fb_measure(repetition);
    if (!fb_status_done(repetition->status))
        return; /* n/a because of that */
    for (size_t i = 0; i < sizeof never / sizeof never[0]; i++)
        fb_measure_na(repetition, never[i].metric, never[i].reason);
    if (isnan(repetition->values[FB_METRIC_STARTUP_BYTES]))
        fb_measure_na(repetition, FB_METRIC_STARTUP_BYTES, "no --ready-port or --ready-line");
    if (!live_counted)
        drop_live(repetition);
}
