/* Limits of a hand-made cell: three runs whose ratios are 1.18, 1.20 and 1.26. */
#include "metrics/limits.h"

#include "base/alloc.h"
#include "fixture.h"
#include "metrics/moment.h"
#include "metrics/summary.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { RUNS = 3 };

static void add_run(struct fb_cell *cell, unsigned index, double ratio)
{
    const uint64_t iterations[] = {1, 10};
    struct fb_repetition *repetition = &cell->repetitions[index];
    fixture_init(repetition, 2, iterations);
    repetition->index = repetition->layout = index;
    repetition->seed = 7;
    repetition->values[FB_METRIC_RATIO_PEAK] = ratio;
    repetition->values[FB_METRIC_KEPT_BYTES] = 5 * (double)MIB;
    repetition->values[FB_METRIC_END_FOOTPRINT_BYTES] = 400 * (double)MIB + 1;
    repetition->na[FB_METRIC_RATIO_END] = "live at the end below 1 MiB";
    repetition->phases[0].peak_footprint_bytes = 10 * MIB;
    repetition->phases[1].peak_footprint_bytes = 60 * MIB;
    repetition->phases[1].peak_t_ns = (index + 1) * SECOND_NS;
    (void)strcpy(repetition->kept_phase, "phase-a");
    (void)fixture_checkpoint(repetition, "phase_end", 0, 0.5, 15, 10);
    (void)fixture_checkpoint(repetition, "phase_end", 1, 9, 15, 14);
}

static struct fb_name_value *one_param(void)
{
    struct fb_name_value *params = fb_alloc(1, sizeof *params);
    *params = (struct fb_name_value){fb_strdup("steps"), fb_strdup("10 20")};
    return params;
}

static int setup(void **state)
{
    static const double ratios[RUNS] = {1.20, 1.26, 1.18};
    struct fb_result *result = fb_alloc(1, sizeof *result);
    result->cells = fb_alloc(1, sizeof *result->cells);
    result->cell_count = 1;
    struct fb_cell *cell = result->cells;
    cell->id = fb_strdup("kv/jemalloc/steps=10 20");
    cell->workload.name = fb_strdup("kv");
    cell->workload.file = fb_strdup("my workloads/kv.yaml");
    cell->workload.params = one_param();
    cell->workload.param_count = 1;
    cell->workload.scale = 0.5;
    cell->allocator.name = fb_strdup("jemalloc");
    cell->allocator.spec = fb_strdup("jemalloc");
    cell->clock = fb_strdup("virtual");
    cell->order = fb_strdup("free");
    cell->repetitions = fb_alloc(RUNS, sizeof *cell->repetitions);
    cell->repetition_count = RUNS;
    for (unsigned i = 0; i < RUNS; i++)
        add_run(cell, i, ratios[i]);
    for (int i = 0; i < FB_METRIC_COUNT; i++)
        cell->timing.values[i] = NAN;
    fb_summarize_cell(cell);
    *state = result;
    return 0;
}

static int teardown(void **state)
{
    fb_result_deinit(*state);
    free(*state);
    return 0;
}

static struct fb_findings judge(struct fb_result *result, enum fb_metric metric, double max)
{
    struct fb_findings findings = {0};
    struct fb_limit *limit = fb_alloc(1, sizeof *limit);
    *limit = (struct fb_limit){metric, max, 9};
    free(result->cells[0].limits);
    result->cells[0].limits = limit;
    result->cells[0].limit_count = 1;
    fb_limits_judge(result, &findings);
    assert_int_equal(findings.count, 1);
    assert_ptr_equal(findings.items[0].cell, &result->cells[0]);
    return findings;
}

static void median_over_the_limit_gates_and_says_all(void **state)
{
    struct fb_findings findings = judge(*state, FB_METRIC_RATIO_PEAK, 1.1);
    const struct fb_finding *finding = &findings.items[0];
    assert_int_equal(finding->judgement, FB_JUDGED_OVER_LIMIT);
    assert_true(finding->gates);
    assert_near(finding->limit, 1.1);
    assert_near(finding->after.median, 1.20);
    assert_int_equal(finding->before.n, 0);
    assert_string_equal(finding->message,
                        "kv (steps=10 20), jemalloc: ratio_peak 1.200 is over its limit of 1.100 "
                        "(1.180 to 1.260 over 3 runs, worst: run 1, layout 1, seed 7)");
    assert_string_equal(finding->where, "peak in phase phase-b at 2 s");
    assert_string_equal(finding->next,
                        "fragbench run 'my workloads/kv.yaml' -a jemalloc -L 'steps=10 20' "
                        "--scale 0.5 --order free --explain");
    fb_findings_deinit(&findings);
}

static void median_at_the_limit_is_within(void **state)
{
    struct fb_findings findings = judge(*state, FB_METRIC_RATIO_PEAK, 1.20);
    assert_int_equal(findings.items[0].judgement, FB_JUDGED_UNCHANGED);
    assert_false(findings.items[0].gates);
    assert_null(findings.items[0].next);
    fb_findings_deinit(&findings);
}

static void values_that_look_alike_are_shown_in_full(void **state)
{
    struct fb_findings findings = judge(*state, FB_METRIC_END_FOOTPRINT_BYTES, 400 * (double)MIB);
    assert_string_equal(findings.items[0].message,
                        "kv (steps=10 20), jemalloc: end_footprint_bytes 419,430,401 B is over its "
                        "limit of 419,430,400 B (in all 3 runs)");
    assert_string_equal(findings.items[0].where, "end of phase phase-b at 9 s");
    fb_findings_deinit(&findings);
}

static void kept_names_the_phase_that_kept(void **state)
{
    struct fb_findings findings = judge(*state, FB_METRIC_KEPT_BYTES, 1);
    assert_string_equal(findings.items[0].where, "end of phase phase-a at 500 ms");
    fb_findings_deinit(&findings);
}

static void figures_that_are_missing_are_skipped_with_the_reason(void **state)
{
    struct fb_findings findings = judge(*state, FB_METRIC_RATIO_END, 2);
    assert_int_equal(findings.items[0].judgement, FB_JUDGED_SKIPPED);
    assert_false(findings.items[0].gates);
    assert_non_null(strstr(findings.items[0].message, "n/a, live at the end below 1 MiB"));
    assert_string_equal(findings.items[0].next, "limit overhead_end_bytes instead");
    fb_findings_deinit(&findings);
    findings = judge(*state, FB_METRIC_NS_PER_OP, 2);
    assert_non_null(strstr(findings.items[0].message, "n/a, timing pass off"));
    fb_findings_deinit(&findings);
}

static void failed_cells_gate_and_skipped_ones_do_not(void **state)
{
    struct fb_result *result = *state;
    result->cells[0].status = FB_STATUS_CRASHED;
    result->cells[0].status_detail = fb_strdup("SIGSEGV in phase serve");
    struct fb_findings findings = judge(result, FB_METRIC_RATIO_PEAK, 9);
    assert_int_equal(findings.items[0].judgement, FB_JUDGED_FAILED);
    assert_int_equal(findings.items[0].metric, FB_METRIC_COUNT);
    assert_true(findings.items[0].gates);
    assert_non_null(strstr(findings.items[0].message, "crashed: SIGSEGV in phase serve"));
    fb_findings_deinit(&findings);
    result->cells[0].status = FB_STATUS_NOT_INSTALLED;
    findings = judge(result, FB_METRIC_RATIO_PEAK, 9);
    assert_int_equal(findings.items[0].judgement, FB_JUDGED_SKIPPED);
    assert_false(findings.items[0].gates);
    fb_findings_deinit(&findings);
}

static void cells_without_limits_are_not_judged(void **state)
{
    struct fb_findings findings = {0};
    struct fb_result *result = *state;
    result->cells[0].status = FB_STATUS_CRASHED;
    fb_limits_judge(result, &findings);
    assert_int_equal(findings.count, 0);
}

static void older_files_know_the_phase_of_a_peak_only(void **state)
{
    struct fb_result *result = *state;
    struct fb_repetition *repetition = &result->cells[0].repetitions[0];
    repetition->phases[1].peak_t_ns = 0;
    char *text = fb_moment_text(repetition, FB_METRIC_PEAK_FOOTPRINT_BYTES);
    assert_string_equal(text, "peak in phase phase-b");
    free(text);
    assert_null(fb_moment_text(repetition, FB_METRIC_RATIO_MEAN));
}

int main(void)
{
#define WITH_CELL(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        WITH_CELL(median_over_the_limit_gates_and_says_all),
        WITH_CELL(median_at_the_limit_is_within),
        WITH_CELL(values_that_look_alike_are_shown_in_full),
        WITH_CELL(kept_names_the_phase_that_kept),
        WITH_CELL(figures_that_are_missing_are_skipped_with_the_reason),
        WITH_CELL(failed_cells_gate_and_skipped_ones_do_not),
        WITH_CELL(cells_without_limits_are_not_judged),
        WITH_CELL(older_files_know_the_phase_of_a_peak_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
