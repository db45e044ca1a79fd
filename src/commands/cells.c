#include "commands/cells.h"

#include "base/alloc.h"
#include "commands/limits.h"
#include "commands/recorded.h"
#include "commands/shard.h"
#include "metrics/summary.h"
#include "workload/replica.h"

#include <stdlib.h>
#include <string.h>

#define NOT_RUN_YET "not run yet"

bool fb_cells_runnable(const struct fb_contender *contender)
{
    return contender->available && contender->rejected == NULL;
}

static char *copy(const char *text)
{
    return fb_strdup(text != NULL ? text : "");
}

static void replace(char **text, const char *value)
{
    free(*text);
    *text = value != NULL ? fb_strdup(value) : NULL;
}

static struct fb_name_value *copy_settings(const struct fb_setting *settings, size_t count)
{
    struct fb_name_value *pairs = fb_alloc(count, sizeof *pairs);
    for (size_t i = 0; i < count; i++)
        pairs[i] = (struct fb_name_value){copy(settings[i].key), copy(settings[i].value)};
    return pairs;
}

static void fill_workload(struct fb_cell *cell, const struct fb_plan_unit *unit)
{
    const struct fb_workload *workload = unit->workload;
    cell->workload.name = copy(workload->name);
    cell->workload.file = copy(workload->file);
    cell->workload.sha256 = copy(workload->sha256);
    cell->workload.params = fb_alloc(workload->param_count, sizeof *cell->workload.params);
    cell->workload.param_count = workload->param_count;
    for (size_t i = 0; i < workload->param_count; i++)
        cell->workload.params[i] =
            (struct fb_name_value){copy(workload->params[i].name), copy(workload->params[i].value)};
    cell->workload.seed = workload->seed;
    cell->workload.scale = unit->scale;
    if (workload->replica != NULL)
        cell->workload.recorded = fb_recorded_of(&workload->replica->memories);
}

/* What a tunable was seen to be: by the worker, else before the run, else nobody knows. */
static const char *effective_value(const char *key, const struct fb_setting *by_worker,
                                   size_t by_worker_count, const struct fb_contender *contender)
{
    for (size_t i = 0; i < by_worker_count; i++) {
        if (strcmp(by_worker[i].key, key) == 0)
            return by_worker[i].value;
    }
    for (size_t i = 0; i < contender->effective_count; i++) {
        if (strcmp(contender->effective[i].key, key) == 0)
            return contender->effective[i].value;
    }
    return "unverified";
}

static void free_pairs(struct fb_name_value *pairs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(pairs[i].name);
        free(pairs[i].value);
    }
    free(pairs);
}

static void fill_effective(struct fb_cell *cell, const struct fb_contender *contender,
                           const struct fb_setting *by_worker, size_t by_worker_count)
{
    size_t count = contender->tunable_count;
    free_pairs(cell->allocator.effective, cell->allocator.effective_count);
    cell->allocator.effective = fb_alloc(count, sizeof *cell->allocator.effective);
    cell->allocator.effective_count = count;
    for (size_t i = 0; i < count; i++) {
        const char *key = contender->tunables[i].key;
        cell->allocator.effective[i] = (struct fb_name_value){
            copy(key), copy(effective_value(key, by_worker, by_worker_count, contender))};
    }
}

static void fill_allocator(struct fb_cell *cell, const struct fb_contender *contender)
{
    const struct fb_backend *backend = contender->backend;
    cell->allocator.name = copy(contender->label);
    cell->allocator.backend = copy(backend != NULL ? backend->name : "");
    cell->allocator.spec = copy(contender->spec);
    cell->allocator.version = copy(contender->version);
    cell->allocator.path = copy(contender->path);
    cell->allocator.inner_path = contender->inner_path != NULL ? copy(contender->inner_path) : NULL;
    cell->allocator.sha256 = copy(contender->sha256);
    cell->allocator.package = copy(backend != NULL ? backend->package : "");
    cell->allocator.tunables = copy_settings(contender->tunables, contender->tunable_count);
    cell->allocator.tunable_count = contender->tunable_count;
    cell->allocator.env = copy_settings(contender->env, contender->env_count);
    cell->allocator.env_count = contender->env_count;
    fill_effective(cell, contender, NULL, 0);
}

static void fill_status(struct fb_cell *cell, const struct fb_contender *contender)
{
    if (!contender->available) {
        cell->status = contender->unsupported ? FB_STATUS_UNSUPPORTED : FB_STATUS_NOT_INSTALLED;
        cell->status_detail = copy(contender->unavailable);
    } else if (contender->rejected != NULL) {
        cell->status = FB_STATUS_BAD_TUNABLE;
        cell->status_detail = copy(contender->rejected);
    } else {
        cell->status = FB_STATUS_INTERRUPTED;
        cell->status_detail = copy(NOT_RUN_YET);
    }
}

static void fill_summary(struct fb_cell *cell)
{
    for (int metric = 0; metric < FB_METRIC_COUNT; metric++) {
        cell->summary[metric] = fb_summarize(NULL, 0);
        cell->timing.values[metric] = __builtin_nan("");
    }
}

void fb_cells_describe(struct fb_cell *cell, const struct fb_contender *contender)
{
    fill_allocator(cell, contender);
    cell->clock_proven = true;
    fill_status(cell, contender);
    fill_summary(cell);
}

static void build_cell(struct fb_cell *cell, const struct fb_plan_unit *unit,
                       const struct fb_contender *contender, const struct fb_run_options *options)
{
    cell->id = fb_plan_cell_id(unit, contender->label);
    fill_workload(cell, unit);
    cell->clock = copy(options->clock == FB_CLOCK_VIRTUAL ? "virtual" : "real");
    cell->order = copy(options->order == FB_ORDER_FREE ? "free" : "lockstep");
    cell->layout = copy("fixed");
    cell->thp = copy(options->thp);
    fb_cells_describe(cell, contender);
    fb_limits_fill(cell, unit->workload->limits, unit->workload->limit_count, contender);
    fb_limits_fill(cell, options->limits, options->limit_count, contender);
}

void fb_cells_build(const struct fb_plan *plan, const struct fb_contenders *contenders,
                    const struct fb_run_options *options, struct fb_result *result)
{
    size_t total = plan->count * contenders->count;
    result->cell_count = fb_shard_size(&options->shard, total);
    result->cells = fb_alloc(result->cell_count, sizeof *result->cells);
    for (size_t i = 0; i < total; i++) {
        if (fb_shard_has(&options->shard, i))
            build_cell(&result->cells[fb_shard_place(&options->shard, i)],
                       &plan->units[i / contenders->count],
                       &contenders->items[i % contenders->count], options);
    }
    fb_shard_record(plan, contenders, options, &result->shard);
}

static struct fb_repetition *insert(struct fb_cell *cell, const struct fb_repetition *repetition)
{
    cell->repetitions =
        fb_realloc(cell->repetitions, cell->repetition_count + 1, sizeof *cell->repetitions);
    size_t place = cell->repetition_count++;
    for (; place > 0 && cell->repetitions[place - 1].index > repetition->index; place--)
        cell->repetitions[place] = cell->repetitions[place - 1];
    cell->repetitions[place] = *repetition;
    return &cell->repetitions[place];
}

struct fb_repetition *fb_cells_take(struct fb_cell *cell, const struct fb_contender *contender,
                                    struct fb_run_outcome *outcome)
{
    if (!outcome->layout_fixed)
        replace(&cell->layout, "random");
    if (outcome->thp_used != NULL && *outcome->thp_used != '\0')
        replace(&cell->thp, outcome->thp_used);
    cell->clock_proven = cell->clock_proven && outcome->clock_proven;
    fill_effective(cell, contender, outcome->effective, outcome->effective_count);
    struct fb_repetition *place = insert(cell, &outcome->repetition);
    outcome->repetition = (struct fb_repetition){0};
    fb_cells_outcome_deinit(outcome);
    return place;
}

void fb_cells_close(struct fb_cell *cell, size_t expected)
{
    if (cell->repetition_count >= expected || fb_status_skipped(cell->status) ||
        cell->status == FB_STATUS_BAD_TUNABLE)
        return;
    if (fb_status_done(cell->status) || cell->status == FB_STATUS_INTERRUPTED) {
        free(cell->status_detail);
        cell->status = FB_STATUS_INTERRUPTED;
        cell->status_detail =
            fb_format("%zu of %zu runs ended before it", cell->repetition_count, expected);
    }
}

void fb_cells_outcome_deinit(struct fb_run_outcome *outcome)
{
    fb_repetition_deinit(&outcome->repetition);
    for (size_t i = 0; i < outcome->effective_count; i++) {
        free(outcome->effective[i].key);
        free(outcome->effective[i].value);
    }
    free(outcome->effective);
    free(outcome->malloc_owner);
    free(outcome->latency);
    *outcome = (struct fb_run_outcome){0};
}
