/* Runs that go well: real workers under the installed allocators. */
#include "bench.h"

#include "harness/proc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIB (UINT64_C(1) << 20)

static const struct bench_shape small = {
    .objects = 4000, .size_bytes = 2048, .rounds = 5, .pause_ns = UINT64_C(3000000000)};

/* One run of the spec on the shape; *available false when it is not installed. */
static struct fb_run_outcome run_one(const char *spec, const struct bench_shape *shape,
                                     void (*adapt)(struct fb_run_request *), bool *available)
{
    struct bench_trace trace;
    struct fb_contenders contenders = bench_contender(spec);
    struct fb_run_outcome outcome = {0};
    *available = contenders.items[0].available;
    bench_trace_open(&trace, shape);
    struct fb_run_request request = bench_request(&trace, &contenders.items[0]);
    if (adapt != NULL)
        adapt(&request);
    if (*available)
        bench_run(&request, 1, 1, &outcome);
    bench_trace_close(&trace);
    fb_contenders_deinit(&contenders);
    return outcome;
}

static struct fb_run_outcome run_ok(const char *spec, const struct bench_shape *shape,
                                    void (*adapt)(struct fb_run_request *))
{
    bool available;
    struct fb_run_outcome outcome = run_one(spec, shape, adapt, &available);
    if (!available)
        skip();
    if (outcome.repetition.status != FB_STATUS_OK)
        fail_msg("%s: %s: %s", spec, fb_status_name(outcome.repetition.status),
                 outcome.repetition.status_detail);
    return outcome;
}

static void check_figures(const struct fb_run_outcome *outcome)
{
    const struct fb_repetition *repetition = &outcome->repetition;
    uint64_t peak = small.objects * small.size_bytes;
    assert_null(repetition->status_detail);
    assert_true(repetition->wall_s > 0);
    assert_int_equal(repetition->ops, 2 * small.objects * small.rounds);
    assert_int_equal(repetition->series.count, small.rounds + 3);
    assert_int_equal(repetition->checkpoint_count, 3);
    assert_string_equal(repetition->checkpoints[0].kind, "start");
    assert_int_equal(repetition->checkpoints[0].phase, -1);
    const struct fb_checkpoint *top = &repetition->checkpoints[1];
    assert_string_equal(top->kind, "peak_live");
    assert_int_equal(top->live_bytes, peak);
    assert_in_range(top->footprint_bytes, peak, 2 * peak);
    assert_in_range(top->rss_bytes, top->footprint_bytes, top->footprint_bytes + 8 * MIB);
    assert_in_range(top->usable_bytes, peak, 2 * peak);
    assert_true(top->mappings > 10);
    assert_int_equal(repetition->phase_count, 1);
    assert_string_equal(repetition->phases[0].name, "serve");
    assert_int_equal(repetition->phases[0].iterations, small.rounds);
    assert_int_equal(repetition->phases[0].live_bytes, 0);
    assert_int_equal(repetition->phases[0].footprint_bytes,
                     repetition->checkpoints[2].footprint_bytes);
    assert_true(isnan(repetition->values[FB_METRIC_RATIO_PEAK]));
    assert_true(repetition->values[FB_METRIC_MINOR_FAULTS] >= (double)(peak / 4096));
    assert_true(repetition->values[FB_METRIC_MAPPINGS_MAX] >= (double)top->mappings);
}

static void four_allocators_run_and_are_proved(void **state)
{
    (void)state;
    static const char *const specs[] = {"ptmalloc2", "jemalloc", "tcmalloc", "mimalloc"};
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        bool available;
        struct fb_run_outcome outcome = run_one(specs[i], &small, NULL, &available);
        if (!available)
            continue;
        if (outcome.repetition.status != FB_STATUS_OK)
            fail_msg("%s: %s", specs[i], outcome.repetition.status_detail);
        assert_non_null(strstr(outcome.malloc_owner, i == 0 ? "libc.so.6" : specs[i]));
        assert_true(outcome.layout_fixed);
        assert_true(outcome.clock_proven);
        check_figures(&outcome);
        bench_outcome_deinit(&outcome);
    }
}

static void scudo_and_tbbmalloc_run_too(void **state)
{
    (void)state;
    static const char *const specs[] = {"scudo", "tbbmalloc"};
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        bool available;
        struct fb_run_outcome outcome = run_one(specs[i], &small, NULL, &available);
        if (available && outcome.repetition.status != FB_STATUS_OK)
            fail_msg("%s: %s", specs[i], outcome.repetition.status_detail);
        bench_outcome_deinit(&outcome);
    }
}

static void a_checkpoint_and_its_sample_agree(void **state)
{
    (void)state;
    struct fb_run_outcome outcome = run_ok("ptmalloc2", &small, NULL);
    size_t found = 0;
    for (size_t i = 0; i < outcome.repetition.series.count; i++) {
        const struct fb_point *point = &outcome.repetition.series.points[i];
        if (point->reason != FB_SAMPLE_CHECKPOINT)
            continue;
        const struct fb_checkpoint *checkpoint = &outcome.repetition.checkpoints[found++];
        assert_int_equal(point->footprint_bytes, checkpoint->footprint_bytes);
        assert_int_equal(point->t_ns, checkpoint->t_ns);
    }
    assert_int_equal(found, 3);
    bench_outcome_deinit(&outcome);
}

static void two_runs_have_equal_series(void **state)
{
    (void)state;
    static const char *const specs[] = {"ptmalloc2", "jemalloc", "tcmalloc", "mimalloc"};
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        bool available;
        struct fb_run_outcome a = run_one(specs[i], &small, NULL, &available);
        struct fb_run_outcome b = run_one(specs[i], &small, NULL, &available);
        assert_int_equal(a.repetition.series.count, b.repetition.series.count);
        for (size_t j = 0; j < a.repetition.series.count; j++)
            assert_memory_equal(&a.repetition.series.points[j], &b.repetition.series.points[j],
                                sizeof a.repetition.series.points[j]);
        bench_outcome_deinit(&a);
        bench_outcome_deinit(&b);
    }
}

static void four_runs_two_at_a_time_come_back_each_to_its_request(void **state)
{
    (void)state;
    enum { COUNT = 4 };
    struct bench_trace trace;
    struct fb_contenders contenders = bench_contender("ptmalloc2");
    struct fb_run_request requests[COUNT];
    struct fb_run_outcome outcomes[COUNT];
    bench_trace_open(&trace, &small);
    for (unsigned i = 0; i < COUNT; i++) {
        requests[i] = bench_request(&trace, &contenders.items[0]);
        requests[i].layout = i;
        requests[i].index = 10 + i;
    }
    bench_run(requests, COUNT, 2, outcomes);
    for (unsigned i = 0; i < COUNT; i++) {
        assert_int_equal(outcomes[i].repetition.status, FB_STATUS_OK);
        assert_int_equal(outcomes[i].repetition.layout, i);
        assert_int_equal(outcomes[i].repetition.index, 10 + i);
        bench_outcome_deinit(&outcomes[i]);
    }
    bench_trace_close(&trace);
    fb_contenders_deinit(&contenders);
}

static uint64_t null_footprint(const struct bench_shape *shape)
{
    struct fb_run_outcome outcome = run_ok("null", shape, NULL);
    uint64_t most = 0;
    for (size_t i = 0; i < outcome.repetition.series.count; i++)
        if (outcome.repetition.series.points[i].footprint_bytes > most)
            most = outcome.repetition.series.points[i].footprint_bytes;
    assert_true(most > 0);
    bench_outcome_deinit(&outcome);
    return most;
}

static void the_harness_costs_the_same_for_any_trace(void **state)
{
    (void)state;
    const struct bench_shape tiny = {.objects = 10, .size_bytes = 64, .rounds = 1};
    const struct bench_shape large = {.objects = 300000, .size_bytes = 64, .rounds = 4};
    uint64_t a = null_footprint(&tiny), b = null_footprint(&large);
    assert_in_range(b + 64 * 1024 - a, 0, 128 * 1024);
    assert_true(a < MIB);
}

static void free_bytes_are_kept_or_given_back_by_the_clock(void **state)
{
    (void)state;
    /* Ten idle rounds of 3 s: jemalloc's 10 s decay shows only if it sees the virtual time. */
    const struct bench_shape idle = {
        .objects = 4000, .size_bytes = 2048, .rounds = 2, .pause_ns = UINT64_C(60000000000)};
    struct fb_run_outcome decay = run_ok("jemalloc", &idle, NULL);
    assert_true(decay.repetition.clock_calls > 0);
    assert_true(decay.repetition.wall_s < 30);
    const struct fb_checkpoint *end = &decay.repetition.checkpoints[2];
    assert_true(end->t_ns >= UINT64_C(120000000000));
    bench_outcome_deinit(&decay);
}

static void tunables_reach_the_allocator_and_are_read_back(void **state)
{
    (void)state;
    struct fb_run_outcome outcome = run_ok("jemalloc:dirty_decay_ms=0,tcache=false", &small, NULL);
    assert_int_equal(outcome.effective_count, 2);
    assert_string_equal(outcome.effective[0].key, "dirty_decay_ms");
    assert_string_equal(outcome.effective[0].value, "0");
    assert_string_equal(outcome.effective[1].value, "false");
    /* Given back at once: nothing stays of the 8 MB after the frees. */
    assert_true(outcome.repetition.checkpoints[2].footprint_bytes <
                outcome.repetition.checkpoints[1].footprint_bytes / 2);
    bench_outcome_deinit(&outcome);
}

static void make_real(struct fb_run_request *request)
{
    request->clock = FB_CLOCK_REAL;
    request->interval_ns = 5000000;
}

static void the_real_clock_adds_samples_from_outside_in_order(void **state)
{
    (void)state;
    const struct bench_shape paced = {
        .objects = 1000, .size_bytes = 2048, .rounds = 5, .pause_ns = 40000000};
    struct fb_run_outcome outcome = run_ok("ptmalloc2", &paced, make_real);
    const struct fb_series *series = &outcome.repetition.series;
    size_t outside = 0;
    for (size_t i = 0; i < series->count; i++) {
        outside += series->points[i].reason == FB_SAMPLE_TIME;
        assert_true(i == 0 || series->points[i].t_ns >= series->points[i - 1].t_ns);
    }
    /* 200 ms at 5 ms, each either taken or counted as missed. */
    assert_in_range(outside + outcome.repetition.missed_ticks, 30, 400);
    assert_true(outside > 0);
    bench_outcome_deinit(&outcome);
}

static void make_timing(struct fb_run_request *request)
{
    request->mode = FB_MODE_TIMING;
    request->clock = FB_CLOCK_REAL;
    request->order = FB_ORDER_FREE;
}

static void the_timing_mode_brings_latencies_and_no_samples(void **state)
{
    (void)state;
    struct fb_run_outcome outcome = run_ok("ptmalloc2", &small, make_timing);
    uint64_t timed = 0;
    assert_int_equal(outcome.repetition.series.count, 0);
    assert_int_equal(outcome.repetition.checkpoint_count, 0);
    assert_true(outcome.wall_ns > 0);
    assert_non_null(outcome.latency);
    assert_true(outcome.latency->ns_per_tick > 0.01 && outcome.latency->ns_per_tick < 100);
    for (size_t i = 0; i < FB_LATENCY_BUCKETS; i++)
        timed += outcome.latency->alloc[i] + outcome.latency->free[i];
    assert_in_range(timed, outcome.repetition.ops / 64, outcome.repetition.ops / 16);
    bench_outcome_deinit(&outcome);
}

static void never_thp(struct fb_run_request *request)
{
    request->thp = "never";
    request->layout = 3;
}

static void huge_pages_can_be_forbidden(void **state)
{
    (void)state;
    const struct bench_shape big = {.objects = 4, .size_bytes = 8 * MIB, .rounds = 1};
    struct fb_run_outcome outcome =
        run_ok("ptmalloc2:hugetlb=1", &big, never_thp); /* asks for them by madvise */
    assert_string_equal(outcome.thp_used, "never");
    assert_int_equal(outcome.repetition.checkpoints[1].huge_bytes, 0);
    bench_outcome_deinit(&outcome);
}

#define TEST(name) cmocka_unit_test_setup(name, bench_setup)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(four_allocators_run_and_are_proved),
        TEST(scudo_and_tbbmalloc_run_too),
        TEST(a_checkpoint_and_its_sample_agree),
        TEST(two_runs_have_equal_series),
        TEST(four_runs_two_at_a_time_come_back_each_to_its_request),
        TEST(the_harness_costs_the_same_for_any_trace),
        TEST(free_bytes_are_kept_or_given_back_by_the_clock),
        TEST(tunables_reach_the_allocator_and_are_read_back),
        TEST(the_real_clock_adds_samples_from_outside_in_order),
        TEST(the_timing_mode_brings_latencies_and_no_samples),
        TEST(huge_pages_can_be_forbidden),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
