#include "commands/execute.h"

#include "base/alloc.h"
#include "commands/cells.h"
#include "commands/explain.h"
#include "commands/folder.h"
#include "commands/interrupt.h"
#include "commands/shard.h"
#include "harness/proc.h"
#include "harness/runner.h"
#include "metrics/limits.h"
#include "metrics/measure.h"
#include "metrics/summary.h"
#include "result/store.h"

#include <sched.h>
#include <stdlib.h>

/* Allocators on these patterns are seen to take up to four times what is live; runs go side by side
 * only where each can have that much. */
#define ROOM_FACTOR 4U

/* What the finished hook needs of a request. */
struct run_context {
    struct fb_execution *run;
    struct fb_cell *cell;
    const struct fb_contender *contender;
};

struct batch {
    struct fb_run_request *requests;
    struct run_context *contexts;
    size_t count;
};

size_t fb_execute_expected(const struct fb_run_options *options)
{
    return (size_t)options->layouts * options->seeds * options->repeats;
}

static bool is_here(const struct fb_execution *run, size_t unit, size_t contender)
{
    return fb_shard_has(&run->options->shard, unit * run->contenders.count + contender);
}

struct fb_cell *fb_execute_cell(struct fb_execution *run, size_t unit, size_t contender)
{
    size_t number = unit * run->contenders.count + contender;
    if (!is_here(run, unit, contender))
        return NULL;
    return &run->result.cells[fb_shard_place(&run->options->shard, number)];
}

static size_t count_runnable(const struct fb_execution *run, size_t unit)
{
    size_t runnable = 0;
    for (size_t i = 0; i < run->contenders.count; i++)
        runnable += is_here(run, unit, i) && fb_cells_runnable(&run->contenders.items[i]);
    return runnable;
}

size_t fb_execute_total(const struct fb_execution *run)
{
    size_t total = 0;
    for (size_t unit = 0; unit < run->plan.count; unit++) {
        size_t runnable = count_runnable(run, unit);
        size_t timing = run->options->timing && runnable > 0 ? runnable + 1 : 0;
        total += runnable * fb_execute_expected(run->options) + timing;
    }
    return total;
}

int fb_execute_save(struct fb_execution *run, bool last, struct fb_error *err)
{
    if (fb_store_write_result(run->folder, &run->result, err) != 0)
        return -1;
    fb_findings_deinit(&run->findings);
    fb_limits_judge(&run->result, &run->findings);
    const struct fb_document_set set = {"", run->folder, &run->result};
    const struct fb_document document = {&set, 1, false, &run->findings};
    return fb_folder_export(run->options->exports, run->options->export_count, &document, last,
                            err);
}

static unsigned cpus_allowed(void)
{
    cpu_set_t set;
    int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return count > 0 ? (unsigned)count : 1;
}

/* Three quarters of the memory available now. */
static int memory_budget(uint64_t *bytes, struct fb_error *err)
{
    if (fb_proc_meminfo("MemAvailable:", bytes, err) != 0)
        return -1;
    *bytes -= *bytes / 4;
    return 0;
}

static int choose_parallel(const struct fb_run_options *options, const struct fb_totals *totals,
                           unsigned *parallel, struct fb_error *err)
{
    uint64_t budget = 0;
    bool alone = options->clock == FB_CLOCK_REAL || options->order == FB_ORDER_FREE;
    unsigned most = alone ? 1 : cpus_allowed();
    if (options->jobs > 0) {
        *parallel = options->jobs;
        return 0;
    }
    if (memory_budget(&budget, err) != 0)
        return -1;
    uint64_t needs = fb_plan_memory_bytes(totals);
    uint64_t fits = needs > 0 ? budget / ROOM_FACTOR / needs : most;
    *parallel = fits >= most ? most : fits > 1 ? (unsigned)fits : 1;
    return 0;
}

int fb_execute_memory_limit(const struct fb_run_options *options, unsigned parallel,
                            uint64_t *bytes, struct fb_error *err)
{
    if (options->memory_limit_given) {
        *bytes = options->memory_limit_bytes;
        return 0;
    }
    if (memory_budget(bytes, err) != 0)
        return -1;
    *bytes /= parallel;
    return 0;
}

/* The measures of one repetition; its points are on disk afterwards and dropped from memory. */
static int record(struct fb_execution *run, struct fb_cell *cell, struct fb_repetition *repetition,
                  struct fb_error *err)
{
    for (int i = 0; run->options->timing && i < FB_METRIC_COUNT; i++) {
        if (fb_metrics[i].timing)
            fb_measure_na(repetition, (enum fb_metric)i, "measured in the timing pass");
    }
    fb_measure(repetition);
    return fb_execute_record(run, cell, repetition, err);
}

int fb_execute_record(struct fb_execution *run, struct fb_cell *cell,
                      struct fb_repetition *repetition, struct fb_error *err)
{
    if (repetition->series.count > 0 &&
        fb_store_write_series(run->folder, cell, repetition, err) != 0)
        return -1;
    free(repetition->series.points);
    repetition->series = (struct fb_series){0};
    fb_summarize_cell(cell);
    return fb_execute_save(run, false, err);
}

static int finished(void *user, const struct fb_run_request *request,
                    struct fb_run_outcome *outcome, struct fb_error *err)
{
    (void)user;
    const struct run_context *context = request->context;
    struct fb_repetition *repetition = fb_cells_take(context->cell, context->contender, outcome);
    return record(context->run, context->cell, repetition, err);
}

static void snapshot(void *user, const struct fb_run_request *request,
                     struct fb_checkpoint *checkpoint, const struct fb_snapshot *taken)
{
    (void)user, (void)request;
    fb_explain_take(checkpoint, taken);
}

static void add_request(struct batch *batch, struct fb_execution *run, size_t unit,
                        size_t contender, const struct fb_run_request *pattern)
{
    struct run_context *context = &batch->contexts[batch->count];
    *context = (struct run_context){run, fb_execute_cell(run, unit, contender),
                                    &run->contenders.items[contender]};
    struct fb_run_request *request = &batch->requests[batch->count++];
    *request = *pattern;
    request->contender = context->contender;
    request->context = context;
}

/* Contenders run fastest, then layouts, then repeats: what disturbs the machine for a while
 * disturbs all contenders alike. */
static void fill_batch(struct batch *batch, struct fb_execution *run, size_t unit, unsigned seed,
                       const struct fb_run_request *pattern)
{
    const struct fb_run_options *options = run->options;
    size_t most = run->contenders.count * options->repeats * options->layouts;
    batch->requests = fb_alloc(most, sizeof *batch->requests);
    batch->contexts = fb_alloc(most, sizeof *batch->contexts);
    for (unsigned i = 0; i < options->repeats * options->layouts; i++) {
        struct fb_run_request request = *pattern;
        request.layout = i % options->layouts;
        request.index = seed * options->repeats * options->layouts + i;
        if (i > 0 || seed > 0)
            request.explain = FB_EXPLAIN_NONE; /* one repetition of a cell is explained */
        for (size_t c = 0; c < run->contenders.count; c++) {
            if (is_here(run, unit, c) && fb_cells_runnable(&run->contenders.items[c]))
                add_request(batch, run, unit, c, &request);
        }
    }
}

static int memory_pass(struct fb_execution *run, size_t unit, unsigned seed,
                       const struct fb_trace_file *trace, struct fb_error *err)
{
    const struct fb_run_options *options = run->options;
    unsigned parallel = 1;
    struct batch batch = {0};
    struct fb_run_request pattern = {
        .trace_fd = trace->fd,
        .trace = trace->header,
        .clock = options->clock,
        .order = options->order,
        .mode = FB_MODE_MEMORY,
        .verify = options->verify,
        .seed = trace->header->seed,
        .timeout_ns = options->timeout_ns,
        .interval_ns = options->interval_ns,
        .thp = options->thp,
        .explain = fb_explain_first(options, trace),
    };
    if (choose_parallel(options, &run->plan.units[unit].totals[seed], &parallel, err) != 0 ||
        fb_execute_memory_limit(options, parallel, &pattern.memory_limit_bytes, err) != 0)
        return -1;
    fill_batch(&batch, run, unit, seed, &pattern);
    struct fb_runner_hooks hooks = {.finished = finished,
                                    .progress = fb_progress_update,
                                    .snapshot = snapshot,
                                    .user = &run->progress};
    int status =
        fb_runner_run(batch.requests, batch.count, parallel, &hooks, fb_interrupt_stop(), err);
    fb_progress_batch_done(&run->progress, batch.count);
    free(batch.requests);
    free(batch.contexts);
    if (status == 0 && seed == 0 && fb_interrupt_signal() == 0)
        status = fb_explain_pass(run, unit, trace, parallel, pattern.memory_limit_bytes, err);
    return status;
}

/* The cells of a unit carry the hash of their first seed's trace. */
static void note_trace(struct fb_execution *run, size_t unit, const struct fb_trace_file *trace)
{
    for (size_t c = 0; c < run->contenders.count; c++) {
        struct fb_cell *cell = fb_execute_cell(run, unit, c);
        if (cell == NULL)
            continue;
        free(cell->workload.trace_sha256);
        cell->workload.trace_sha256 = fb_strdup(trace->sha256);
    }
}

static int run_seed(struct fb_execution *run, size_t unit, unsigned seed, struct fb_error *err)
{
    struct fb_trace_file trace;
    if (fb_trace_file_make(run->folder, &run->plan.units[unit], seed, &trace, err) != 0)
        return -1;
    if (seed == 0)
        note_trace(run, unit, &trace);
    int status = memory_pass(run, unit, seed, &trace, err);
    if (status == 0 && seed == 0 && run->options->timing && fb_interrupt_signal() == 0)
        status = fb_timing_pass(run, unit, &trace, err);
    fb_trace_file_close(&trace);
    return status;
}

int fb_execute_unit(struct fb_execution *run, size_t unit, struct fb_error *err)
{
    if (count_runnable(run, unit) == 0)
        return 0;
    for (unsigned seed = 0; seed < run->options->seeds && fb_interrupt_signal() == 0; seed++) {
        if (run_seed(run, unit, seed, err) != 0)
            return -1;
    }
    return 0;
}
