#include "metrics/summary.h"

#include "base/alloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TIE_SHARE 0.02 /* differences of peaks below this decide nothing for a person */

static int compare_doubles(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

struct fb_summary fb_summarize(const double *values, size_t count)
{
    struct fb_summary summary = {0, NAN, NAN, NAN};
    double *sorted = fb_alloc(count, sizeof *sorted);
    unsigned n = 0;
    for (size_t i = 0; i < count; i++)
        if (!isnan(values[i]))
            sorted[n++] = values[i];
    if (n > 0) {
        qsort(sorted, n, sizeof *sorted, compare_doubles);
        double middle = (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
        summary = (struct fb_summary){n, middle, sorted[0], sorted[n - 1]};
    }
    free(sorted);
    return summary;
}

static struct fb_summary from_repetitions(const struct fb_cell *cell, enum fb_metric metric)
{
    double *values = fb_alloc(cell->repetition_count, sizeof *values);
    size_t count = 0;
    for (size_t i = 0; i < cell->repetition_count; i++)
        if (fb_status_done(cell->repetitions[i].status))
            values[count++] = cell->repetitions[i].values[metric];
    struct fb_summary summary = fb_summarize(values, count);
    free(values);
    return summary;
}

/* The timing pass keeps medians only. */
static struct fb_summary from_timing(const struct fb_cell *cell, enum fb_metric metric)
{
    double value = cell->timing.values[metric];
    if (!cell->timing.done || isnan(value))
        return (struct fb_summary){0, NAN, NAN, NAN};
    return (struct fb_summary){cell->timing.runs, value, value, value};
}

/* Higher is worse: what hides more of the truth, or points at a worse fault. */
static const unsigned severities[FB_STATUS_COUNT] = {
    [FB_STATUS_OK] = 0,
    [FB_STATUS_REFUSED] = 1,
    [FB_STATUS_INTERRUPTED] = 2,
    [FB_STATUS_NOT_INSTALLED] = 3,
    [FB_STATUS_UNSUPPORTED] = 4,
    [FB_STATUS_TIMEOUT] = 5,
    [FB_STATUS_OVER_MEMORY_LIMIT] = 6,
    [FB_STATUS_OOM_KILLED] = 7,
    [FB_STATUS_BAD_TUNABLE] = 8,
    [FB_STATUS_NOT_PRELOADED] = 9,
    [FB_STATUS_CRASHED] = 10,
    [FB_STATUS_CORRUPTED] = 11,
};

/* A cell that never ran keeps the status it was given. */
static void summarize_status(struct fb_cell *cell)
{
    if (cell->repetition_count == 0)
        return;
    const struct fb_repetition *worst = &cell->repetitions[0];
    for (size_t i = 1; i < cell->repetition_count; i++)
        if (severities[cell->repetitions[i].status] > severities[worst->status])
            worst = &cell->repetitions[i];
    free(cell->status_detail);
    cell->status = worst->status;
    cell->status_detail = worst->status_detail == NULL ? NULL : fb_strdup(worst->status_detail);
}

void fb_summarize_cell(struct fb_cell *cell)
{
    for (int i = 0; i < FB_METRIC_COUNT; i++) {
        enum fb_metric metric = (enum fb_metric)i;
        struct fb_summary summary = {0, NAN, NAN, NAN};
        if (!fb_metrics[i].timing)
            summary = from_repetitions(cell, metric);
        if (summary.n == 0)
            summary = from_timing(cell, metric);
        cell->summary[i] = summary;
    }
    summarize_status(cell);
}

static double median(const struct fb_cell *cell, enum fb_metric metric)
{
    const struct fb_summary *summary = &cell->summary[metric];
    return summary->n > 0 ? summary->median : NAN;
}

static int by_memory(const void *left, const void *right)
{
    const struct fb_cell *a = *(const struct fb_cell *const *)left;
    const struct fb_cell *b = *(const struct fb_cell *const *)right;
    static const enum fb_metric keys[] = {FB_METRIC_PEAK_FOOTPRINT_BYTES, FB_METRIC_KEPT_BYTES};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        double x = median(a, keys[i]), y = median(b, keys[i]);
        if (x < y || x > y)
            return x < y ? -1 : 1;
    }
    return strcmp(a->id, b->id); /* qsort is not stable: the same order every time */
}

static const struct fb_cell *smallest(const struct fb_verdict *verdict, enum fb_metric metric)
{
    const struct fb_cell *best = NULL;
    for (size_t i = 0; i < verdict->ranked_count; i++) {
        double value = median(verdict->ranked[i], metric);
        if (!isnan(value) && (best == NULL || value < median(best, metric)))
            best = verdict->ranked[i];
    }
    return best;
}

bool fb_summary_indistinct(const struct fb_summary *a, const struct fb_summary *b)
{
    double smaller = fmin(a->median, b->median), larger = fmax(a->median, b->median);
    bool overlap = a->min <= b->max && b->min <= a->max;
    return a->n > 0 && b->n > 0 && (overlap || larger - smaller < TIE_SHARE * smaller);
}

static bool is_null(const struct fb_cell *cell)
{
    return cell->allocator.backend != NULL && strcmp(cell->allocator.backend, "null") == 0;
}

void fb_verdict_init(struct fb_verdict *verdict, const struct fb_cell *cells, size_t count)
{
    *verdict = (struct fb_verdict){
        .ranked = fb_alloc(count, sizeof(struct fb_cell *)),
        .refused = fb_alloc(count, sizeof(struct fb_cell *)),
    };
    for (size_t i = 0; i < count; i++) {
        if (is_null(&cells[i]))
            continue;
        if (cells[i].status == FB_STATUS_REFUSED)
            verdict->refused[verdict->refused_count++] = &cells[i];
        else if (cells[i].status == FB_STATUS_OK &&
                 !isnan(median(&cells[i], FB_METRIC_PEAK_FOOTPRINT_BYTES)))
            verdict->ranked[verdict->ranked_count++] = &cells[i];
    }
    if (verdict->ranked_count == 0)
        return;
    qsort(verdict->ranked, verdict->ranked_count, sizeof(struct fb_cell *), by_memory);
    verdict->least_peak = verdict->ranked[0];
    verdict->least_end = smallest(verdict, FB_METRIC_END_FOOTPRINT_BYTES);
    verdict->fastest = smallest(verdict, FB_METRIC_NS_PER_OP);
    verdict->indistinct_peak =
        verdict->ranked_count > 1 &&
        fb_summary_indistinct(&verdict->ranked[0]->summary[FB_METRIC_PEAK_FOOTPRINT_BYTES],
                              &verdict->ranked[1]->summary[FB_METRIC_PEAK_FOOTPRINT_BYTES]);
}

void fb_verdict_deinit(struct fb_verdict *verdict)
{
    free(verdict->ranked);
    free(verdict->refused);
    *verdict = (struct fb_verdict){0};
}
