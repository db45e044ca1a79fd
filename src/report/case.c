#include "report/case.h"

#include "base/alloc.h"
#include "metrics/limits.h"
#include "report/group.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a judgement is where it gates and where it does not. */
static const struct {
    enum fb_case_outcome gating, outcome;
    enum fb_case_level level; /* where it does not gate */
} judgements[FB_JUDGEMENT_COUNT] = {
    [FB_JUDGED_UNCHANGED] = {FB_CASE_FAILURE, FB_CASE_PASSED, FB_CASE_SILENT},
    [FB_JUDGED_IMPROVED] = {FB_CASE_FAILURE, FB_CASE_PASSED, FB_CASE_SILENT},
    [FB_JUDGED_REGRESSED] = {FB_CASE_FAILURE, FB_CASE_SKIPPED, FB_CASE_WARNING},
    [FB_JUDGED_INCONCLUSIVE] = {FB_CASE_FAILURE, FB_CASE_SKIPPED, FB_CASE_WARNING},
    [FB_JUDGED_NEW] = {FB_CASE_FAILURE, FB_CASE_SKIPPED, FB_CASE_NOTICE},
    [FB_JUDGED_MISSING] = {FB_CASE_FAILURE, FB_CASE_SKIPPED, FB_CASE_WARNING},
    [FB_JUDGED_FAILED] = {FB_CASE_ERROR, FB_CASE_ERROR, FB_CASE_WARNING},
    [FB_JUDGED_OVER_LIMIT] = {FB_CASE_FAILURE, FB_CASE_SKIPPED, FB_CASE_WARNING},
    [FB_JUDGED_SKIPPED] = {FB_CASE_FAILURE, FB_CASE_SKIPPED, FB_CASE_NOTICE},
};

char *fb_cell_params(const struct fb_cell *cell)
{
    struct fb_buf text;
    fb_buf_init(&text, 65536);
    for (size_t i = 0; i < cell->workload.param_count; i++)
        fb_buf_addf(&text, "%s%s=%s", i == 0 ? " (" : ", ", cell->workload.params[i].name,
                    fb_text_or_empty(cell->workload.params[i].value));
    fb_buf_adds(&text, cell->workload.param_count > 0 ? ")" : "");
    char *params = fb_strdup(text.text);
    fb_buf_deinit(&text);
    return params;
}

double fb_cell_wall_s(const struct fb_cell *cell)
{
    double wall_s = 0;
    for (size_t i = 0; i < cell->repetition_count; i++)
        if (!isnan(cell->repetitions[i].wall_s))
            wall_s += cell->repetitions[i].wall_s;
    return wall_s;
}

static char *cell_message(const struct fb_cell *cell)
{
    const char *detail = fb_text_or_empty(cell->status_detail);
    if (fb_status_done(cell->status) && !fb_status_done(cell->timing.status))
        return fb_format("%s, %s: timing pass failed: %s %s", fb_text_or_empty(cell->workload.name),
                         fb_text_or_empty(cell->allocator.name),
                         fb_status_name(cell->timing.status),
                         fb_text_or_empty(cell->timing.status_detail));
    return fb_format("%s, %s: %s%s%s", fb_text_or_empty(cell->workload.name),
                     fb_text_or_empty(cell->allocator.name), fb_status_name(cell->status),
                     *detail != '\0' ? ": " : "", detail);
}

static struct fb_case of_cell(const struct fb_cell *cell, const char *set)
{
    bool done = fb_status_done(cell->status) && fb_status_done(cell->timing.status);
    bool skipped = fb_status_skipped(cell->status);
    char *params = fb_cell_params(cell);
    struct fb_case item = {
        .cell = cell,
        .set = set,
        .outcome = skipped ? FB_CASE_SKIPPED
                   : done  ? FB_CASE_PASSED
                           : FB_CASE_ERROR,
        .level = skipped ? FB_CASE_NOTICE
                 : done  ? FB_CASE_SILENT
                         : FB_CASE_LOUD,
        .type = fb_status_name(fb_status_done(cell->status) ? cell->timing.status : cell->status),
        .name = fb_format("%s%s", fb_text_or_empty(cell->allocator.name), params),
        .message = cell_message(cell),
    };
    free(params);
    return item;
}

/* "jemalloc ratio_peak"; "old against new ratio_peak" where the allocators differ. */
static char *finding_name(const struct fb_finding *finding, const struct fb_cell *cell,
                          const char *set)
{
    const char *label = fb_text_or_empty(cell->allocator.name);
    const char *base =
        finding->base != NULL ? fb_text_or_empty(finding->base->allocator.name) : label;
    bool differ = strcmp(label, base) != 0;
    char *params = fb_cell_params(cell);
    char *name =
        fb_format("%s%s%s%s%s%s%s%s%s", differ ? base : "", differ ? " against " : "", label,
                  params, finding->metric < FB_METRIC_COUNT ? " " : "",
                  finding->metric < FB_METRIC_COUNT ? fb_metrics[finding->metric].name : "",
                  *set != '\0' ? " [" : "", set, *set != '\0' ? "]" : "");
    free(params);
    return name;
}

static struct fb_case of_finding(const struct fb_finding *finding, const char *set)
{
    const struct fb_cell *cell = finding->cell != NULL ? finding->cell : finding->base;
    return (struct fb_case){
        .cell = cell,
        .finding = finding,
        .set = set,
        .outcome = finding->gates ? judgements[finding->judgement].gating
                                  : judgements[finding->judgement].outcome,
        .level = finding->gates ? FB_CASE_LOUD : judgements[finding->judgement].level,
        .type = fb_judgement_name(finding->judgement),
        .name = finding_name(finding, cell, set),
        .message = fb_strdup(fb_text_or_empty(finding->message)),
    };
}

/* Only several new sets have to be told apart. */
static const char *set_label(const struct fb_document *document, size_t set)
{
    bool several = document->comparison && document->set_count > 2 && set < document->set_count;
    return several ? fb_text_or_empty(document->sets[set].label) : "";
}

void fb_cases_init(struct fb_cases *cases, const struct fb_document *document)
{
    const struct fb_findings *findings = document->findings;
    const struct fb_result *result = document->sets[0].result;
    *cases = (struct fb_cases){
        .items = fb_alloc(result->cell_count + findings->count + 1, sizeof *cases->items)};
    for (size_t i = 0; i < result->cell_count && !document->comparison; i++)
        cases->items[cases->count++] = of_cell(&result->cells[i], "");
    for (size_t i = 0; i < findings->count; i++) {
        const struct fb_finding *finding = &findings->items[i];
        bool whole = finding->metric == FB_METRIC_COUNT; /* of a run: its cell is there already */
        if ((finding->cell != NULL || finding->base != NULL) && (document->comparison || !whole))
            cases->items[cases->count++] = of_finding(finding, set_label(document, finding->set));
    }
}

void fb_cases_deinit(struct fb_cases *cases)
{
    for (size_t i = 0; i < cases->count; i++) {
        free(cases->items[i].name);
        free(cases->items[i].message);
    }
    free(cases->items);
    *cases = (struct fb_cases){0};
}

static double reference(const struct fb_finding *finding)
{
    return finding->before.n > 0 ? finding->before.median : finding->limit;
}

double fb_finding_delta(const struct fb_finding *finding)
{
    return finding->after.n > 0 ? finding->after.median - reference(finding) : NAN;
}

double fb_finding_share(const struct fb_finding *finding)
{
    double base = fabs(reference(finding));
    return base > 0 ? fb_finding_delta(finding) / base : NAN;
}

unsigned fb_case_line(const struct fb_case *item)
{
    const struct fb_limit *limit =
        item->finding != NULL ? fb_limits_find(item->cell, item->finding->metric) : NULL;
    return limit != NULL ? limit->line : 0;
}

const char *fb_case_file(const struct fb_case *item)
{
    const char *file = fb_text_or_empty(item->cell->workload.file);
    while (file[0] == '.' && file[1] == '/')
        file += 2;
    return file;
}
