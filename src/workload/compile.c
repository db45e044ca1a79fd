/* Where samples stand, and what that guarantees.
 *
 * With threshold = max(max L / 512, volume / 32768, 4 KiB) and step =
 * max(volume / 8192, 64 KiB), volume being all bytes allocated, a sample stands
 *   (a) at every iteration mark, or every k-th where there are over 10,000;
 *   (b) right before a free, when L has risen by threshold or more since its lowest
 *       point after the last sample;
 *   (c) after every step of volume since the last sample;
 *   (d) right after the call that first reaches max L, as a checkpoint.
 *
 * Guarantee: every local maximum of live bytes that rises by at least threshold
 * above the points on either side of it is sampled: at its very top, or, where (a)
 * to (d) put a sample on its way up, less than threshold below the top. For from
 * the last point threshold below the top until the free that ends it, either some
 * sample was taken (and there L is within threshold of the top), or none was and L
 * has risen by threshold since its lowest, which is (b).
 *
 * Bound: each sample of (b) takes threshold bytes of volume, each of (c) step bytes,
 * so there are at most 32768 + 8192 + 10,000 of them, whatever the workload, besides
 * two a phase and seven checkpoints.
 */
#include "workload/compile.h"

#include "base/alloc.h"
#include "base/units.h"
#include "workload/estimate.h"
#include "workload/generator.h"
#include "workload/replica.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COST_OP_NS 100U
#define COST_BYTES_PER_US 8000U

#define STREAMS_MAX 65535U

#define SAMPLED_ITERATIONS 10000U
#define PEAKS_PER_VOLUME 32768U
#define PEAKS_PER_LIVE 512U
#define THRESHOLD_MIN_BYTES 4096U
#define STEPS_PER_VOLUME 8192U
#define STEP_MIN_BYTES 65536U

/* What a pass needs besides the workload; owned. */
struct plan {
    const struct fb_workload *workload;
    uint64_t seed;
    uint64_t max_bytes;
    uint64_t *iterations; /* one a phase, scaled */
    struct fb_trace_class *classes;
    struct fb_trace_phase *phases;
};

/* Classes of the trace: a recording brings its own. */
static size_t count_classes(const struct fb_workload *workload)
{
    return workload->replica != NULL ? workload->replica->class_count : workload->class_count;
}

/* What a recording cannot be: there is one of it. */
static int check_replica(const struct fb_workload *workload,
                         const struct fb_compile_options *options, struct fb_error *err)
{
    if (workload->replica == NULL)
        return 0;
    if (options->seed != workload->seed)
        return fb_fail(err, FB_ERROR_INPUT,
                       "a recording has no other seeds; leave out --seeds (--layouts varies the "
                       "addresses)");
    if (options->scale > 1.0 || options->scale < 1.0)
        return fb_fail(err, FB_ERROR_INPUT,
                       "a recording cannot be scaled; leave out --scale, or make a workload of it "
                       "(`fragbench record --from FILE --workload OUT.yaml`)");
    return 0;
}

static int check_limits(const struct fb_workload *workload,
                        const struct fb_compile_options *options, struct fb_error *err)
{
    if (!(options->scale > 0.0) || !isfinite(options->scale))
        return fb_fail(err, FB_ERROR_INPUT, "--scale: give a number above 0, such as 0.1");
    if (workload->phase_count == 0 || workload->phase_count > UINT32_MAX)
        return fb_fail(err, FB_ERROR_INPUT, "a workload needs at least one phase");
    if (workload->class_count > UINT16_MAX)
        return fb_fail(err, FB_ERROR_INPUT, "%zu object classes are more than the %d a trace holds",
                       workload->class_count, UINT16_MAX);
    for (size_t i = 0; i < workload->class_count; i++)
        if (workload->classes[i].grow != FB_GROW_NONE &&
            workload->classes[i].grow_to_bytes > FB_DISTRIBUTION_MAX)
            return fb_fail(err, FB_ERROR_INPUT, "%s: an object cannot grow beyond 64 TiB",
                           workload->classes[i].name);
    return 0;
}

/* To the nearest whole, at least 1. */
static uint64_t scaled(uint64_t iterations, double scale)
{
    double product = (double)iterations * scale + 0.5;
    if (product >= (double)FB_DISTRIBUTION_MAX)
        return FB_DISTRIBUTION_MAX;
    return product < 1.0 ? 1 : (uint64_t)product;
}

static void fill_class(struct fb_trace_class *out, const struct fb_object_class *class)
{
    memcpy(out->name, class->name, strnlen(class->name, FB_NAME_MAX - 1));
    out->call = (uint8_t) class->call;
    out->touch = (uint8_t) class->touch;
    out->kept = class->lifetime == FB_LIFETIME_RUN;
    out->align = class->call == FB_CALL_ALIGNED ? class->align : 0;
    out->touch_share = class->touch == FB_TOUCH_SHARE ? class->touch_share : 0;
}

static void fill_phase(struct fb_trace_phase *out, const struct fb_phase *phase,
                       uint64_t iterations)
{
    memcpy(out->name, phase->name, strnlen(phase->name, FB_NAME_MAX - 1));
    out->iterations = iterations;
    out->every_ns = phase->every_ns;
    out->fail_on_refusal = phase->fail_on_refusal;
}

static void fill_header(struct fb_trace_header *header, const struct plan *plan)
{
    header->magic = FB_TRACE_MAGIC;
    header->version = FB_TRACE_VERSION;
    header->class_count = (uint32_t)count_classes(plan->workload);
    header->phase_count = (uint32_t)plan->workload->phase_count;
    header->seed = plan->seed;
    header->cost_op_ns = COST_OP_NS;
    header->cost_bytes_per_us = COST_BYTES_PER_US;
}

static int plan_init(struct plan *plan, const struct fb_workload *workload,
                     const struct fb_compile_options *options, struct fb_error *err)
{
    if (check_limits(workload, options, err) != 0 || check_replica(workload, options, err) != 0)
        return -1;
    *plan = (struct plan){
        .workload = workload,
        .seed = options->seed,
        .max_bytes = options->max_bytes,
        .iterations = fb_alloc(workload->phase_count, sizeof *plan->iterations),
        .classes = fb_alloc(count_classes(workload), sizeof *plan->classes),
        .phases = fb_alloc(workload->phase_count, sizeof *plan->phases),
    };
    if (workload->replica != NULL && workload->replica->class_count > 0)
        memcpy(plan->classes, workload->replica->classes,
               workload->replica->class_count * sizeof *plan->classes);
    for (size_t i = 0; i < workload->class_count; i++)
        fill_class(&plan->classes[i], &workload->classes[i]);
    for (size_t i = 0; i < workload->phase_count; i++) {
        if (workload->phases[i].has_iterations)
            plan->iterations[i] = scaled(workload->phases[i].iterations, options->scale);
        fill_phase(&plan->phases[i], &workload->phases[i], plan->iterations[i]);
    }
    return 0;
}

static void plan_deinit(struct plan *plan)
{
    free(plan->phases);
    free(plan->classes);
    free(plan->iterations);
}

static uint64_t to_whole(double x)
{
    return x < (double)(UINT64_MAX / 2) ? (uint64_t)x : UINT64_MAX / 2;
}

static int refuse_estimate(const struct plan *plan, struct fb_error *err)
{
    struct fb_estimate estimate = fb_estimate_of(plan->workload, plan->iterations);
    char objects[32], bytes[32], allowed[32];
    if (estimate.streams > (double)STREAMS_MAX)
        return fb_fail(err, FB_ERROR_INPUT,
                       "this workload would have %s threads in all, main included; 65,535 are "
                       "the most; lower iterations, let a thread live for more of them with "
                       "\"thread_life: {iterations: 10}\", or use --scale",
                       fb_units_count(to_whole(estimate.streams), objects, sizeof objects));
    fb_units_count(to_whole(estimate.objects), objects, sizeof objects);
    if (estimate.held > (double)UINT32_MAX)
        return fb_fail(err, FB_ERROR_INPUT,
                       "this workload would keep about %s objects alive at once; 4,294,967,295 "
                       "are the most; lower iterations or counts, or use --scale",
                       fb_units_count(to_whole(estimate.held), bytes, sizeof bytes));
    double trace_bytes = estimate.ops * (double)sizeof(struct fb_op);
    if (plan->max_bytes == 0 || trace_bytes <= (double)plan->max_bytes)
        return 0;
    return fb_fail(err, FB_ERROR_INPUT,
                   "this workload would make about %s objects and a trace of %s; %s allowed; lower "
                   "iterations or counts, or use --scale",
                   objects, fb_units_bytes(to_whole(trace_bytes), bytes, sizeof bytes),
                   fb_units_bytes(plan->max_bytes, allowed, sizeof allowed));
}

static uint64_t larger(uint64_t left, uint64_t right)
{
    return left > right ? left : right;
}

/* Thresholds from the first pass's totals. */
static struct fb_sampling choose_sampling(const struct plan *plan, const struct fb_totals *totals)
{
    uint64_t iterations = 0;
    for (size_t i = 0; i < plan->workload->phase_count; i++)
        if (__builtin_add_overflow(iterations, plan->iterations[i], &iterations))
            iterations = UINT64_MAX;
    uint64_t volume = totals->header.allocated_bytes;
    uint64_t threshold =
        larger(totals->header.peak_live_bytes / PEAKS_PER_LIVE, volume / PEAKS_PER_VOLUME);
    return (struct fb_sampling){
        .placed = true,
        .threshold_bytes = larger(threshold, THRESHOLD_MIN_BYTES),
        .step_bytes = larger(volume / STEPS_PER_VOLUME, STEP_MIN_BYTES),
        .iteration_stride = iterations == 0 ? 1 : (iterations - 1) / SAMPLED_ITERATIONS + 1,
        .peak_call = totals->peak_call,
    };
}

static void take_tables(struct fb_totals *out, const struct fb_ledger *ledger)
{
    out->header = ledger->header;
    if (out->header.stream_count > 1)
        out->header.turn_ops = FB_TURN_OPS;
    out->trace_bytes = fb_trace_layout(&out->header);
    out->peak_call = ledger->peak_call;
    free(out->stream_ops);
    out->stream_ops = fb_alloc(out->header.stream_count, sizeof *out->stream_ops);
    for (uint32_t i = 0; i < out->header.stream_count; i++)
        out->stream_ops[i] = ledger->streams[i].op_count;
}

/* One pass; sampling NULL: the first. out's phases and tables are filled anew. */
static int run_pass(const struct plan *plan, const struct fb_sampling *sampling,
                    struct fb_trace_writer *writer, struct fb_totals *out, struct fb_error *err)
{
    struct fb_ledger ledger = {
        .classes = plan->classes,
        .shared = out->shared,
        .phases = out->phases,
        .writer = writer,
        .max_bytes = plan->max_bytes,
    };
    fill_header(&ledger.header, plan);
    if (sampling != NULL)
        ledger.sampling = *sampling;
    memset(out->phases, 0, plan->workload->phase_count * sizeof *out->phases);
    fb_ledger_init(&ledger);
    int result = plan->workload->replica != NULL
                     ? fb_replica_run(plan->workload, &ledger, err)
                     : fb_generator_run(plan->workload, plan->seed, plan->iterations, &ledger, err);
    if (result == 0)
        take_tables(out, &ledger);
    fb_ledger_deinit(&ledger);
    return result;
}

static void mark_shared(struct plan *plan, const struct fb_totals *totals)
{
    for (size_t i = 0; i < count_classes(plan->workload); i++)
        plan->classes[i].shared = totals->shared[i];
}

static void totals_init(struct fb_totals *totals, const struct fb_workload *workload)
{
    *totals = (struct fb_totals){
        .phases = fb_alloc(workload->phase_count, sizeof *totals->phases),
        .shared = fb_alloc(count_classes(workload), sizeof *totals->shared),
    };
}

static int count(struct plan *plan, struct fb_totals *totals, struct fb_error *err)
{
    if ((plan->workload->replica == NULL && refuse_estimate(plan, err) != 0) ||
        run_pass(plan, NULL, NULL, totals, err) != 0)
        return -1;
    struct fb_sampling sampling = choose_sampling(plan, totals);
    mark_shared(plan, totals);
    return run_pass(plan, &sampling, NULL, totals, err);
}

int fb_compile_totals(const struct fb_workload *workload, const struct fb_compile_options *options,
                      struct fb_totals *out, struct fb_error *err)
{
    struct plan plan;
    if (plan_init(&plan, workload, options, err) != 0)
        return -1;
    struct fb_totals totals;
    totals_init(&totals, workload);
    int result = count(&plan, &totals, err);
    if (result == 0)
        *out = totals;
    else
        fb_totals_deinit(&totals);
    plan_deinit(&plan);
    return result;
}

void fb_totals_deinit(struct fb_totals *totals)
{
    free(totals->phases);
    free(totals->stream_ops);
    free(totals->shared);
    totals->phases = NULL;
    totals->stream_ops = NULL;
    totals->shared = NULL;
}

static int open_writer(const struct plan *plan, const struct fb_totals *totals, int fd,
                       struct fb_trace_writer **writer, struct fb_error *err)
{
    struct fb_trace_header header = totals->header;
    struct fb_trace_stream *streams = fb_alloc(header.stream_count, sizeof *streams);
    for (uint32_t i = 0; i < header.stream_count; i++)
        streams[i].op_count = totals->stream_ops[i];
    int result =
        fb_trace_writer_open(writer, fd, &header, plan->classes, plan->phases, streams, err);
    free(streams);
    return result;
}

static int write_trace(struct plan *plan, const struct fb_totals *totals, int fd,
                       struct fb_error *err)
{
    struct fb_trace_writer *writer = NULL;
    mark_shared(plan, totals);
    if (open_writer(plan, totals, fd, &writer, err) != 0)
        return -1;
    struct fb_sampling sampling = choose_sampling(plan, totals);
    struct fb_totals written;
    totals_init(&written, plan->workload);
    int result = run_pass(plan, &sampling, writer, &written, err);
    fb_totals_deinit(&written);
    if (fb_trace_writer_close(writer, err) != 0)
        result = -1;
    return result;
}

int fb_compile_trace(const struct fb_workload *workload, const struct fb_compile_options *options,
                     const struct fb_totals *totals, int fd, struct fb_error *err)
{
    struct plan plan;
    if (plan_init(&plan, workload, options, err) != 0)
        return -1;
    int result = write_trace(&plan, totals, fd, err);
    plan_deinit(&plan);
    return result;
}
