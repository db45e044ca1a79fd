#include "metrics/limits.h"

#include "base/alloc.h"
#include "metrics/moment.h"
#include "metrics/show.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What to limit where a ratio is n/a, since almost nothing is live. */
static const struct {
    enum fb_metric ratio;
    const char *instead;
} instead[] = {
    {FB_METRIC_RATIO_PEAK, "overhead_peak_bytes"},
    {FB_METRIC_RATIO_TOUCHED, "overhead_peak_bytes"},
    {FB_METRIC_RATIO_END, "overhead_end_bytes"},
    {FB_METRIC_RATIO_MAX, "overhead_peak_bytes"},
};

static const char *or_empty(const char *text)
{
    return text != NULL ? text : "";
}

/* "kv-cache-growth, jemalloc" or "kv-cache-growth (steps=10), jemalloc". New string. */
static char *name_of(const struct fb_cell *cell)
{
    const char *workload = or_empty(cell->workload.name), *label = or_empty(cell->allocator.name);
    const char *id = or_empty(cell->id);
    size_t head = strlen(workload) + strlen(label) + 2; /* "workload/label/" */
    bool params = strlen(id) > head;
    return fb_format("%s%s%s%s, %s", workload, params ? " (" : "", params ? id + head : "",
                     params ? ")" : "", label);
}

const struct fb_limit *fb_limits_find(const struct fb_cell *cell, enum fb_metric metric)
{
    for (size_t i = 0; i < cell->limit_count; i++)
        if (cell->limits[i].metric == metric)
            return &cell->limits[i];
    return NULL;
}

static void judge_failed(const struct fb_cell *cell, struct fb_findings *findings)
{
    struct fb_finding *finding = fb_findings_add(findings);
    bool skipped = fb_status_skipped(cell->status);
    char *name = name_of(cell);
    const char *detail = or_empty(cell->status_detail);
    finding->judgement = skipped ? FB_JUDGED_SKIPPED : FB_JUDGED_FAILED;
    finding->gates = !skipped;
    finding->cell = cell;
    finding->message = fb_format("%s: no figure to hold against its limits: %s%s%s", name,
                                 fb_status_name(cell->status), *detail != '\0' ? ": " : "", detail);
    if (!skipped)
        finding->next = fb_moment_command(cell, "");
    free(name);
}

static const char *na_reason(const struct fb_cell *cell, enum fb_metric metric)
{
    if (fb_metrics[metric].timing && !cell->timing.done)
        return fb_status_done(cell->timing.status) ? "timing pass off" : "timing pass failed";
    if (metric == FB_METRIC_NS_PER_OP)
        return "no slower than the replay itself";
    for (size_t i = 0; i < cell->repetition_count; i++)
        if (fb_status_done(cell->repetitions[i].status) && cell->repetitions[i].na[metric] != NULL)
            return cell->repetitions[i].na[metric];
    return "not measured";
}

static void judge_na(const struct fb_cell *cell, const struct fb_limit *limit,
                     struct fb_finding *finding)
{
    char *name = name_of(cell), *max = fb_metric_show(limit->metric, limit->max);
    finding->judgement = FB_JUDGED_SKIPPED;
    finding->message =
        fb_format("%s: %s was not held against its limit of %s: n/a, %s", name,
                  fb_metrics[limit->metric].name, max, na_reason(cell, limit->metric));
    for (size_t i = 0; i < sizeof instead / sizeof instead[0]; i++)
        if (instead[i].ratio == limit->metric)
            finding->next = fb_format("limit %s instead", instead[i].instead);
    free(max);
    free(name);
}

/* " (1.20–1.23 over 3 runs, worst: run 2, layout 1, seed 42)"; "" for one run. New string. */
static char *spread(const struct fb_cell *cell, const struct fb_limit *limit)
{
    const struct fb_summary *summary = &cell->summary[limit->metric];
    const struct fb_repetition *worst = fb_moment_worst(cell, limit->metric);
    if (summary->n < 2)
        return fb_strdup("");
    char *low = fb_metric_show(limit->metric, summary->min);
    char *high = fb_metric_show(limit->metric, summary->max);
    char *who = worst == NULL ? fb_strdup("")
                              : fb_format(", worst: run %u, layout %u, seed %llu", worst->index,
                                          worst->layout, (unsigned long long)worst->seed);
    char *text = strcmp(low, high) == 0
                     ? fb_format(" (in all %u runs)", summary->n)
                     : fb_format(" (%s to %s over %u runs%s)", low, high, summary->n, who);
    free(who);
    free(high);
    free(low);
    return text;
}

static void judge_value(const struct fb_cell *cell, const struct fb_limit *limit,
                        struct fb_finding *finding)
{
    double value = cell->summary[limit->metric].median;
    bool over = value > limit->max;
    char *shown = fb_metric_show(limit->metric, value);
    char *max = fb_metric_show(limit->metric, limit->max);
    if (strcmp(shown, max) == 0 && (over || value < limit->max)) {
        free(shown);
        free(max);
        shown = fb_metric_show_exact(limit->metric, value);
        max = fb_metric_show_exact(limit->metric, limit->max);
    }
    char *name = name_of(cell), *runs = spread(cell, limit);
    finding->judgement = over ? FB_JUDGED_OVER_LIMIT : FB_JUDGED_UNCHANGED;
    finding->gates = over;
    finding->message =
        fb_format("%s: %s %s is %s its limit of %s%s", name, fb_metrics[limit->metric].name, shown,
                  over ? "over" : "within", max, runs);
    free(runs);
    free(name);
    free(max);
    free(shown);
}

static void judge_limit(const struct fb_cell *cell, const struct fb_limit *limit,
                        struct fb_findings *findings)
{
    const struct fb_repetition *worst = fb_moment_worst(cell, limit->metric);
    struct fb_finding *finding = fb_findings_add(findings);
    finding->cell = cell;
    finding->metric = limit->metric;
    finding->limit = limit->max;
    finding->after = cell->summary[limit->metric];
    if (finding->after.n == 0) {
        judge_na(cell, limit, finding);
        return;
    }
    judge_value(cell, limit, finding);
    if (worst != NULL)
        finding->where = fb_moment_text(worst, limit->metric);
    if (finding->gates)
        finding->next = fb_moment_look(cell, limit->metric);
}

void fb_limits_judge(const struct fb_result *result, struct fb_findings *findings)
{
    for (size_t i = 0; i < result->cell_count; i++) {
        const struct fb_cell *cell = &result->cells[i];
        if (cell->limit_count > 0 && !fb_status_done(cell->status)) {
            judge_failed(cell, findings);
            continue;
        }
        for (size_t j = 0; j < cell->limit_count; j++)
            judge_limit(cell, &cell->limits[j], findings);
    }
}
