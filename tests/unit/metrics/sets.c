#include "sets.h"

#include "base/alloc.h"
#include "fixture.h"
#include "metrics/summary.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static double in_unit(enum fb_metric metric, double value)
{
    return strcmp(fb_metrics[metric].unit, "bytes") == 0 ? value * (double)MIB : value;
}

void sets_init(struct fb_result *result)
{
    *result = (struct fb_result){
        .version = fb_strdup("0.1.0"),
        .host = {.kernel = fb_strdup("Linux 6.18.0"),
                 .libc = fb_strdup("glibc 2.36"),
                 .machine = fb_strdup("x86_64"),
                 .thp = fb_strdup("madvise"),
                 .cpus_online = 4,
                 .cpus_allowed = 4,
                 .page_bytes = 4096,
                 .statm_exact = true},
        .cells = fb_alloc(SETS_CELLS, sizeof(struct fb_cell)),
    };
}

static void fill_run(struct fb_repetition *run, unsigned layout)
{
    static const struct {
        enum fb_metric metric;
        double value;
    } usual[] = {
        {FB_METRIC_PEAK_FOOTPRINT_BYTES, 100},
        {FB_METRIC_PEAK_LIVE_BYTES, 80},
        {FB_METRIC_OVERHEAD_PEAK_BYTES, 20},
        {FB_METRIC_RATIO_PEAK, 1.25},
        {FB_METRIC_KEPT_BYTES, 10},
        {FB_METRIC_END_FOOTPRINT_BYTES, 90},
        {FB_METRIC_END_LIVE_BYTES, 80},
        {FB_METRIC_RETAINED_IDLE_0S_BYTES, 30},
        {FB_METRIC_RETAINED_PURGED_BYTES, 1},
    };
    fixture_init(run, 2, (const uint64_t[]){1, 50});
    run->index = layout;
    run->layout = layout;
    run->seed = 7;
    for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++)
        run->values[usual[i].metric] = in_unit(usual[i].metric, usual[i].value);
    (void)snprintf(run->kept_phase, sizeof run->kept_phase, "phase-a");
    (void)fixture_checkpoint(run, "phase_end", 0, 10, 60, 50);
    (void)fixture_checkpoint(run, "phase_end", 1, 30, 90, 80);
    run->phases[0].peak_footprint_bytes = 60 * MIB;
    run->phases[0].footprint_bytes = 60 * MIB;
    run->phases[1].peak_footprint_bytes = 100 * MIB;
    run->phases[1].footprint_bytes = 90 * MIB;
}

struct fb_cell *sets_add(struct fb_result *result, const char *allocator, unsigned runs)
{
    assert_true(result->cell_count < SETS_CELLS);
    struct fb_cell *cell = &result->cells[result->cell_count++];
    cell->id = fb_format("w/%s", allocator);
    cell->workload.name = fb_strdup("w");
    cell->workload.file = fb_strdup("w.yaml");
    cell->workload.trace_sha256 = fb_strdup("0123456789abcdef");
    cell->workload.seed = 7;
    cell->workload.scale = 1;
    cell->allocator.name = fb_strdup(allocator);
    cell->allocator.spec = fb_strdup(allocator);
    cell->allocator.version = fb_strdup("5.3.0");
    cell->allocator.sha256 = fb_strdup("fedcba9876543210");
    cell->clock = fb_strdup("virtual");
    cell->order = fb_strdup("lockstep");
    cell->layout = fb_strdup("fixed");
    cell->thp = fb_strdup("advised");
    cell->clock_proven = true;
    cell->repetitions = fb_alloc(runs, sizeof *cell->repetitions);
    cell->repetition_count = runs;
    for (unsigned i = 0; i < runs; i++)
        fill_run(&cell->repetitions[i], i);
    for (int i = 0; i < FB_METRIC_COUNT; i++)
        cell->timing.values[i] = NAN;
    fb_summarize_cell(cell);
    return cell;
}

void sets_values(struct fb_cell *cell, enum fb_metric metric, const double *values)
{
    for (size_t i = 0; i < cell->repetition_count; i++)
        cell->repetitions[i].values[metric] = in_unit(metric, values[i]);
    fb_summarize_cell(cell);
}

void sets_value(struct fb_cell *cell, enum fb_metric metric, double value)
{
    for (size_t i = 0; i < cell->repetition_count; i++)
        cell->repetitions[i].values[metric] = in_unit(metric, value);
    fb_summarize_cell(cell);
}

void sets_text(char **text, const char *value)
{
    free(*text);
    *text = fb_strdup(value);
}

struct fb_compare_options sets_options(void)
{
    struct fb_compare_options options = {.fail_on = FB_COMPARE_FAIL_ON};
    fb_tolerances_init(&options.tolerances);
    return options;
}

void sets_compare(struct fb_comparison *out, const struct fb_result *base,
                  const struct fb_result *other, const struct fb_compare_options *options)
{
    const struct fb_compare_set sets[] = {{"base", base}, {"new", other}};
    fb_compare(sets, other == NULL ? 1 : 2, options, out);
}

const struct fb_finding *sets_finding(const struct fb_comparison *comparison, enum fb_metric metric)
{
    const struct fb_finding *found = NULL;
    for (size_t i = 0; i < comparison->findings.count; i++) {
        const struct fb_finding *finding = &comparison->findings.items[i];
        if (finding->metric != metric)
            continue;
        if (found != NULL)
            fail_msg("a second finding: %s", finding->message);
        found = finding;
    }
    if (found == NULL)
        fail_msg("no finding of metric %d", (int)metric);
    return found;
}

void assert_judged(const struct fb_comparison *comparison, enum fb_metric metric,
                   enum fb_judgement judgement, bool gates)
{
    const struct fb_finding *finding = sets_finding(comparison, metric);
    if (finding->judgement != judgement)
        fail_msg("%s, expected %s: %s", fb_judgement_name(finding->judgement),
                 fb_judgement_name(judgement), finding->message);
    assert_int_equal(finding->gates, gates);
}

void assert_contains(const char *text, const char *part)
{
    if (text == NULL || strstr(text, part) == NULL)
        fail_msg("no \"%s\" in: %s", part, text == NULL ? "(null)" : text);
}
