/* From an ended run to its outcome. */
#include "harness/run.h"

#include "base/alloc.h"
#include "harness/ending.h"
#include "harness/proc.h"

#include <string.h>

static const struct fb_trace_phase *phase_table(const struct fb_run_request *request)
{
    const char *base = (const char *)request->trace;
    return (const struct fb_trace_phase *)(const void *)(base + request->trace->phase_offset);
}

/* Where the worker was; NULL before the first phase. */
static const char *current_phase(const struct fb_run *run)
{
    const struct fb_run_request *request = run->request;
    uint32_t phase = atomic_load(&run->control.shared->phase);
    if (!run->ready || phase >= request->trace->phase_count)
        return NULL;
    return phase_table(request)[phase].name;
}

static bool oom_moved(const struct fb_run *run)
{
    uint64_t now;
    return run->oom_known && fb_proc_oom_kills(&now, NULL) == 0 && now > run->oom_kills;
}

static void judge(struct fb_run *run, struct fb_repetition *repetition)
{
    const struct fb_shared *shared = run->control.shared;
    if (run->stopped_by_us) {
        repetition->status = run->verdict;
        repetition->status_detail = run->verdict_detail;
        run->verdict_detail = NULL;
        return;
    }
    char fault_text[FB_OWNER_MAX + 1];
    memcpy(fault_text, shared->fault_text, FB_OWNER_MAX);
    fault_text[FB_OWNER_MAX] = '\0';
    struct fb_ending ending = {
        .wait_status = run->wait_status,
        .ready = run->ready,
        .end = (enum fb_worker_end)shared->end,
        .fault_errno = shared->fault_errno,
        .fault_op = shared->fault_op,
        .op_index = atomic_load(&shared->op_index),
        .fault_text = fault_text,
        .phase_name = current_phase(run),
        .refused_calls = shared->refused_calls,
        .refused_bytes = shared->refused_bytes,
        .text = run->text.text,
        .oom_known = run->oom_known,
        .oom_moved = oom_moved(run),
    };
    repetition->status = fb_ending_judge(&ending, &repetition->status_detail);
}

static struct fb_point point_of(const struct fb_sample *sample)
{
    return (struct fb_point){
        .t_ns = sample->t_ns,
        .footprint_bytes = sample->footprint_bytes,
        .live_bytes = sample->live_bytes,
        .touched_bytes = sample->touched_bytes,
        .volume_bytes = sample->volume_bytes,
        .iteration = sample->iteration,
        .phase = sample->phase,
        .reason = sample->reason,
    };
}

/* The worker's samples and those from outside, in the order of time. */
static void collect_series(const struct fb_run *run, struct fb_series *series)
{
    const struct fb_shared *shared = run->control.shared;
    const char *base = (const char *)shared + run->control.sample_offset;
    const struct fb_sample *samples = (const struct fb_sample *)(const void *)base;
    uint64_t used = atomic_load_explicit(&shared->sample_used, memory_order_acquire);
    if (used > run->control.sample_capacity)
        used = run->control.sample_capacity;
    size_t total = used + run->outside_count, inner = 0, outer = 0;
    if (total == 0)
        return;
    series->points = fb_alloc(total, sizeof *series->points);
    while (series->count < total) {
        bool from_worker = outer == run->outside_count ||
                           (inner < used && samples[inner].t_ns <= run->outside[outer].t_ns);
        series->points[series->count++] =
            from_worker ? point_of(&samples[inner]) : run->outside[outer];
        inner += from_worker;
        outer += !from_worker;
    }
}

static const struct fb_checkpoint *end_of_phase(const struct fb_run *run, size_t phase)
{
    for (size_t i = 0; i < run->checkpoint_count; i++)
        if (run->checkpoints[i].phase == (int)phase &&
            strcmp(run->checkpoints[i].kind, "phase_end") == 0)
            return &run->checkpoints[i];
    return NULL;
}

/* The phases that came to their end: one that did not has no figures to show. */
static void collect_phases(const struct fb_run *run, struct fb_repetition *repetition)
{
    const struct fb_trace_phase *table = phase_table(run->request);
    size_t count = run->request->trace->phase_count;
    repetition->phases = fb_alloc(count + 1, sizeof *repetition->phases);
    for (size_t i = 0; i < count; i++) {
        const struct fb_checkpoint *end = end_of_phase(run, i);
        if (end == NULL)
            break;
        repetition->phases[i] = (struct fb_phase_record){
            .name = fb_format("%.*s", (int)strnlen(table[i].name, FB_NAME_MAX), table[i].name),
            .iterations = table[i].iterations,
            .footprint_bytes = end->footprint_bytes,
            .live_bytes = end->live_bytes,
            .ratio = __builtin_nan(""),
            .kept_bytes = __builtin_nan(""),
        };
        repetition->phase_count = i + 1;
    }
}

/* The kernel's account closes at the last phase's end: before that it is no difference yet. */
static void collect_account(const struct fb_run *run, struct fb_repetition *repetition)
{
    const struct fb_shared *shared = run->control.shared;
    repetition->clock_calls = atomic_load(&shared->clock_calls);
    repetition->refused_calls = shared->refused_calls;
    repetition->refused_bytes = shared->refused_bytes;
    repetition->skipped_calls = shared->skipped_calls;
    repetition->degraded_iterations = shared->degraded_iterations;
    if (run->mappings_max > 0)
        repetition->values[FB_METRIC_MAPPINGS_MAX] = (double)run->mappings_max;
    if (shared->end != FB_WORKER_DONE)
        return;
    repetition->ops = shared->ops_done;
    repetition->values[FB_METRIC_MINOR_FAULTS] = (double)shared->minor_faults;
    repetition->values[FB_METRIC_USER_S] = (double)shared->user_ns / 1e9;
    repetition->values[FB_METRIC_SYSTEM_S] = (double)shared->system_ns / 1e9;
}

static void collect_timing(const struct fb_run *run, struct fb_run_outcome *outcome)
{
    const struct fb_shared *shared = run->control.shared;
    if (shared->end != FB_WORKER_DONE)
        return;
    outcome->wall_ns = shared->wall_ns;
    if (run->request->mode != FB_MODE_TIMING)
        return;
    const char *base = (const char *)shared + run->control.latency_offset;
    outcome->latency = fb_alloc(1, sizeof *outcome->latency);
    memcpy(outcome->latency->alloc, base, sizeof outcome->latency->alloc);
    memcpy(outcome->latency->free, base + sizeof outcome->latency->alloc,
           sizeof outcome->latency->free);
    outcome->latency->timer_ticks = shared->timer_ticks;
    if (shared->wall_ticks != 0)
        outcome->latency->ns_per_tick = (double)shared->wall_ns / (double)shared->wall_ticks;
}

/* An allocator that is known to read the clock must have been seen doing so. */
static bool is_clock_proven(const struct fb_run *run)
{
    const struct fb_backend *backend = run->request->contender->backend;
    if (run->request->clock == FB_CLOCK_REAL || run->request->mode == FB_MODE_TIMING ||
        backend == NULL || (backend->flags & FB_BACKEND_READS_CLOCK) == 0)
        return true;
    return atomic_load(&run->control.shared->clock_calls) > 0;
}

void fb_run_collect(struct fb_run *run, struct fb_run_outcome *outcome)
{
    struct fb_repetition *repetition = &outcome->repetition;
    *outcome = (struct fb_run_outcome){.layout_fixed = run->layout_fixed,
                                       .thp_used = run->thp_used,
                                       .clock_proven = is_clock_proven(run)};
    fb_repetition_init(repetition);
    repetition->index = run->request->index;
    repetition->seed = run->request->seed;
    repetition->layout = run->request->layout;
    repetition->wall_s = (double)(run->ended_ns - run->started_ns) / 1e9;
    repetition->missed_ticks = run->missed_ticks;
    judge(run, repetition);
    collect_account(run, repetition);
    collect_series(run, &repetition->series);
    collect_phases(run, repetition);
    collect_timing(run, outcome);
    if (run->text.length > 0)
        repetition->stderr_text = fb_strdup(run->text.text);
    repetition->checkpoints = run->checkpoints;
    repetition->checkpoint_count = run->checkpoint_count;
    run->checkpoints = NULL;
    run->checkpoint_count = 0;
    outcome->malloc_owner = run->malloc_owner;
    run->malloc_owner = NULL;
    outcome->effective = run->effective;
    outcome->effective_count = run->effective_count;
    run->effective = NULL;
    run->effective_count = 0;
    fb_run_discard(run);
}
