#include "metrics/explain.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "metrics/moment.h"
#include "metrics/phases.h"
#include "metrics/wording.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_CAP 16384U

static bool is_wanted(const struct fb_finding *finding)
{
    return finding->gates || finding->judgement == FB_JUDGED_IMPROVED ||
           finding->judgement == FB_JUDGED_REGRESSED ||
           finding->judgement == FB_JUDGED_INCONCLUSIVE;
}

/* The run of a cell whose value is nearest to the median: the one to show. */
static const struct fb_repetition *shown_run(const struct fb_cell *cell, enum fb_metric metric)
{
    const struct fb_repetition *nearest = NULL;
    double distance = INFINITY;
    for (size_t i = 0; metric != FB_METRIC_COUNT && i < cell->repetition_count; i++) {
        const struct fb_repetition *run = &cell->repetitions[i];
        double own = fabs(run->values[metric] - cell->summary[metric].median);
        if (fb_status_done(run->status) && own < distance) {
            nearest = run;
            distance = own;
        }
    }
    return nearest;
}

static char *describe_where(const struct fb_finding *finding)
{
    const struct fb_repetition *run =
        finding->cell == NULL ? NULL : shown_run(finding->cell, finding->metric);
    return run == NULL ? NULL : fb_moment_text(run, finding->metric);
}

static const char *or_empty(const char *text)
{
    return text == NULL ? "" : text;
}

static void add_command(const struct fb_cell *cell, const char *more, struct fb_buf *out)
{
    char *command = fb_moment_command(cell, more);
    fb_buf_adds(out, command);
    free(command);
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
    const struct fb_repetition *run = shown_run(finding->cell, finding->metric);
    size_t count = 0, first = 0;
    struct fb_phase_change *phases = fb_phases_compare(finding->base, finding->cell, &count);
    double growth = change_of(finding, FB_METRIC_PEAK_FOOTPRINT_BYTES);
    while (first < count && phases[first].peak_after - phases[first].peak_before < growth / 2)
        first++;
    char text[FB_WORDING_CHARS];
    if (growth > 0 && first < count && run != NULL && first != fb_moment_peak_phase(run))
        fb_buf_addf(out, "most of it is there from phase %s on (%s); ", phases[first].name,
                    fb_wording_difference(FB_METRIC_PEAK_FOOTPRINT_BYTES,
                                          phases[first].peak_after - phases[first].peak_before,
                                          text));
    free(phases);
}

static void add_inconclusive_advice(const struct fb_finding *finding, struct fb_buf *out)
{
    bool real = strcmp(or_empty(finding->cell->clock), "real") == 0;
    if (fb_metrics[finding->metric].timing) {
        fb_buf_adds(out, "a timing pass keeps one median, which no test can judge: repeat it as "
                         "separate runs");
        return;
    }
    fb_buf_adds(out, "measure both sides with more runs: ");
    add_command(finding->cell, real ? " --repeat 5" : " --layouts 5", out);
}

static void add_value_advice(const struct fb_finding *finding, struct fb_buf *out)
{
    if (finding->judgement == FB_JUDGED_INCONCLUSIVE) {
        add_inconclusive_advice(finding, out);
        return;
    }
    if (fb_moment_is_peak(finding->metric))
        add_peak_advice(finding, out);
    else if (fb_moment_is_end(finding->metric))
        add_kept_advice(finding, out);
    bool again = !fb_cell_is_program(finding->cell);
    fb_buf_adds(out, out->length == 0 ? "" : again ? "again: " : "to see where it is: ");
    char *look = fb_moment_look(finding->cell, finding->metric);
    fb_buf_adds(out, look);
    free(look);
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
    if (!is_wanted(finding))
        return;
    if (finding->where == NULL)
        finding->where = describe_where(finding);
    if (finding->next == NULL)
        finding->next = describe_next(finding);
}
