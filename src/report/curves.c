#include "report/curves.h"

#include "base/alloc.h"
#include "metrics/measure.h"
#include "metrics/timeline.h"
#include "result/store.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_S 1e9

/* How many done repetitions have a lower peak than this one, or the same and come first. */
static size_t rank(const struct fb_cell *cell, const struct fb_repetition *of)
{
    double peak = of->values[FB_METRIC_PEAK_FOOTPRINT_BYTES];
    size_t lower = 0;
    for (size_t i = 0; i < cell->repetition_count; i++) {
        const struct fb_repetition *other = &cell->repetitions[i];
        double value = other->values[FB_METRIC_PEAK_FOOTPRINT_BYTES];
        lower += fb_status_done(other->status) && (value < peak || (value <= peak && other < of));
    }
    return lower;
}

const struct fb_repetition *fb_curves_choose(const struct fb_cell *cell)
{
    size_t done = 0;
    for (size_t i = 0; i < cell->repetition_count; i++)
        done += fb_status_done(cell->repetitions[i].status);
    for (size_t i = 0; i < cell->repetition_count; i++)
        if (fb_status_done(cell->repetitions[i].status) &&
            rank(cell, &cell->repetitions[i]) == (done - 1) / 2)
            return &cell->repetitions[i];
    return fb_cell_done(cell);
}

static double ratio_of(const struct fb_reading *reading)
{
    return reading->live_bytes < FB_RATIO_FLOOR_BYTES
               ? NAN
               : (double)reading->footprint_bytes / (double)reading->live_bytes;
}

static void take_phases(const struct fb_repetition *repetition, struct fb_cell_curves *out)
{
    struct fb_timeline timeline;
    fb_timeline_init(&timeline, repetition);
    for (size_t i = 0; i < timeline.count; i++) {
        const struct fb_reading *reading = &timeline.readings[i];
        double t = (double)reading->t_ns / NS_PER_S;
        fb_curve_add(&out->footprint, t, (double)reading->footprint_bytes);
        fb_curve_add(&out->live, t, (double)reading->live_bytes);
        fb_curve_add(&out->ratio, t, ratio_of(reading));
        out->end_s = t;
    }
    fb_timeline_deinit(&timeline);
}

/* What stays at a checkpoint, t after the last free. */
static void add_tail(const struct fb_repetition *repetition, const char *kind, uint64_t start_ns,
                     struct fb_cell_curves *out)
{
    const struct fb_checkpoint *at = fb_timeline_checkpoint(repetition, kind, -1);
    if (at != NULL && at->t_ns >= start_ns)
        fb_curve_add(&out->tail, (double)(at->t_ns - start_ns) / NS_PER_S,
                     (double)at->footprint_bytes - (double)at->live_bytes);
}

/* The readings after the last free: checkpoints, and the samples between them. The purge stands at
 * the same moment as the one before it and is no part of the curve. */
static void take_tail(const struct fb_repetition *repetition, struct fb_cell_curves *out)
{
    static const char *const kinds[] = {"idle_0s", "idle_1s", "idle_10s", "active_10s"};
    const struct fb_checkpoint *start = fb_timeline_checkpoint(repetition, kinds[0], -1);
    const struct fb_series *series = &repetition->series;
    size_t next = 0;
    for (size_t i = 0; start != NULL && i < sizeof kinds / sizeof kinds[0]; i++) {
        const struct fb_checkpoint *at = fb_timeline_checkpoint(repetition, kinds[i], -1);
        for (; at != NULL && next < series->count && series->points[next].t_ns < at->t_ns; next++) {
            const struct fb_point *point = &series->points[next];
            if (point->t_ns > start->t_ns)
                fb_curve_add(&out->tail, (double)(point->t_ns - start->t_ns) / NS_PER_S,
                             (double)point->footprint_bytes - (double)point->live_bytes);
        }
        add_tail(repetition, kinds[i], start->t_ns, out);
    }
}

static void thin(struct fb_cell_curves *out, size_t columns)
{
    size_t most = columns < FB_CURVE_COLUMNS_MAX ? columns : FB_CURVE_COLUMNS_MAX;
    struct fb_curve *all[] = {&out->footprint, &out->live, &out->ratio, &out->tail};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        fb_curve_thin(all[i], most);
}

static char *why_none(const struct fb_cell *cell)
{
    return fb_strdup(fb_status_done(cell->status) ? "no run of it is done"
                                                  : fb_status_name(cell->status));
}

void fb_curves_load(const char *dir, const struct fb_cell *cell, size_t columns,
                    struct fb_cell_curves *out)
{
    *out = (struct fb_cell_curves){0};
    const struct fb_repetition *chosen = fb_curves_choose(cell);
    struct fb_error err = {0};
    if (chosen == NULL) {
        out->absent = why_none(cell);
        return;
    }
    struct fb_repetition filled = *chosen; /* borrows all but the points */
    if (chosen->series_file == NULL) {
        out->absent = fb_strdup("it has no series");
    } else if (fb_store_read_series(dir, chosen, &filled.series, &err) != 0) {
        out->absent = fb_strdup(err.text);
    } else {
        take_phases(&filled, out);
        take_tail(&filled, out);
        thin(out, columns);
        free(filled.series.points);
        out->drawn = chosen;
    }
    if (out->drawn != NULL && out->footprint.count == 0) {
        out->drawn = NULL;
        out->absent = fb_strdup("its series is empty");
    }
}

void fb_curves_deinit(struct fb_cell_curves *curves)
{
    fb_curve_deinit(&curves->footprint);
    fb_curve_deinit(&curves->live);
    fb_curve_deinit(&curves->ratio);
    fb_curve_deinit(&curves->tail);
    free(curves->absent);
    *curves = (struct fb_cell_curves){0};
}
