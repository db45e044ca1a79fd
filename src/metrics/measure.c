#include "metrics/measure.h"

#include "metrics/drift.h"
#include "metrics/timeline.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* What all measures of whole runs are made of. */
struct facts {
    double peak_footprint, live_at_peak_footprint;
    double peak_live, footprint_at_peak_live;
    double peak_touched;
    double end_footprint, end_live;
    double startup, lazyfree, mappings;
};

#define FACT(member) offsetof(struct facts, member)
#define NOTHING SIZE_MAX

/* value = fact, or the difference of two */
static const struct {
    enum fb_metric metric;
    size_t fact, minus;
} amounts[] = {
    {FB_METRIC_PEAK_FOOTPRINT_BYTES, FACT(peak_footprint), NOTHING},
    {FB_METRIC_PEAK_LIVE_BYTES, FACT(peak_live), NOTHING},
    {FB_METRIC_PEAK_TOUCHED_BYTES, FACT(peak_touched), NOTHING},
    {FB_METRIC_OVERHEAD_PEAK_BYTES, FACT(peak_footprint), FACT(peak_live)},
    {FB_METRIC_END_FOOTPRINT_BYTES, FACT(end_footprint), NOTHING},
    {FB_METRIC_END_LIVE_BYTES, FACT(end_live), NOTHING},
    {FB_METRIC_OVERHEAD_END_BYTES, FACT(end_footprint), FACT(end_live)},
    {FB_METRIC_LAZYFREE_MAX_BYTES, FACT(lazyfree), NOTHING},
};

/* value = over / under; n/a with the reason where under is below the floor */
static const struct {
    enum fb_metric metric;
    size_t over, under;
    const char *reason;
} ratios[] = {
    {FB_METRIC_RATIO_PEAK, FACT(peak_footprint), FACT(peak_live), "live peak below 1 MiB"},
    {FB_METRIC_RATIO_END, FACT(end_footprint), FACT(end_live), "live at the end below 1 MiB"},
    {FB_METRIC_RATIO_AT_PEAK_LIVE, FACT(footprint_at_peak_live), FACT(peak_live),
     "live peak below 1 MiB"},
    {FB_METRIC_RATIO_AT_PEAK_FOOTPRINT, FACT(peak_footprint), FACT(live_at_peak_footprint),
     "live at the footprint's peak below 1 MiB"},
    {FB_METRIC_RATIO_TOUCHED, FACT(peak_footprint), FACT(peak_touched), "touched peak below 1 MiB"},
};

static const struct {
    enum fb_metric metric;
    const char *kind;
} retained[] = {
    {FB_METRIC_RETAINED_IDLE_0S_BYTES, "idle_0s"},
    {FB_METRIC_RETAINED_IDLE_1S_BYTES, "idle_1s"},
    {FB_METRIC_RETAINED_IDLE_10S_BYTES, "idle_10s"},
    {FB_METRIC_RETAINED_ACTIVE_10S_BYTES, "active_10s"},
    {FB_METRIC_RETAINED_PURGED_BYTES, "purged"},
};

/* Known to the harness alone, never computed here. */
static bool from_harness(enum fb_metric metric)
{
    return metric == FB_METRIC_WALL_S || metric == FB_METRIC_MINOR_FAULTS ||
           metric == FB_METRIC_USER_S || metric == FB_METRIC_SYSTEM_S ||
           metric == FB_METRIC_MAPPINGS_MAX;
}

void fb_measure_na(struct fb_repetition *repetition, enum fb_metric metric, const char *reason)
{
    repetition->values[metric] = NAN;
    repetition->na[metric] = reason;
}

static void set(struct fb_repetition *repetition, enum fb_metric metric, double value)
{
    repetition->values[metric] = value;
    repetition->na[metric] = NULL;
}

/* NaN where the denominator is below the floor: a ratio to almost nothing says nothing. */
static double ratio(double footprint, double live)
{
    return live >= (double)FB_RATIO_FLOOR_BYTES ? footprint / live : NAN;
}

static double fact(const struct facts *facts, size_t offset)
{
    return *(const double *)(const void *)((const char *)facts + offset);
}

/* First moments: a later reading takes over only when larger, or exacter at the same instant. */
static void find_peaks(const struct fb_timeline *timeline, struct facts *facts)
{
    uint64_t t_footprint = 0, t_live = 0;
    for (size_t i = 0; i < timeline->count; i++) {
        const struct fb_reading *reading = &timeline->readings[i];
        double footprint = (double)reading->footprint_bytes, live = (double)reading->live_bytes;
        if (footprint > facts->peak_footprint ||
            (footprint >= facts->peak_footprint && reading->t_ns == t_footprint)) {
            facts->peak_footprint = footprint;
            facts->live_at_peak_footprint = live;
            t_footprint = reading->t_ns;
        }
        if (live > facts->peak_live || (live >= facts->peak_live && reading->t_ns == t_live)) {
            facts->peak_live = live;
            facts->footprint_at_peak_live = footprint;
            t_live = reading->t_ns;
        }
        facts->peak_touched = fmax(facts->peak_touched, (double)reading->touched_bytes);
    }
}

static void find_facts(const struct fb_repetition *repetition, const struct fb_timeline *timeline,
                       struct facts *facts)
{
    const struct fb_checkpoint *start = fb_timeline_checkpoint(repetition, "start", -1);
    *facts = (struct facts){
        .end_footprint = (double)timeline->end->footprint_bytes,
        .end_live = (double)timeline->end->live_bytes,
        .startup = start == NULL ? NAN : (double)start->footprint_bytes,
    };
    find_peaks(timeline, facts);
    for (size_t i = 0; i < timeline->checkpoint_count; i++) {
        const struct fb_checkpoint *checkpoint = &repetition->checkpoints[i];
        facts->lazyfree = fmax(facts->lazyfree, (double)checkpoint->lazyfree_bytes);
        facts->mappings = fmax(facts->mappings, (double)checkpoint->mappings);
    }
}

static void measure_facts(struct fb_repetition *repetition, const struct facts *facts)
{
    for (size_t i = 0; i < sizeof amounts / sizeof amounts[0]; i++) {
        double minus = amounts[i].minus == NOTHING ? 0 : fact(facts, amounts[i].minus);
        set(repetition, amounts[i].metric, fact(facts, amounts[i].fact) - minus);
    }
    for (size_t i = 0; i < sizeof ratios / sizeof ratios[0]; i++) {
        double value = ratio(fact(facts, ratios[i].over), fact(facts, ratios[i].under));
        if (isnan(value))
            fb_measure_na(repetition, ratios[i].metric, ratios[i].reason);
        else
            set(repetition, ratios[i].metric, value);
    }
    if (isnan(facts->startup))
        fb_measure_na(repetition, FB_METRIC_STARTUP_BYTES, "no checkpoint before the first phase");
    else
        set(repetition, FB_METRIC_STARTUP_BYTES, facts->startup);
    if (facts->mappings > 0)
        set(repetition, FB_METRIC_MAPPINGS_MAX, facts->mappings);
}

/* A weighted mean of F/L and the largest F/L. */
struct curve {
    double volume_sum, volume_weight;
    double time_sum, time_weight;
    double largest;
    double waste; /* byte × s */
};

static void add_reading(struct curve *curve, double footprint, double live, double volume,
                        double seconds)
{
    double value = ratio(footprint, live);
    curve->waste += (footprint - live) * seconds;
    if (isnan(value))
        return;
    curve->volume_sum += value * volume;
    curve->volume_weight += volume;
    curve->time_sum += value * seconds;
    curve->time_weight += seconds;
}

/* Each sample stands for the bytes allocated since the one before, and for the time until the
 * next; the last one until the end of the last phase. */
static void find_curve(const struct fb_timeline *timeline, struct curve *curve)
{
    uint64_t volume = 0;
    for (size_t i = 0; i < timeline->point_count; i++) {
        const struct fb_point *point = &timeline->points[i];
        bool last = i + 1 == timeline->point_count;
        uint64_t until = last ? timeline->end->t_ns : timeline->points[i + 1].t_ns;
        uint64_t held_ns = until > point->t_ns ? until - point->t_ns : 0;
        uint64_t added = point->volume_bytes > volume ? point->volume_bytes - volume : 0;
        add_reading(curve, (double)point->footprint_bytes, (double)point->live_bytes, (double)added,
                    (double)held_ns / 1e9);
        volume = point->volume_bytes;
    }
    curve->largest = NAN;
    for (size_t i = 0; i < timeline->count; i++)
        curve->largest = fmax(curve->largest, ratio((double)timeline->readings[i].footprint_bytes,
                                                    (double)timeline->readings[i].live_bytes));
}

static void set_mean(struct fb_repetition *repetition, enum fb_metric metric, double sum,
                     double weight, const char *reason)
{
    if (weight > 0)
        set(repetition, metric, sum / weight);
    else
        fb_measure_na(repetition, metric, reason);
}

static void measure_curve(struct fb_repetition *repetition, const struct fb_timeline *timeline)
{
    struct curve curve = {0};
    find_curve(timeline, &curve);
    set_mean(repetition, FB_METRIC_RATIO_MEAN, curve.volume_sum, curve.volume_weight,
             "nothing allocated while 1 MiB or more was live");
    set_mean(repetition, FB_METRIC_RATIO_MEAN_TIME, curve.time_sum, curve.time_weight,
             "no time passed while 1 MiB or more was live");
    set_mean(repetition, FB_METRIC_RATIO_MAX, curve.largest, isnan(curve.largest) ? 0 : 1,
             "live peak below 1 MiB");
    if (timeline->point_count > 0)
        set(repetition, FB_METRIC_WASTE_BYTE_SECONDS, curve.waste);
    else
        fb_measure_na(repetition, FB_METRIC_WASTE_BYTE_SECONDS, "no samples");
}

static void measure_phase_peaks(struct fb_repetition *repetition,
                                const struct fb_timeline *timeline)
{
    for (size_t i = 0; i < repetition->phase_count; i++) {
        repetition->phases[i].peak_footprint_bytes = 0;
        repetition->phases[i].peak_live_bytes = 0;
    }
    for (size_t i = 0; i < timeline->count; i++) {
        const struct fb_reading *reading = &timeline->readings[i];
        if (reading->phase < 0 || (size_t)reading->phase >= repetition->phase_count)
            continue;
        struct fb_phase_record *phase = &repetition->phases[reading->phase];
        if (reading->footprint_bytes > phase->peak_footprint_bytes)
            phase->peak_footprint_bytes = reading->footprint_bytes;
        if (reading->live_bytes > phase->peak_live_bytes)
            phase->peak_live_bytes = reading->live_bytes;
    }
}

static void measure_phase_ends(struct fb_repetition *repetition)
{
    for (size_t i = 0; i < repetition->phase_count; i++) {
        struct fb_phase_record *phase = &repetition->phases[i];
        const struct fb_checkpoint *end = fb_timeline_checkpoint(repetition, "phase_end", (int)i);
        phase->ratio = NAN;
        phase->kept_bytes = NAN;
        if (end == NULL)
            continue;
        phase->footprint_bytes = end->footprint_bytes;
        phase->live_bytes = end->live_bytes;
        phase->ratio = ratio((double)end->footprint_bytes, (double)end->live_bytes);
        phase->kept_bytes = (double)end->footprint_bytes - (double)end->live_bytes;
    }
}

static void measure_kept(struct fb_repetition *repetition)
{
    const struct fb_phase_record *most = NULL;
    for (size_t i = 0; i < repetition->phase_count; i++) {
        const struct fb_phase_record *phase = &repetition->phases[i];
        if (!isnan(phase->kept_bytes) && (most == NULL || phase->kept_bytes > most->kept_bytes))
            most = phase;
    }
    if (most == NULL) {
        fb_measure_na(repetition, FB_METRIC_KEPT_BYTES, "no phase ended");
        return;
    }
    set(repetition, FB_METRIC_KEPT_BYTES, most->kept_bytes);
    (void)snprintf(repetition->kept_phase, sizeof repetition->kept_phase, "%s", most->name);
}

static void measure_retained(struct fb_repetition *repetition)
{
    for (size_t i = 0; i < sizeof retained / sizeof retained[0]; i++) {
        const struct fb_checkpoint *checkpoint =
            fb_timeline_checkpoint(repetition, retained[i].kind, -1);
        if (checkpoint == NULL)
            fb_measure_na(repetition, retained[i].metric, "not measured in this run");
        else
            set(repetition, retained[i].metric,
                (double)checkpoint->footprint_bytes - (double)checkpoint->live_bytes);
    }
}

static void measure_drift(struct fb_repetition *repetition, const struct fb_timeline *timeline)
{
    const char *reason = NULL;
    double drift = fb_drift(repetition, timeline, &reason);
    if (isnan(drift))
        fb_measure_na(repetition, FB_METRIC_DRIFT, reason);
    else
        set(repetition, FB_METRIC_DRIFT, drift);
}

static void give_reasons(struct fb_repetition *repetition)
{
    for (int i = 0; i < FB_METRIC_COUNT; i++) {
        bool outside = fb_metrics[i].timing || from_harness((enum fb_metric)i);
        if (outside && isnan(repetition->values[i]) && repetition->na[i] == NULL)
            repetition->na[i] = fb_metrics[i].timing ? "timing pass off" : "not read";
    }
}

/* A peak of half a run is no peak: what a failed worker left is in its series and phases only. */
static void measure_nothing(struct fb_repetition *repetition, const char *reason)
{
    for (int i = 0; i < FB_METRIC_COUNT; i++)
        if (!fb_metrics[i].timing && !from_harness((enum fb_metric)i))
            fb_measure_na(repetition, (enum fb_metric)i, reason);
    repetition->kept_phase[0] = '\0';
}

void fb_measure(struct fb_repetition *repetition)
{
    struct fb_timeline timeline;
    struct facts facts;
    fb_timeline_init(&timeline, repetition);
    measure_phase_peaks(repetition, &timeline);
    measure_phase_ends(repetition);
    if (!fb_status_done(repetition->status)) {
        measure_nothing(repetition, "the run did not finish");
    } else if (timeline.end == NULL) {
        measure_nothing(repetition, "no phase ended");
    } else {
        find_facts(repetition, &timeline, &facts);
        measure_facts(repetition, &facts);
        measure_kept(repetition);
        measure_curve(repetition, &timeline);
        measure_drift(repetition, &timeline);
        measure_retained(repetition);
    }
    give_reasons(repetition);
    fb_timeline_deinit(&timeline);
}
