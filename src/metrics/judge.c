#include "metrics/judge.h"

#include "base/alloc.h"
#include "metrics/rank_test.h"
#include "metrics/summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ALPHA 0.05
#define RANK_MIN 4U /* fewer cannot reach p < 0.05: 2 / C(6, 3) = 0.1 */
#define APART_MIN 3U

static bool equal(double a, double b)
{
    return a <= b && a >= b;
}

static void add(struct fb_values *values, double value, const struct fb_repetition *run)
{
    if (isnan(value))
        return;
    values->values[values->count] = value;
    values->runs[values->count++] = run;
}

void fb_values_init(struct fb_values *values, const struct fb_cell *cell, enum fb_metric metric)
{
    size_t most = cell->repetition_count + 1;
    *values = (struct fb_values){.values = fb_alloc(most, sizeof(double)),
                                 .runs = fb_alloc(most, sizeof(struct fb_repetition *))};
    for (size_t i = 0; !fb_metrics[metric].timing && i < cell->repetition_count; i++)
        if (fb_status_done(cell->repetitions[i].status))
            add(values, cell->repetitions[i].values[metric], &cell->repetitions[i]);
    if (values->count == 0 && cell->timing.done)
        add(values, cell->timing.values[metric], NULL);
    values->summary = fb_summarize(values->values, values->count);
}

void fb_values_deinit(struct fb_values *values)
{
    free(values->values);
    free(values->runs);
    *values = (struct fb_values){0};
}

bool fb_judge_repeats(const struct fb_host *host, const struct fb_cell *cell)
{
    return host->statm_exact && cell->clock_proven && cell->clock != NULL && cell->order != NULL &&
           cell->layout != NULL && strcmp(cell->clock, "virtual") == 0 &&
           strcmp(cell->order, "lockstep") == 0 && strcmp(cell->layout, "fixed") == 0 &&
           !fb_cell_used_huge_pages(cell);
}

static bool of_seed(const struct fb_repetition *run, const struct fb_repetition *other)
{
    return run == NULL || other == NULL || run->seed == other->seed;
}

/* Median of the values whose run has the seed of `run`; NaN where there is none. */
static double seed_median(const struct fb_values *values, const struct fb_repetition *run)
{
    double *same = fb_alloc(values->count, sizeof *same);
    size_t count = 0;
    for (size_t i = 0; i < values->count; i++)
        if (of_seed(values->runs[i], run))
            same[count++] = values->values[i];
    struct fb_summary summary = fb_summarize(same, count);
    free(same);
    return summary.median;
}

/* Whether each seed has one value. */
static bool constant(const struct fb_values *values)
{
    for (size_t i = 0; i < values->count; i++)
        for (size_t j = 0; j < i; j++)
            if (of_seed(values->runs[i], values->runs[j]) &&
                !equal(values->values[i], values->values[j]))
                return false;
    return true;
}

/* The values less the base's median of their seed, or of all where the base lacks that seed. New
 * array. */
static double *centre(const struct fb_values *values, const struct fb_values *base)
{
    double *centred = fb_alloc(values->count, sizeof *centred);
    for (size_t i = 0; i < values->count; i++) {
        double middle = seed_median(base, values->runs[i]);
        centred[i] = values->values[i] - (isnan(middle) ? base->summary.median : middle);
    }
    return centred;
}

static bool stand_apart(const struct fb_summary *a, const struct fb_summary *b)
{
    if (a->n < APART_MIN || b->n < APART_MIN)
        return false;
    double gap = fmax(b->min - a->max, a->min - b->max);
    double width = fmax(a->max - a->min, b->max - b->min);
    bool few = a->n < RANK_MIN || b->n < RANK_MIN;
    return gap > 0 && (!few || gap >= width);
}

bool fb_judge_apart(const struct fb_values *before, const struct fb_values *after)
{
    double *a = centre(before, before), *b = centre(after, before);
    struct fb_summary left = fb_summarize(a, before->count);
    struct fb_summary right = fb_summarize(b, after->count);
    free(a);
    free(b);
    return stand_apart(&left, &right);
}

static double rank_p(const struct fb_values *before, const struct fb_values *after)
{
    if (before->count < RANK_MIN || after->count < RANK_MIN)
        return NAN;
    double *a = centre(before, before), *b = centre(after, before);
    double p = fb_rank_test(a, before->count, b, after->count);
    free(a);
    free(b);
    return p;
}

static bool partners(const struct fb_repetition *a, const struct fb_repetition *b)
{
    return a != NULL && b != NULL && a->seed == b->seed && a->layout == b->layout;
}

/* Sets runs of the same seed and layout against each other; the sum of their differences says
 * which way a change goes where the medians are equal. */
static double pair_runs(const struct fb_values *before, const struct fb_values *after,
                        struct fb_judged *judged)
{
    double sum = 0;
    for (size_t i = 0; i < after->count; i++) {
        size_t j = 0;
        while (j < before->count && !partners(before->runs[j], after->runs[i]))
            j++;
        if (j == before->count)
            continue;
        judged->paired++;
        judged->differing += !equal(before->values[j], after->values[i]);
        sum += after->values[i] - before->values[j];
    }
    return sum;
}

static bool has_evidence(const struct fb_values *before, const struct fb_values *after,
                         struct fb_judged *judged)
{
    if (judged->rule == FB_RULE_EXACT)
        return true;
    if (judged->rule == FB_RULE_SAMPLE)
        judged->p = rank_p(before, after);
    return isnan(judged->p) ? fb_judge_apart(before, after) : judged->p < ALPHA;
}

static enum fb_judgement direction(double change)
{
    return change > 0 ? FB_JUDGED_REGRESSED : FB_JUDGED_IMPROVED;
}

struct fb_judged fb_judge(const struct fb_judge_request *request, const struct fb_values *before,
                          const struct fb_values *after)
{
    struct fb_judged judged = {.judgement = FB_JUDGED_UNCHANGED, .p = NAN};
    bool repeats = request->repeats && fb_metrics[request->metric].exact;
    bool one_value = constant(before) && constant(after);
    double change = after->summary.median - before->summary.median;
    judged.rule = !repeats ? FB_RULE_SAMPLE : one_value ? FB_RULE_EXACT : FB_RULE_ENSEMBLE;
    double sum = repeats ? pair_runs(before, after, &judged) : 0;
    if (repeats && (request->any_change || request->expect_same)) {
        if (judged.differing > 0)
            judged.judgement = direction(equal(sum, 0) ? change : sum);
        return judged;
    }
    bool evidence = has_evidence(before, after, &judged);
    if (fb_tolerance_exceeded(request->tolerances, request->metric, request->base,
                              before->summary.median, after->summary.median))
        judged.judgement = evidence ? direction(change) : FB_JUDGED_INCONCLUSIVE;
    return judged;
}
