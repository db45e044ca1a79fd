/* Where the compiler places samples: no peak hides, and there are not too many. */
#include "compiled.h"
#include "replay.h"

#include "base/alloc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

/* Live bytes after every op, and where samples stand. */
struct curve {
    struct lockstep lockstep;
    uint64_t count;
    uint64_t *live;
    bool *sampled;
};

static bool is_sample(const struct fb_op *op)
{
    return op->kind == FB_OP_SAMPLE || op->kind == FB_OP_CHECKPOINT;
}

static struct curve curve_of(const struct fb_trace *trace)
{
    struct replay replay = replay_start(trace);
    struct curve curve = {
        .lockstep = lockstep_of(trace),
        .count = trace->header->op_count,
        .live = fb_alloc(trace->header->op_count, sizeof(uint64_t)),
        .sampled = fb_alloc(trace->header->op_count, sizeof(bool)),
    };
    for (uint64_t i = 0; i < curve.count; i++) {
        const struct step *step = &curve.lockstep.steps[i];
        replay_step(&replay, step);
        curve.live[i] = replay.live;
        curve.sampled[i] = is_sample(step->op);
    }
    replay_free(&replay);
    return curve;
}

static void curve_free(struct curve *curve)
{
    lockstep_free(&curve->lockstep);
    free(curve->sampled);
    free(curve->live);
}

static uint64_t threshold_of(const struct fb_trace_header *header)
{
    uint64_t threshold = 4096;
    if (header->peak_live_bytes / 512 > threshold)
        threshold = header->peak_live_bytes / 512;
    if (header->allocated_bytes / 32768 > threshold)
        threshold = header->allocated_bytes / 32768;
    return threshold;
}

/* The extent around top in which live stays above top's − threshold; 0 when a higher point comes
 * first (top is a shoulder) or the curve does not fall that far. */
static int walk(const struct curve *curve, uint64_t top, uint64_t threshold, int direction,
                uint64_t *end)
{
    uint64_t peak = curve->live[top];
    for (uint64_t i = top; i < curve->count; i += (uint64_t)direction) {
        if (curve->live[i] > peak)
            return 0;
        if (curve->live[i] + threshold <= peak) {
            *end = i;
            return 1;
        }
    }
    return 0;
}

static void check_maxima(const struct compiled *compiled)
{
    struct curve curve = curve_of(&compiled->trace);
    uint64_t threshold = threshold_of(compiled->trace.header), maxima = 0;
    for (uint64_t i = 1; i + 1 < curve.count; i++) {
        uint64_t left = 0, right = 0;
        if (curve.live[i] <= curve.live[i - 1] || !walk(&curve, i, threshold, -1, &left) ||
            !walk(&curve, i, threshold, 1, &right))
            continue;
        maxima++;
        bool found = false;
        for (uint64_t k = left + 1; k < right && !found; k++)
            found = curve.sampled[k];
        if (!found)
            fail_msg("the maximum at op %llu is not sampled", (unsigned long long)i);
    }
    assert_true(maxima >= 20); /* or the check checks nothing */
    curve_free(&curve);
}

static void no_peak_hides_between_samples(void **state)
{
    (void)state;
    each_scenario(check_maxima);
}

/* The largest live bytes are a checkpoint, at the first moment, once. */
static void check_peak_checkpoint(const struct compiled *compiled)
{
    struct curve curve = curve_of(&compiled->trace);
    uint64_t first = 0, checkpoints = 0;
    while (curve.live[first] < compiled->trace.header->peak_live_bytes)
        first++;
    for (uint64_t i = 0; i < curve.count; i++) {
        const struct fb_op *op = curve.lockstep.steps[i].op;
        if (op->kind != FB_OP_CHECKPOINT || op->flags != FB_CHECKPOINT_PEAK_LIVE)
            continue;
        assert_int_equal(i, first + 1);
        checkpoints++;
    }
    assert_int_equal(checkpoints, 1);
    curve_free(&curve);
}

static void the_peak_is_a_checkpoint(void **state)
{
    (void)state;
    each_scenario(check_peak_checkpoint);
}

/* Never more than a step of volume and one object without a sample. */
static void check_volume(const struct compiled *compiled)
{
    const struct fb_trace *trace = &compiled->trace;
    uint64_t step_bytes = trace->header->allocated_bytes / 8192;
    step_bytes = step_bytes > 65536 ? step_bytes : 65536;
    struct replay replay = replay_start(trace);
    struct lockstep lockstep = lockstep_of(trace);
    uint64_t since = 0;
    for (uint64_t i = 0; i < lockstep.count; i++) {
        const struct fb_op *op = lockstep.steps[i].op;
        if (op->kind == FB_OP_ALLOC || op->kind == FB_OP_REALLOC)
            assert_true(replay.volume - since < step_bytes);
        replay_step(&replay, &lockstep.steps[i]);
        if (is_sample(op))
            since = replay.volume;
    }
    lockstep_free(&lockstep);
    replay_free(&replay);
}

static void no_volume_goes_by_without_a_sample(void **state)
{
    (void)state;
    each_scenario(check_volume);
}

static void check_iterations(const struct compiled *compiled)
{
    const struct fb_trace *trace = &compiled->trace;
    uint64_t total = 0, sampled = 0, seen = 0;
    for (uint32_t i = 0; i < trace->header->phase_count; i++)
        total += trace->phases[i].iterations;
    uint64_t stride = (total + 9999) / 10000;
    struct lockstep lockstep = lockstep_of(trace);
    for (uint64_t i = 0; i < lockstep.count; i++) {
        const struct fb_op *op = lockstep.steps[i].op;
        if (op->kind != FB_OP_ITERATION)
            continue;
        bool here = op[1].kind == FB_OP_SAMPLE && op[1].flags == FB_SAMPLE_ITERATION;
        assert_int_equal(here, seen++ % stride == 0);
        sampled += here;
    }
    assert_int_equal(seen, total);
    assert_true(sampled <= 10000);
    lockstep_free(&lockstep);
}

static void iterations_are_sampled_evenly(void **state)
{
    (void)state;
    each_scenario(check_iterations);
}

static void check_sample_count(const struct compiled *compiled)
{
    const struct fb_trace_header *header = compiled->trace.header;
    assert_true(header->sample_count <= 32768 + 8192 + 10000 + 2 * header->phase_count + 7);
}

static void samples_are_bounded(void **state)
{
    (void)state;
    each_scenario(check_sample_count);
}

/* As many maxima of just the threshold as a volume can hold: each is sampled, and no more. */
static void samples_are_bounded_at_the_worst(void **state)
{
    (void)state;
    struct fb_object_class classes[] = {{.name = "spike",
                                         .size = CONSTANT(4096),
                                         .lifetime = FB_LIFETIME_OPS,
                                         .life = CONSTANT(1)}};
    struct fb_phase_allocate allocate[] = {{0, CONSTANT(1)}};
    struct fb_phase phases[] = {{.name = "spikes",
                                 .has_iterations = true,
                                 .iterations = 32768,
                                 .allocate = allocate,
                                 .allocate_count = 1}};
    struct fb_workload workload = WORKLOAD(classes, phases);
    struct compiled compiled = compile(&workload, 1);
    assert_in_range(compiled.trace.header->sample_count, 32768, 32768 + 10);
    compiled_free(&compiled);
}

static void ten_thousand_iterations_are_all_sampled(void **state)
{
    (void)state;
    static struct fb_object_class none[1];
    struct fb_phase phases[] = {{.name = "empty", .has_iterations = true, .iterations = 10000}};
    struct fb_workload workload = {.classes = none, .phases = phases, .phase_count = 1};
    struct compiled compiled = compile(&workload, 1);
    assert_int_equal(compiled.trace.header->sample_count,
                     10000 + compiled.trace.header->checkpoint_count);
    compiled_free(&compiled);
    phases[0].iterations = 10001;
    compiled = compile(&workload, 1);
    assert_int_equal(compiled.trace.header->sample_count,
                     5001 + compiled.trace.header->checkpoint_count);
    compiled_free(&compiled);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_peak_hides_between_samples),
        cmocka_unit_test(the_peak_is_a_checkpoint),
        cmocka_unit_test(no_volume_goes_by_without_a_sample),
        cmocka_unit_test(iterations_are_sampled_evenly),
        cmocka_unit_test(ten_thousand_iterations_are_all_sampled),
        cmocka_unit_test(samples_are_bounded),
        cmocka_unit_test(samples_are_bounded_at_the_worst),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
