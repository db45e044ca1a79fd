/* The timing pass: the same trace at full speed on the real clock, pauses skipped, one run at a
 * time; what the replay itself costs is measured under `null` and taken off. */
#include "base/alloc.h"
#include "commands/cells.h"
#include "commands/execute.h"
#include "commands/interrupt.h"
#include "harness/runner.h"
#include "metrics/measure.h"
#include "metrics/summary.h"

#include <math.h>
#include <stdlib.h>

#define RUNS_MAX 3U
/* A run shorter than this is repeated: the median of three then evens out the machine. */
#define LONG_RUN_NS UINT64_C(2000000000)

/* The runs of one contender. */
struct sheet {
    struct fb_run_outcome runs[RUNS_MAX];
    unsigned count;
};

static const struct {
    enum fb_metric metric;
    double quantile;
} latencies[] = {
    {FB_METRIC_LATENCY_P50_NS, 0.50},
    {FB_METRIC_LATENCY_P99_NS, 0.99},
    {FB_METRIC_LATENCY_P999_NS, 0.999},
    {FB_METRIC_LATENCY_MAX_NS, 1.0},
};

/* The kernel's account of the run, filled by the harness. */
static const enum fb_metric accounts[] = {
    FB_METRIC_MINOR_FAULTS,
    FB_METRIC_USER_S,
    FB_METRIC_SYSTEM_S,
};

static int keep(void *user, const struct fb_run_request *request, struct fb_run_outcome *outcome,
                struct fb_error *err)
{
    (void)err;
    struct sheet *sheet = request->context;
    (void)user;
    sheet->runs[sheet->count++] = *outcome;
    *outcome = (struct fb_run_outcome){0};
    return 0;
}

static void sheet_deinit(struct sheet *sheet)
{
    for (unsigned i = 0; i < sheet->count; i++)
        fb_cells_outcome_deinit(&sheet->runs[i]);
}

static const struct fb_repetition *last_run(const struct sheet *sheet)
{
    return &sheet->runs[sheet->count - 1].repetition;
}

static int fill_sheet(struct fb_execution *run, const struct fb_trace_file *trace,
                      const struct fb_contender *contender, struct sheet *sheet,
                      struct fb_error *err)
{
    struct fb_run_request request = {
        .trace_fd = trace->fd,
        .trace = trace->header,
        .contender = contender,
        .clock = FB_CLOCK_REAL,
        .order = FB_ORDER_FREE,
        .mode = FB_MODE_TIMING,
        .seed = trace->header->seed,
        .timeout_ns = run->options->timeout_ns,
        .thp = run->options->thp,
        .context = sheet,
    };
    struct fb_runner_hooks hooks = {
        .finished = keep, .progress = fb_progress_update, .user = &run->progress};
    if (fb_execute_memory_limit(run->options, 1, &request.memory_limit_bytes, err) != 0)
        return -1;
    while (sheet->count < RUNS_MAX && fb_interrupt_signal() == 0) {
        unsigned before = sheet->count;
        if (fb_runner_run(&request, 1, 1, &hooks, fb_interrupt_stop(), err) != 0)
            return -1;
        if (sheet->count == before || !fb_status_done(last_run(sheet)->status) ||
            sheet->runs[before].wall_ns >= LONG_RUN_NS)
            break;
    }
    fb_progress_batch_done(&run->progress, 1);
    return 0;
}

/* The median over the sheet of one number a run. */
static double median(const struct sheet *sheet, double (*pick)(const struct fb_run_outcome *))
{
    double values[RUNS_MAX];
    for (unsigned i = 0; i < sheet->count; i++)
        values[i] = pick(&sheet->runs[i]);
    return fb_summarize(values, sheet->count).median;
}

static double wall_s(const struct fb_run_outcome *outcome)
{
    return (double)outcome->wall_ns / 1e9;
}

/* Where a bucket ends. The last ones hold what no 64-bit count reaches. */
static uint64_t bucket_end_ticks(uint32_t bucket)
{
    return bucket < fb_latency_bucket(UINT64_MAX) ? fb_latency_ticks(bucket + 1) : UINT64_MAX;
}

static double ticks_to_ns(const struct fb_latency_histogram *histogram, uint64_t ticks)
{
    uint64_t timer = ticks < histogram->timer_ticks ? ticks : histogram->timer_ticks;
    return (double)(ticks - timer) * histogram->ns_per_tick;
}

/* Allocations and frees together, the cost of reading the tick counter taken off. */
static void fill_bins(const struct fb_latency_histogram *histogram, struct fb_latency_bin *bins)
{
    for (uint32_t b = 0; b <= fb_latency_bucket(UINT64_MAX); b++)
        bins[b] = (struct fb_latency_bin){ticks_to_ns(histogram, fb_latency_ticks(b)),
                                          ticks_to_ns(histogram, bucket_end_ticks(b)),
                                          histogram->alloc[b] + histogram->free[b]};
}

static double latency(const struct fb_run_outcome *outcome, double quantile)
{
    if (outcome->latency == NULL)
        return NAN;
    struct fb_latency_bin *bins = fb_alloc(FB_LATENCY_BUCKETS, sizeof *bins);
    fill_bins(outcome->latency, bins);
    double ns = fb_measure_quantile(bins, fb_latency_bucket(UINT64_MAX) + 1, quantile);
    free(bins);
    return ns;
}

static void fill_medians(struct fb_timing *timing, const struct sheet *sheet)
{
    double values[RUNS_MAX];
    for (size_t l = 0; l < sizeof latencies / sizeof latencies[0]; l++) {
        for (unsigned i = 0; i < sheet->count; i++)
            values[i] = latency(&sheet->runs[i], latencies[l].quantile);
        timing->values[latencies[l].metric] = fb_summarize(values, sheet->count).median;
    }
    for (size_t a = 0; a < sizeof accounts / sizeof accounts[0]; a++) {
        for (unsigned i = 0; i < sheet->count; i++)
            values[i] = sheet->runs[i].repetition.values[accounts[a]];
        timing->values[accounts[a]] = fb_summarize(values, sheet->count).median;
    }
}

/* null_s is 0 for `null` itself: there the replay's own cost is the answer. */
static void fill_timing(struct fb_cell *cell, const struct sheet *sheet, double null_s)
{
    struct fb_timing *timing = &cell->timing;
    const struct fb_repetition *last = last_run(sheet);
    timing->status = last->status;
    timing->status_detail = last->status_detail != NULL ? fb_strdup(last->status_detail) : NULL;
    timing->runs = sheet->count;
    timing->ops = last->ops;
    timing->done = fb_status_done(last->status);
    if (!timing->done)
        return;
    timing->wall_s = median(sheet, wall_s);
    timing->null_s = null_s;
    fill_medians(timing, sheet);
    /* Below what the replay itself takes lies noise, not a speed of 0. */
    if (timing->ops > 0 && timing->wall_s > null_s)
        timing->values[FB_METRIC_NS_PER_OP] = (timing->wall_s - null_s) * 1e9 / (double)timing->ops;
}

static bool is_null(const struct fb_contender *contender)
{
    return contender->backend != NULL && (contender->backend->flags & FB_BACKEND_NULL) != 0;
}

static int time_cell(struct fb_execution *run, const struct fb_trace_file *trace,
                     struct fb_cell *cell, const struct fb_contender *contender, double null_s,
                     struct fb_error *err)
{
    struct sheet sheet = {0};
    int status = fill_sheet(run, trace, contender, &sheet, err);
    if (status == 0 && sheet.count > 0) {
        fill_timing(cell, &sheet, is_null(contender) ? 0 : null_s);
        fb_summarize_cell(cell);
        status = fb_execute_save(run, false, err);
    }
    sheet_deinit(&sheet);
    return status;
}

/* Without the replay's own time no cell has a speed; say so in each rather than leave it out. */
static void fail_cells(struct fb_execution *run, size_t unit, const struct sheet *sheet)
{
    const struct fb_repetition *last = last_run(sheet);
    for (size_t c = 0; c < run->contenders.count; c++) {
        struct fb_cell *cell = fb_execute_cell(run, unit, c);
        if (cell == NULL || !fb_status_done(cell->status))
            continue;
        cell->timing.status = last->status;
        cell->timing.status_detail = fb_format(
            "the calibration under null: %s",
            last->status_detail != NULL ? last->status_detail : fb_status_name(last->status));
        fb_summarize_cell(cell);
    }
}

/* The replay's own time; NaN in *null_s when `null` itself did not get through. */
static int calibrate(struct fb_execution *run, size_t unit, const struct fb_trace_file *trace,
                     double *null_s, struct fb_error *err)
{
    struct sheet sheet = {0};
    int status = fill_sheet(run, trace, &run->null.items[0], &sheet, err);
    *null_s = NAN;
    if (status == 0 && sheet.count > 0) {
        if (fb_status_done(last_run(&sheet)->status))
            *null_s = median(&sheet, wall_s);
        else
            fail_cells(run, unit, &sheet);
    }
    sheet_deinit(&sheet);
    return status;
}

int fb_timing_pass(struct fb_execution *run, size_t unit, const struct fb_trace_file *trace,
                   struct fb_error *err)
{
    double null_s = NAN;
    if (calibrate(run, unit, trace, &null_s, err) != 0)
        return -1;
    for (size_t c = 0; !isnan(null_s) && c < run->contenders.count; c++) {
        struct fb_cell *cell = fb_execute_cell(run, unit, c);
        if (fb_interrupt_signal() != 0)
            break;
        if (cell == NULL || !fb_status_done(cell->status))
            continue;
        if (time_cell(run, trace, cell, &run->contenders.items[c], null_s, err) != 0)
            return -1;
    }
    return 0;
}
