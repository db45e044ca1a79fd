/* What holds for every trace, checked by an independent replay of four workloads. */
#include "compiled.h"
#include "replay.h"
#include "scenarios.h"

#include "base/alloc.h"
#include "base/sha256.h"
#include "workload/estimate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void check_totals(const struct compiled *compiled)
{
    struct replay replay = replay_start(&compiled->trace);
    struct lockstep lockstep = lockstep_of(&compiled->trace);
    for (uint64_t i = 0; i < lockstep.count; i++)
        replay_step(&replay, &lockstep.steps[i]);
    const struct fb_trace_header *stated = compiled->trace.header, *counted = &replay.counted;
    assert_int_equal(stated->alloc_calls, counted->alloc_calls);
    assert_int_equal(stated->free_calls, counted->free_calls);
    assert_int_equal(stated->realloc_calls, counted->realloc_calls);
    assert_int_equal(stated->allocated_bytes, replay.volume);
    assert_int_equal(stated->peak_live_bytes, counted->peak_live_bytes);
    assert_int_equal(stated->peak_touched_bytes, counted->peak_touched_bytes);
    assert_int_equal(stated->peak_objects, counted->peak_objects);
    if (stated->stream_count == 1)
        assert_int_equal(stated->slot_count, counted->peak_objects); /* slots are reused */
    assert_int_equal(stated->end_live_bytes, counted->end_live_bytes);
    assert_int_equal(stated->duration_ns, counted->duration_ns);
    assert_int_equal(stated->sample_count, counted->sample_count);
    assert_int_equal(stated->checkpoint_count, counted->checkpoint_count);
    assert_memory_equal(stated, &compiled->totals.header, sizeof *stated);
    assert_int_equal(stated->thread_peak, lockstep.thread_peak);
    assert_int_equal(compiled->trace.size_bytes, compiled->totals.trace_bytes);
    for (uint32_t i = 0; i < stated->class_count; i++)
        assert_int_equal(compiled->trace.classes[i].shared, replay.foreign[i]);
    lockstep_free(&lockstep);
    replay_free(&replay);
}

static void totals_equal_a_replay_of_the_ops(void **state)
{
    (void)state;
    each_scenario(check_totals);
}

static void check_well_formed(const struct compiled *compiled)
{
    uint64_t op = 0;
    void *scratch = fb_alloc(fb_trace_check_scratch_bytes(&compiled->trace), 1);
    const char *fault = fb_trace_check_ops(&compiled->trace, scratch, &op);
    if (fault != NULL)
        fail_msg("op %llu: %s", (unsigned long long)op, fault);
    free(scratch);
}

static void no_op_is_out_of_place(void **state)
{
    (void)state;
    each_scenario(check_well_formed);
}

/* At the end exactly the objects of lifetime run are alive. */
static void check_leftovers(const struct compiled *compiled)
{
    uint64_t balance[16] = {0};
    const struct fb_trace *trace = &compiled->trace;
    for (uint64_t i = 0; i < trace->header->op_count; i++) {
        balance[trace->ops[i].class_index] += trace->ops[i].kind == FB_OP_ALLOC;
        balance[trace->ops[i].class_index] -= trace->ops[i].kind == FB_OP_FREE;
    }
    for (uint32_t i = 0; i < trace->header->class_count; i++)
        assert_int_equal(balance[i] > 0, trace->classes[i].kept);
}

static void only_run_objects_stay(void **state)
{
    (void)state;
    each_scenario(check_leftovers);
}

static void check_phases(const struct compiled *compiled)
{
    struct fb_phase_totals sum = {0};
    uint64_t peak = 0;
    for (uint32_t i = 0; i < compiled->trace.header->phase_count; i++) {
        const struct fb_phase_totals *phase = &compiled->totals.phases[i];
        sum.alloc_calls += phase->alloc_calls;
        sum.free_calls += phase->free_calls;
        sum.realloc_calls += phase->realloc_calls;
        sum.allocated_bytes += phase->allocated_bytes;
        sum.duration_ns += phase->duration_ns;
        sum.end_live_bytes = phase->end_live_bytes;
        peak = phase->peak_live_bytes > peak ? phase->peak_live_bytes : peak;
    }
    const struct fb_trace_header *header = compiled->trace.header;
    assert_int_equal(sum.alloc_calls, header->alloc_calls);
    assert_int_equal(sum.free_calls, header->free_calls);
    assert_int_equal(sum.realloc_calls, header->realloc_calls);
    assert_int_equal(sum.allocated_bytes, header->allocated_bytes);
    assert_int_equal(sum.duration_ns, header->duration_ns);
    assert_int_equal(sum.end_live_bytes, header->end_live_bytes);
    assert_int_equal(peak, header->peak_live_bytes);
}

static void phases_add_up_to_the_whole(void **state)
{
    (void)state;
    each_scenario(check_phases);
}

static void streams_are_counted_before_they_are_made(void **state)
{
    (void)state;
    for (size_t i = 0; i < scenario_count; i++) {
        struct compiled compiled = compile(scenarios[i].workload, scenarios[i].seed);
        uint64_t iterations[16];
        for (uint32_t k = 0; k < compiled.trace.header->phase_count; k++)
            iterations[k] = compiled.trace.phases[k].iterations;
        struct fb_estimate estimate = fb_estimate_of(scenarios[i].workload, iterations);
        assert_true(estimate.streams == (double)compiled.trace.header->stream_count);
        compiled_free(&compiled);
    }
}

static void golden_traces_keep_their_bytes(void **state)
{
    (void)state;
    for (size_t i = 0; i < scenario_count; i++) {
        struct compiled compiled = compile(scenarios[i].workload, scenarios[i].seed);
        char hex[FB_SHA256_HEX];
        struct fb_error err = {0};
        assert_int_equal(fb_sha256_fd(compiled.fd, hex, &err), 0);
        assert_string_equal(hex, scenarios[i].sha256);
        compiled_free(&compiled);
    }
}

static void another_seed_is_another_trace(void **state)
{
    (void)state;
    struct compiled one = compile(&everything, 42), other = compile(&everything, 43);
    assert_int_not_equal(one.trace.header->allocated_bytes, other.trace.header->allocated_bytes);
    compiled_free(&other);
    compiled_free(&one);
}

/* The sizes of a class's allocations, in order; free the array. */
static uint64_t *sizes_of(const struct fb_trace *trace, const char *class, uint64_t *count)
{
    uint64_t *sizes = fb_alloc(trace->header->op_count, sizeof *sizes);
    *count = 0;
    for (uint64_t i = 0; i < trace->header->op_count; i++)
        if (trace->ops[i].kind == FB_OP_ALLOC &&
            strcmp(trace->classes[trace->ops[i].class_index].name, class) == 0)
            sizes[(*count)++] = trace->ops[i].arg;
    return sizes;
}

/* Room for a copy of the workload with one class more. */
struct wider {
    struct fb_object_class classes[16];
    struct fb_phase phases[8];
    struct fb_phase_allocate allocate[8][16];
    struct fb_phase_free free[8][4];
    struct fb_workload workload;
};

/* Every class moves up by one, so that nothing may depend on its number. */
static void copy_phase(struct wider *wider, size_t index)
{
    struct fb_phase *phase = &wider->phases[index];
    *phase = everything.phases[index];
    for (size_t i = 0; i < phase->allocate_count; i++) {
        wider->allocate[index][i] = phase->allocate[i];
        wider->allocate[index][i].class_index++;
    }
    for (size_t i = 0; i < phase->free_count; i++) {
        wider->free[index][i] = phase->free[i];
        wider->free[index][i].class_index++;
    }
    phase->allocate = wider->allocate[index];
    phase->free = wider->free[index];
}

/* A new class in front of all others, allocated among theirs while serving. */
static void widen(struct wider *wider)
{
    *wider = (struct wider){.workload = everything};
    wider->classes[0] =
        (struct fb_object_class){.name = "newcomer",
                                 .size = {.kind = FB_DISTRIBUTION_EXPONENTIAL, .a = 500},
                                 .lifetime = FB_LIFETIME_ITERATION};
    memcpy(wider->classes + 1, everything.classes, everything.class_count * sizeof *wider->classes);
    for (size_t i = 0; i < everything.phase_count; i++)
        copy_phase(wider, i);
    struct fb_phase *serve = &wider->phases[1];
    memmove(serve->allocate + 1, serve->allocate, serve->allocate_count * sizeof *serve->allocate);
    serve->allocate[0] =
        (struct fb_phase_allocate){0, {.kind = FB_DISTRIBUTION_EXPONENTIAL, .a = 4}};
    serve->allocate_count++;
    wider->workload.classes = wider->classes;
    wider->workload.class_count++;
    wider->workload.phases = wider->phases;
}

static void a_new_class_does_not_shift_the_others(void **state)
{
    (void)state;
    struct wider wider;
    widen(&wider);
    struct compiled before = compile(&everything, 42), after = compile(&wider.workload, 42);
    assert_true(after.trace.header->alloc_calls > before.trace.header->alloc_calls);
    static const char *const names[] = {"buffer", "metadata", "cache",
                                        "timed",  "recent",   "aligned"};
    for (size_t i = 0; i < COUNT(names); i++) {
        uint64_t count_before = 0, count_after = 0;
        uint64_t *sizes_before = sizes_of(&before.trace, names[i], &count_before);
        uint64_t *sizes_after = sizes_of(&after.trace, names[i], &count_after);
        assert_true(count_before > 100);
        assert_int_equal(count_before, count_after);
        assert_memory_equal(sizes_before, sizes_after, count_before * sizeof *sizes_before);
        free(sizes_after);
        free(sizes_before);
    }
    compiled_free(&after);
    compiled_free(&before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(totals_equal_a_replay_of_the_ops),
        cmocka_unit_test(no_op_is_out_of_place),
        cmocka_unit_test(only_run_objects_stay),
        cmocka_unit_test(phases_add_up_to_the_whole),
        cmocka_unit_test(streams_are_counted_before_they_are_made),
        cmocka_unit_test(golden_traces_keep_their_bytes),
        cmocka_unit_test(another_seed_is_another_trace),
        cmocka_unit_test(a_new_class_does_not_shift_the_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
