#include "metrics/explain.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/units.h"
#include "metrics/match.h"
#include "metrics/phases.h"
#include "metrics/wording.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_CAP 16384U
#define TIME_CHARS 32

/* The moment that a metric speaks of. */
enum moment { NONE = 0, PEAK, KEPT, END };

static const enum moment moments[FB_METRIC_COUNT] = {
    [FB_METRIC_PEAK_FOOTPRINT_BYTES] = PEAK,
    [FB_METRIC_OVERHEAD_PEAK_BYTES] = PEAK,
    [FB_METRIC_RATIO_PEAK] = PEAK,
    [FB_METRIC_RATIO_AT_PEAK_FOOTPRINT] = PEAK,
    [FB_METRIC_RATIO_TOUCHED] = PEAK,
    [FB_METRIC_KEPT_BYTES] = KEPT,
    [FB_METRIC_RATIO_END] = END,
    [FB_METRIC_END_FOOTPRINT_BYTES] = END,
    [FB_METRIC_OVERHEAD_END_BYTES] = END,
};

static enum moment moment_of(enum fb_metric metric)
{
    return metric == FB_METRIC_COUNT ? NONE : moments[metric];
}

bool fb_explain_wanted(const struct fb_finding *finding)
{
    return finding->gates || finding->judgement == FB_JUDGED_IMPROVED ||
           finding->judgement == FB_JUDGED_REGRESSED ||
           finding->judgement == FB_JUDGED_INCONCLUSIVE;
}

struct fb_repetition *fb_explain_run(const struct fb_cell *cell, enum fb_metric metric)
{
    struct fb_repetition *nearest = NULL;
    double distance = INFINITY;
    for (size_t i = 0; metric != FB_METRIC_COUNT && i < cell->repetition_count; i++) {
        struct fb_repetition *run = &cell->repetitions[i];
        double own = fabs(run->values[metric] - cell->summary[metric].median);
        if (fb_status_done(run->status) && own < distance) {
            nearest = run;
            distance = own;
        }
    }
    return nearest;
}

/* The first moment of a phase's highest sample; the curve goes on after the last phase. */
static const struct fb_point *highest(const struct fb_series *series, size_t phase)
{
    const struct fb_point *peak = NULL;
    for (size_t i = 0; i < series->count; i++) {
        const struct fb_point *point = &series->points[i];
        if (point->phase == phase &&
            (peak == NULL || point->footprint_bytes > peak->footprint_bytes))
            peak = point;
    }
    return peak;
}

static const struct fb_checkpoint *phase_end(const struct fb_repetition *run, int phase)
{
    for (size_t i = 0; i < run->checkpoint_count; i++)
        if (run->checkpoints[i].phase == phase &&
            strcmp(run->checkpoints[i].kind, "phase_end") == 0)
            return &run->checkpoints[i];
    return NULL;
}

static size_t peak_phase(const struct fb_repetition *run)
{
    size_t peak = 0;
    for (size_t i = 1; i < run->phase_count; i++)
        if (run->phases[i].peak_footprint_bytes > run->phases[peak].peak_footprint_bytes)
            peak = i;
    return peak;
}

static size_t kept_phase(const struct fb_repetition *run)
{
    for (size_t i = 0; i < run->phase_count; i++)
        if (run->phases[i].name != NULL && strcmp(run->phases[i].name, run->kept_phase) == 0)
            return i;
    return run->phase_count - 1;
}

static void add_time(struct fb_buf *out, const char *before, uint64_t t_ns)
{
    char text[TIME_CHARS];
    fb_buf_addf(out, "%s%s", before, fb_units_time(t_ns, text, sizeof text));
}

/* The curve knows when the peak was; a checkpoint may have been higher than every sample of it, and
 * then the phase is all that is known. */
static void add_peak(const struct fb_repetition *run, struct fb_buf *out)
{
    const struct fb_phase_record *phase = &run->phases[peak_phase(run)];
    const struct fb_point *point = highest(&run->series, peak_phase(run));
    fb_buf_addf(out, "peak in phase %s", phase->name);
    if (point != NULL && point->footprint_bytes >= phase->peak_footprint_bytes)
        add_time(out, " at ", point->t_ns);
}

static void add_phase_end(const struct fb_repetition *run, size_t phase, struct fb_buf *out)
{
    const struct fb_checkpoint *end = phase_end(run, (int)phase);
    fb_buf_addf(out, "at the end of phase %s", run->phases[phase].name);
    if (end != NULL)
        add_time(out, ", at ", end->t_ns);
}

static void add_length(const struct fb_repetition *run, struct fb_buf *out)
{
    const struct fb_checkpoint *last = phase_end(run, (int)run->phase_count - 1);
    if (last != NULL)
        add_time(out, " of ", last->t_ns);
}

static char *describe_where(const struct fb_finding *finding)
{
    enum moment moment = moment_of(finding->metric);
    const struct fb_repetition *run =
        finding->cell == NULL ? NULL : fb_explain_run(finding->cell, finding->metric);
    if (moment == NONE || run == NULL || run->phase_count == 0)
        return NULL;
    struct fb_buf out;
    fb_buf_init(&out, TEXT_CAP);
    size_t last = run->phase_count - 1, phase = moment == KEPT ? kept_phase(run) : last;
    if (moment == PEAK)
        add_peak(run, &out);
    else
        add_phase_end(run, phase, &out);
    if (moment == PEAK || phase != last)
        add_length(run, &out);
    char *text = fb_strdup(out.text);
    fb_buf_deinit(&out);
    return text;
}

static const char *or_empty(const char *text)
{
    return text == NULL ? "" : text;
}

/* What runs the cell again, with `more` options. */
static void add_command(const struct fb_cell *cell, const char *more, struct fb_buf *out)
{
    const char *varied = fb_match_varied(cell);
    fb_buf_addf(out, "fragbench run %s -a '%s'",
                cell->workload.file != NULL ? cell->workload.file : or_empty(cell->workload.name),
                cell->allocator.spec != NULL ? cell->allocator.spec
                                             : or_empty(cell->allocator.name));
    if (varied[0] != '\0')
        fb_buf_addf(out, " -L '%s'", varied);
    if (cell->workload.scale < 1 || cell->workload.scale > 1)
        fb_buf_addf(out, " --scale %.15g", cell->workload.scale);
    fb_buf_adds(out, more);
}

static double change_of(const struct fb_finding *finding, enum fb_metric metric)
{
    return finding->cell->summary[metric].median - finding->base->summary[metric].median;
}

/* Most of what stays is either cached (a purge gets it back: a matter of settings) or on pages
 * that are in use (a matter of sizes and placement). The purge after the last free tells which. */
static void add_kept_advice(const struct fb_finding *finding, struct fb_buf *out)
{
    char text[FB_WORDING_CHARS];
    const enum fb_metric purged = FB_METRIC_RETAINED_PURGED_BYTES;
    const enum fb_metric freed = FB_METRIC_RETAINED_IDLE_0S_BYTES;
    double stuck = change_of(finding, purged), held = change_of(finding, freed);
    if (isnan(stuck) || isnan(held))
        return;
    if (held > 0 && stuck > held / 2)
        fb_buf_addf(out,
                    "a purge after the last free does not get it back (%s stay), so it lies in or "
                    "between blocks that live on: size classes, headers, placement; ",
                    fb_wording_difference(purged, stuck, text));
    else if (held > 0)
        fb_buf_addf(out,
                    "after the last free a purge gets most of it back (%s stay), so it is cached: "
                    "look at when the allocator gives pages back; ",
                    fb_wording_difference(purged, stuck, text));
    else
        fb_buf_adds(out, "once everything is freed there is no more than before, so it hangs on "
                         "what is live at that moment; ");
}

/* The first phase in whose peak half of the growth is to be seen. */
static void add_peak_advice(const struct fb_finding *finding, struct fb_buf *out)
{
    const struct fb_repetition *run = fb_explain_run(finding->cell, finding->metric);
    size_t count = 0, first = 0;
    struct fb_phase_change *phases = fb_phases_compare(finding->base, finding->cell, &count);
    double growth = change_of(finding, FB_METRIC_PEAK_FOOTPRINT_BYTES);
    while (first < count && phases[first].peak_after - phases[first].peak_before < growth / 2)
        first++;
    char text[FB_WORDING_CHARS];
    if (growth > 0 && first < count && run != NULL && first != peak_phase(run))
        fb_buf_addf(out, "most of it is there from phase %s on (%s); ", phases[first].name,
                    fb_wording_difference(FB_METRIC_PEAK_FOOTPRINT_BYTES,
                                          phases[first].peak_after - phases[first].peak_before,
                                          text));
    free(phases);
}

static void add_value_advice(const struct fb_finding *finding, struct fb_buf *out)
{
    if (finding->judgement == FB_JUDGED_INCONCLUSIVE) {
        bool timing = fb_metrics[finding->metric].timing;
        bool real = strcmp(or_empty(finding->cell->clock), "real") == 0;
        fb_buf_adds(out, timing ? "a timing pass keeps one median, which no test can judge: repeat "
                                  "it as separate runs"
                                : "measure both sides with more runs: ");
        if (!timing)
            add_command(finding->cell, real ? " --clock real --repeat 5" : " --layouts 5", out);
        return;
    }
    enum moment moment = moment_of(finding->metric);
    if (moment == PEAK)
        add_peak_advice(finding, out);
    else if (moment != NONE)
        add_kept_advice(finding, out);
    fb_buf_adds(out, out->length > 0 ? "again: " : "");
    add_command(finding->cell, moment != NONE ? " --explain" : "", out); /* where the memory is */
}

static char *describe_next(const struct fb_finding *finding)
{
    struct fb_buf out;
    fb_buf_init(&out, TEXT_CAP);
    if (finding->metric != FB_METRIC_COUNT && finding->base != NULL && finding->cell != NULL &&
        finding->after.n > 0 && finding->before.n > 0)
        add_value_advice(finding, &out);
    else if (finding->judgement == FB_JUDGED_FAILED && finding->cell != NULL) {
        fb_buf_adds(&out, "what it printed is in result.json (stderr); again: ");
        add_command(finding->cell, " --layouts 1", &out);
    } else if (finding->judgement == FB_JUDGED_MISSING)
        fb_buf_adds(&out, "measure it again, or take a base without it; --fail-on regressed lets "
                          "it pass");
    char *text = out.length > 0 ? fb_strdup(out.text) : NULL;
    fb_buf_deinit(&out);
    return text;
}

void fb_explain(struct fb_finding *finding)
{
    if (!fb_explain_wanted(finding))
        return;
    if (finding->where == NULL)
        finding->where = describe_where(finding);
    if (finding->next == NULL)
        finding->next = describe_next(finding);
}
