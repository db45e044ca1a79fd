#include "workload/fit.h"

#include "base/alloc.h"
#include "workload/compile.h"
#include "workload/fit_model.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_CAP_BYTES ((size_t)1 << 20) /* what the language reads */
#define NEAR 0.05
#define SCALE_ROUNDS 2U
#define WORTH 0.03 /* how much nearer makes up for more phases and classes */

struct attempt {
    struct fb_buf text;
    struct fb_fit_report report;
    double off; /* from the recording: how_far() */
};

/* Letters, digits, '_', '.' and '-', below 64. New string. */
static char *clean_name(const char *name)
{
    char *clean = fb_format("%.60s", *name != '\0' ? name : "recorded");
    for (char *at = clean; *at != '\0'; at++)
        if (!isalnum((unsigned char)*at) && strchr("_.-", *at) == NULL)
            *at = '_';
    return clean;
}

static double distance(uint64_t left, uint64_t right)
{
    return left > right ? (double)(left - right) : (double)(right - left);
}

/* How far the live bytes are from the recording's, as a part of its peak: at the peak, and on
 * average at the phases' ends. */
static double how_far(const struct fb_fit_model *model, const struct fb_totals *totals)
{
    double peak = model->peak_bytes > 0 ? (double)model->peak_bytes : 1.0;
    double ends = 0;
    uint32_t written = 0;
    for (uint32_t i = 0; i < model->phase_count; i++)
        if (!fb_fit_is_empty(model, i))
            ends +=
                distance(totals->phases[written++].end_live_bytes, model->phases[i].end_live_bytes);
    return (distance(totals->header.peak_live_bytes, model->peak_bytes) +
            ends / (written > 0 ? written : 1)) /
           peak;
}

/* What a workload of that text would do. What the fitter wrote must be good: its faults are our
 * own. */
static int judge(const struct fb_fit_model *model, struct attempt *attempt, struct fb_error *err)
{
    struct fb_diagnostics diagnostics;
    struct fb_workload *workload = NULL;
    struct fb_totals totals;
    fb_diagnostics_init(&diagnostics);
    int status = fb_workload_parse("fitted", attempt->text.text, attempt->text.length, NULL, 0,
                                   &workload, &diagnostics);
    if (status != 0)
        (void)fb_fail(err, FB_ERROR_IO, "the fitted workload is refused: %s (please report)",
                      diagnostics.count > 0 ? diagnostics.items[0].text : "no reason given");
    fb_diagnostics_deinit(&diagnostics);
    if (status != 0)
        return -1;
    const struct fb_compile_options options = {.seed = workload->seed, .scale = 1};
    status = fb_compile_totals(workload, &options, &totals, err);
    if (status == 0) {
        attempt->report.peak_bytes = totals.header.peak_live_bytes;
        attempt->off = how_far(model, &totals);
        fb_totals_deinit(&totals);
    }
    fb_workload_free(workload);
    return status;
}

/* The model as a text, judged. */
static int write_attempt(const struct fb_workload *recording, const char *name,
                         const struct fb_fit_model *model, struct attempt *attempt,
                         struct fb_error *err)
{
    fb_buf_init(&attempt->text, TEXT_CAP_BYTES);
    fb_fit_write(model, name, &attempt->text);
    attempt->report = (struct fb_fit_report){.recorded_peak_bytes = model->peak_bytes,
                                             .phases = model->phase_count,
                                             .classes = model->class_count};
    if (!attempt->text.overflow)
        return judge(model, attempt, err);
    return fb_fail(err, FB_ERROR_INPUT,
                   "the recording is too varied for a readable workload; replay it instead: "
                   "`fragbench run %s`",
                   recording->file);
}

/* The nearer of the two, and not by a hair; what the other one holds is freed. */
static void keep_nearer(struct attempt *best, struct attempt *attempt, double worth)
{
    if (attempt->off < best->off - worth) {
        struct attempt worse = *best;
        *best = *attempt;
        *attempt = worse;
    }
    fb_buf_deinit(&attempt->text);
}

/* With lifetimes that bring the peak to the recording's: objects whose lives are drawn one by one
 * meet by chance more often, or less, than those of a program's steps. */
static int scale_lives(const struct fb_workload *recording, const char *name,
                       struct fb_fit_model *model, struct attempt *best, struct fb_error *err)
{
    for (unsigned round = 0; round < SCALE_ROUNDS && best->off > NEAR; round++) {
        struct attempt attempt = {.off = INFINITY};
        double wrong = (double)best->report.peak_bytes / (double)(model->peak_bytes + 1);
        if (fabs(wrong - 1) < NEAR / 2 || wrong <= 0)
            return 0;
        model->life_scale /= wrong * wrong;
        int status = write_attempt(recording, name, model, &attempt, err);
        keep_nearer(best, &attempt, 0);
        if (status != 0)
            return -1;
    }
    return 0;
}

static int try(const struct fb_workload *recording, const char *name,
               const struct fb_fit_options *way, struct attempt *attempt, struct fb_error *err)
{
    struct fb_fit_model model;
    int status = fb_fit_survey(recording->replica, way, &model, err);
    if (status == 0)
        status = write_attempt(recording, name, &model, attempt, err);
    if (status == 0)
        status = scale_lives(recording, name, &model, attempt, err);
    fb_fit_deinit(&model);
    return status;
}

int fb_fit_make(const struct fb_workload *recording, const char *name, struct fb_buf *out,
                struct fb_fit_report *report, struct fb_error *err)
{
    static const struct {
        unsigned phases;
        double soon_part;
        bool timed_pools;
    } ways[] = {
        {4, 0, false},   {4, 0, true},   {4, 0.25, true}, {8, 0, false},    {8, 0, true},
        {8, 0.25, true}, {16, 0, false}, {16, 0, true},   {16, 0.25, true},
    };
    struct fb_fit_options way = {0};
    if (fb_fit_measure(recording->replica, &way, err) != 0)
        return -1;
    bool threaded = recording->replica->thread_count > 1;
    struct attempt best = {.off = INFINITY};
    char *clean = clean_name(name);
    struct fb_error first = {0};
    for (size_t i = 0; i < sizeof ways / sizeof ways[0] && best.off > NEAR; i++) {
        struct attempt attempt = {.off = INFINITY};
        struct fb_error why = {0};
        if (!threaded && ways[i].timed_pools && ways[i].soon_part <= 0)
            continue; /* the same as the one before */
        way.phases = ways[i].phases;
        way.soon_part = ways[i].soon_part;
        way.timed_pools = ways[i].timed_pools;
        if (try(recording, clean, &way, &attempt, &why) != 0 && first.kind == FB_ERROR_NONE)
            first = why;
        keep_nearer(&best, &attempt, best.text.text != NULL ? WORTH : 0);
    }
    free(clean);
    if (best.text.text == NULL)
        return fb_fail(err, first.kind, "%s", first.text);
    fb_buf_add(out, best.text.text, best.text.length);
    fb_buf_deinit(&best.text);
    *report = best.report;
    return 0;
}
