/* Pairs, presence, refusals, gates and words of whole comparisons. */
#include "metrics/compare.h"

#include "base/alloc.h"
#include "fixture.h"
#include "metrics/explain.h"
#include "sets.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define M(name) FB_METRIC_##name
#define WHOLE FB_METRIC_COUNT

static struct fb_result base, new;
static struct fb_comparison out;
static struct fb_compare_options options;

static int setup(void **state)
{
    (void)state;
    sets_init(&base);
    sets_init(&new);
    options = sets_options();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    fb_comparison_deinit(&out);
    fb_result_deinit(&base);
    fb_result_deinit(&new);
    return 0;
}

/* A cell of each set; the new one is returned. */
static struct fb_cell *one_each(void)
{
    (void)sets_add(&base, "jemalloc", 3);
    return sets_add(&new, "jemalloc", 3);
}

static void compare(void)
{
    fb_comparison_deinit(&out);
    sets_compare(&out, &base, &new, &options);
}

static void same_sets_are_unchanged(void **state)
{
    (void)state;
    (void)one_each();
    compare();
    assert_int_equal(out.findings.count, 3);
    assert_int_equal(out.judged, 3);
    assert_judged(&out, M(RATIO_PEAK), FB_JUDGED_UNCHANGED, false);
    assert_judged(&out, M(KEPT_BYTES), FB_JUDGED_UNCHANGED, false);
    assert_judged(&out, M(END_FOOTPRINT_BYTES), FB_JUDGED_UNCHANGED, false);
    assert_true(sets_finding(&out, M(RATIO_PEAK))->exact);
}

static void a_regression_gates_and_says_all(void **state)
{
    (void)state;
    struct fb_cell *cell = one_each();
    sets_value(cell, M(RATIO_PEAK), 1.375);
    sets_value(cell, M(PEAK_FOOTPRINT_BYTES), 110);
    compare();
    assert_judged(&out, M(RATIO_PEAK), FB_JUDGED_REGRESSED, true);
    assert_judged(&out, M(KEPT_BYTES), FB_JUDGED_UNCHANGED, false);
    assert_string_equal(sets_finding(&out, M(RATIO_PEAK))->message,
                        "w, jemalloc: ratio_peak 1.250 → 1.375, +0.125 or +10.0 % (threshold 5 %), "
                        "exact, n = 3 and 3; peak RSS 100 MiB → 110 MiB for 80 MiB of data");
    assert_int_equal(fb_findings_gating(&out.findings), 1);
}

static void an_improvement_does_not_gate_unless_asked(void **state)
{
    (void)state;
    sets_value(one_each(), M(END_FOOTPRINT_BYTES), 80);
    compare();
    assert_judged(&out, M(END_FOOTPRINT_BYTES), FB_JUDGED_IMPROVED, false);
    options.fail_on = FB_COMPARE_BIT(FB_JUDGED_IMPROVED);
    compare();
    assert_judged(&out, M(END_FOOTPRINT_BYTES), FB_JUDGED_IMPROVED, true);
}

static void exact_counts_what_is_below_the_thresholds(void **state)
{
    (void)state;
    struct fb_cell *cell = one_each();
    sets_value(cell, M(KEPT_BYTES), 10.25);
    compare();
    assert_judged(&out, M(KEPT_BYTES), FB_JUDGED_UNCHANGED, false);
    options.exact = true;
    compare();
    assert_judged(&out, M(KEPT_BYTES), FB_JUDGED_REGRESSED, true);
    assert_contains(sets_finding(&out, M(KEPT_BYTES))->message, "differs in 3 of 3 runs");
    /* One layout only, and for the better. */
    sets_values(cell, M(KEPT_BYTES), (const double[]){10, 9, 10});
    compare();
    assert_judged(&out, M(KEPT_BYTES), FB_JUDGED_IMPROVED, false);
}

static void expect_same_sees_any_difference_of_any_exact_metric(void **state)
{
    (void)state;
    struct fb_cell *cell = one_each();
    options.expect_same = true;
    compare();
    assert_int_equal(fb_findings_gating(&out.findings), 0);
    assert_true(out.judged > 3);
    sets_values(cell, M(PEAK_LIVE_BYTES), (const double[]){80, 79.5, 80});
    compare();
    assert_judged(&out, M(PEAK_LIVE_BYTES), FB_JUDGED_IMPROVED, true);
    assert_int_equal(fb_findings_gating(&out.findings), 1);
    assert_contains(sets_finding(&out, M(PEAK_LIVE_BYTES))->message, "differs in 1 of 3 runs");
}

static void expect_same_in_real_time_needs_size_and_evidence(void **state)
{
    (void)state;
    struct fb_cell *cell = one_each();
    sets_text(&base.cells[0].clock, "real");
    sets_text(&cell->clock, "real");
    options.expect_same = true;
    sets_values(cell, M(END_FOOTPRINT_BYTES), (const double[]){91, 92, 93});
    compare();
    assert_int_equal(fb_findings_gating(&out.findings), 0);
    sets_values(cell, M(END_FOOTPRINT_BYTES), (const double[]){80, 80, 80});
    compare();
    assert_judged(&out, M(END_FOOTPRINT_BYTES), FB_JUDGED_IMPROVED, true);
}

static void expect_same_sees_what_became_na(void **state)
{
    (void)state;
    sets_value(one_each(), M(RATIO_PEAK), NAN);
    options.expect_same = true;
    compare();
    assert_judged(&out, M(RATIO_PEAK), FB_JUDGED_REGRESSED, true);
}

static void a_ratio_that_is_na_is_judged_by_its_bytes(void **state)
{
    (void)state;
    struct fb_cell *cell = one_each();
    sets_value(&base.cells[0], M(RATIO_PEAK), NAN);
    sets_value(cell, M(RATIO_PEAK), NAN);
    sets_value(cell, M(OVERHEAD_PEAK_BYTES), 26);
    compare();
    assert_judged(&out, M(OVERHEAD_PEAK_BYTES), FB_JUDGED_REGRESSED, true);
    for (size_t i = 0; i < out.findings.count; i++)
        assert_int_not_equal(out.findings.items[i].metric, M(RATIO_PEAK));
}

static void what_is_na_without_bytes_is_said(void **state)
{
    (void)state;
    const enum fb_metric metrics[] = {M(DRIFT)};
    struct fb_cell *cell = one_each();
    sets_value(&base.cells[0], M(DRIFT), 1.5);
    cell->repetitions[0].na[M(DRIFT)] = "fewer than 40 iterations";
    options.metrics = metrics;
    options.metric_count = 1;
    compare();
    assert_judged(&out, M(DRIFT), FB_JUDGED_SKIPPED, false);
    assert_string_equal(sets_finding(&out, M(DRIFT))->message,
                        "w, jemalloc: drift is n/a in new (fewer than 40 iterations): not judged");
    assert_int_equal(out.judged, 0);
}

static void missing_and_new_cells_are_listed(void **state)
{
    (void)state;
    (void)one_each();
    (void)sets_add(&base, "tcmalloc", 3);
    compare();
    assert_judged(&out, WHOLE, FB_JUDGED_MISSING, true);
    assert_string_equal(sets_finding(&out, WHOLE)->message,
                        "w, tcmalloc: in base, missing from new");
    sets_text(&base.cells[1].allocator.name, "jemalloc");
    sets_text(&base.cells[1].id, "w/jemalloc");
    base.cells[1].status = FB_STATUS_NOT_INSTALLED;
    (void)sets_add(&new, "mimalloc", 3);
    compare();
    bool found = false;
    for (size_t i = 0; i < out.findings.count; i++)
        found |= out.findings.items[i].judgement == FB_JUDGED_NEW && !out.findings.items[i].gates;
    assert_true(found);
}

static void statuses_decide_before_values(void **state)
{
    (void)state;
    struct fb_cell *cell = one_each();
    cell->status = FB_STATUS_CRASHED;
    cell->status_detail = fb_strdup("SIGSEGV in phase serve");
    compare();
    assert_judged(&out, WHOLE, FB_JUDGED_FAILED, true);
    assert_string_equal(sets_finding(&out, WHOLE)->message,
                        "w, jemalloc: crashed (SIGSEGV in phase serve)");
    options.fail_on = 0;
    compare();
    assert_judged(&out, WHOLE, FB_JUDGED_FAILED, true); /* a failed cell always gates */
    options.fail_on = FB_COMPARE_FAIL_ON;
    cell->status = FB_STATUS_NOT_INSTALLED;
    compare();
    assert_judged(&out, WHOLE, FB_JUDGED_MISSING, true); /* a gate must not go blind */
    base.cells[0].status = FB_STATUS_NOT_INSTALLED;
    compare();
    assert_judged(&out, WHOLE, FB_JUDGED_SKIPPED, false);
    cell->status = FB_STATUS_OK;
    compare();
    assert_judged(&out, WHOLE, FB_JUDGED_NEW, false);
    base.cells[0].status = FB_STATUS_TIMEOUT;
    compare();
    assert_judged(&out, WHOLE, FB_JUDGED_NEW, false);
    assert_contains(sets_finding(&out, WHOLE)->message, "no figures in base: timeout");
}

static void unequal_work_is_not_compared(void **state)
{
    (void)state;
    struct fb_cell *cell = one_each();
    cell->status = FB_STATUS_REFUSED;
    cell->repetitions[0].refused_calls = 12;
    cell->repetitions[0].refused_bytes = 12 * MIB;
    sets_value(cell, M(PEAK_FOOTPRINT_BYTES), 50);
    compare();
    assert_judged(&out, WHOLE, FB_JUDGED_REGRESSED, true);
    assert_contains(sets_finding(&out, WHOLE)->message, "0 calls (0 B) where 12 are left out now");
    assert_int_equal(out.findings.count, 1);
    base.cells[0].repetitions[2].refused_calls = 12;
    base.cells[0].repetitions[2].refused_bytes = 12 * MIB;
    compare();
    assert_judged(&out, M(RATIO_PEAK), FB_JUDGED_UNCHANGED, false); /* equal work again */
}

static void other_conditions_are_refused_with_both_values(void **state)
{
    (void)state;
    struct fb_cell *cell = one_each();
    (void)sets_add(&base, "tcmalloc", 3);
    (void)sets_add(&new, "tcmalloc", 3);
    sets_text(&new.host.libc, "glibc 2.41");
    new.host.cpus_online = 8;
    sets_text(&cell->allocator.version, "5.3.0");
    compare();
    assert_int_equal(out.refused, 2);
    assert_int_equal(out.judged, 0);
    assert_string_equal(out.refusals,
                        "fragbench: cannot compare w/jemalloc and 1 more: libc: glibc 2.36 in "
                        "base, glibc 2.41 in new; cpus: 4 online, 4 allowed in base, 8 online, 4 "
                        "allowed in new\n  measure both under the same conditions, or say that "
                        "this is meant to differ: --by libc,cpus\n");
    options.pairing.by = FB_MATCH_BIT(FB_MATCH_LIBC) | FB_MATCH_BIT(FB_MATCH_CPUS);
    compare();
    assert_int_equal(out.refused, 0);
    assert_null(out.refusals);
    assert_int_equal(out.judged, 6);
}

static void advice_names_no_field_that_another_implies(void **state)
{
    (void)state;
    struct fb_cell *cell = one_each();
    sets_text(&cell->allocator.version, "5.3.1");
    sets_text(&cell->allocator.sha256, "0000");
    compare();
    assert_contains(out.refusals, "--by version\n");
    assert_contains(out.refusals, "sha256: fedcba987654 in base, 0000 in new");
    options.pairing.by = FB_MATCH_BIT(FB_MATCH_VERSION);
    compare();
    assert_int_equal(out.refused, 0);
}

static void unlike_pairs_are_skipped_and_said_once_where_asked(void **state)
{
    (void)state;
    struct fb_cell *cell = one_each();
    sets_text(&cell->allocator.version, "5.2.1");
    sets_text(&cell->allocator.sha256, "0000");
    sets_value(cell, M(RATIO_PEAK), 9); /* would gate */
    (void)sets_add(&base, "tcmalloc", 3);
    (void)sets_add(&new, "tcmalloc", 3);
    options.skip_unlike = true;
    compare();
    assert_int_equal(out.refused, 0);
    assert_int_equal(out.unlike, 1);
    assert_int_equal(out.judged, 3); /* tcmalloc's */
    assert_judged(&out, WHOLE, FB_JUDGED_SKIPPED, false);
    assert_string_equal(sets_finding(&out, WHOLE)->message,
                        "w, jemalloc: jemalloc 5.3.0 expected, 5.2.1 found");
    assert_string_equal(out.refusals,
                        "fragbench: skipped: jemalloc 5.3.0 expected, 5.2.1 found (w/jemalloc)\n");
    sets_text(&new.host.libc, "glibc 2.41");
    sets_text(&cell->allocator.version, "5.3.0");
    sets_text(&cell->allocator.sha256, "fedcba9876543210");
    compare();
    assert_int_equal(out.judged, 0);
    assert_string_equal(out.refusals, "fragbench: skipped: libc glibc 2.36 expected, glibc 2.41 "
                                      "found (w/jemalloc and 1 more)\n");
    options.fail_on |= FB_COMPARE_BIT(FB_JUDGED_SKIPPED);
    compare();
    assert_int_equal(fb_findings_gating(&out.findings), 2);
}

static void what_could_be_several_is_refused_even_then(void **state)
{
    (void)state;
    (void)sets_add(&base, "old", 3);
    (void)sets_add(&base, "older", 3);
    (void)sets_add(&new, "new", 3);
    options.skip_unlike = true;
    options.pairing.by = FB_MATCH_BIT(FB_MATCH_ALLOCATOR);
    compare();
    assert_int_equal(out.unlike, 0);
    assert_int_equal(out.refused, 1);
}

static void other_layouts_make_a_cell_inexact(void **state)
{
    (void)state;
    struct fb_cell *cell = one_each();
    cell->repetitions[2].layout = 7;
    options.pairing.by = FB_MATCH_BIT(FB_MATCH_LAYOUTS);
    sets_value(cell, M(KEPT_BYTES), 10.25);
    options.exact = true;
    compare();
    assert_judged(&out, M(KEPT_BYTES), FB_JUDGED_UNCHANGED, false);
    assert_false(sets_finding(&out, M(KEPT_BYTES))->exact);
}

static void cells_of_one_set_stand_against_the_first(void **state)
{
    (void)state;
    (void)sets_add(&base, "old", 3);
    sets_value(sets_add(&base, "new", 3), M(KEPT_BYTES), 20);
    options.pairing.by = FB_MATCH_BIT(FB_MATCH_ALLOCATOR);
    sets_compare(&out, &base, NULL, &options);
    assert_judged(&out, M(KEPT_BYTES), FB_JUDGED_REGRESSED, true);
    assert_ptr_equal(sets_finding(&out, M(KEPT_BYTES))->base, &base.cells[0]);
    assert_contains(sets_finding(&out, M(KEPT_BYTES))->message, "w, new against old: kept_bytes");
    fb_comparison_deinit(&out);
    options.pairing.base = "new";
    sets_compare(&out, &base, NULL, &options);
    assert_judged(&out, M(KEPT_BYTES), FB_JUDGED_IMPROVED, false);
    assert_ptr_equal(sets_finding(&out, M(KEPT_BYTES))->base, &base.cells[1]);
}

static void contenders_of_two_sets_pair_when_there_is_no_doubt(void **state)
{
    (void)state;
    (void)sets_add(&base, "ptmalloc2", 3);
    (void)sets_add(&new, "jemalloc", 3);
    compare();
    assert_int_equal(fb_findings_count(&out.findings, FB_JUDGED_MISSING), 1);
    assert_int_equal(fb_findings_count(&out.findings, FB_JUDGED_NEW), 1);
    options.pairing.by = FB_MATCH_BIT(FB_MATCH_ALLOCATOR);
    compare();
    assert_int_equal(out.judged, 3);
    (void)sets_add(&base, "tcmalloc", 3);
    compare();
    assert_int_equal(out.refused, 1);
    assert_contains(out.refusals, "--base NAME");
    options.pairing.base = "tcmalloc";
    compare();
    assert_int_equal(out.judged, 3);
    assert_ptr_equal(sets_finding(&out, M(RATIO_PEAK))->base, &base.cells[1]);
}

static void contenders_pair_with_their_namesakes_first(void **state)
{
    (void)state;
    (void)sets_add(&base, "ptmalloc2", 3);
    (void)sets_add(&base, "jemalloc", 3);
    sets_value(sets_add(&new, "jemalloc", 3), M(KEPT_BYTES), 20);
    options.pairing.by = FB_MATCH_BIT(FB_MATCH_ALLOCATOR);
    compare();
    assert_int_equal(out.refused, 0);
    assert_ptr_equal(sets_finding(&out, M(KEPT_BYTES))->base, &base.cells[1]);
}

static void parameters_of_one_set_are_compared(void **state)
{
    (void)state;
    struct fb_cell *first = sets_add(&base, "jemalloc", 3),
                   *second = sets_add(&base, "jemalloc", 3);
    sets_text(&first->id, "w/jemalloc/count=100");
    sets_text(&second->id, "w/jemalloc/count=200");
    sets_text(&second->workload.trace_sha256, "another");
    options.pairing.by = FB_MATCH_BIT(FB_MATCH_PARAMS);
    sets_compare(&out, &base, NULL, &options);
    assert_int_equal(out.judged, 3);
    assert_contains(sets_finding(&out, M(KEPT_BYTES))->message,
                    "w, jemalloc, count=200 against count=100: ");
}

static void explanations_name_phase_and_time(void **state)
{
    (void)state;
    struct fb_cell *cell = one_each();
    sets_value(cell, M(RATIO_PEAK), 1.5);
    sets_value(cell, M(PEAK_FOOTPRINT_BYTES), 120);
    sets_value(cell, M(KEPT_BYTES), 30);
    sets_value(cell, M(RETAINED_IDLE_0S_BYTES), 60);
    struct fb_repetition *run = &cell->repetitions[0];
    run->phases[1].peak_footprint_bytes = 120 * MIB;
    run->phases[1].peak_t_ns = UINT64_C(12000000000);
    compare();
    for (size_t i = 0; i < out.findings.count; i++)
        fb_explain(&out.findings.items[i]);
    assert_string_equal(sets_finding(&out, M(RATIO_PEAK))->where, "peak in phase phase-b at 12 s");
    assert_string_equal(sets_finding(&out, M(KEPT_BYTES))->where, "end of phase phase-a at 10 s");
    assert_contains(sets_finding(&out, M(KEPT_BYTES))->next, "so it is cached");
    assert_contains(sets_finding(&out, M(RATIO_PEAK))->next,
                    "fragbench run w.yaml -a jemalloc --explain");
    assert_null(sets_finding(&out, M(END_FOOTPRINT_BYTES))->where);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(same_sets_are_unchanged),
        CASE(a_regression_gates_and_says_all),
        CASE(an_improvement_does_not_gate_unless_asked),
        CASE(exact_counts_what_is_below_the_thresholds),
        CASE(expect_same_sees_any_difference_of_any_exact_metric),
        CASE(expect_same_in_real_time_needs_size_and_evidence),
        CASE(expect_same_sees_what_became_na),
        CASE(a_ratio_that_is_na_is_judged_by_its_bytes),
        CASE(what_is_na_without_bytes_is_said),
        CASE(missing_and_new_cells_are_listed),
        CASE(statuses_decide_before_values),
        CASE(unequal_work_is_not_compared),
        CASE(other_conditions_are_refused_with_both_values),
        CASE(advice_names_no_field_that_another_implies),
        CASE(unlike_pairs_are_skipped_and_said_once_where_asked),
        CASE(what_could_be_several_is_refused_even_then),
        CASE(other_layouts_make_a_cell_inexact),
        CASE(cells_of_one_set_stand_against_the_first),
        CASE(contenders_of_two_sets_pair_when_there_is_no_doubt),
        CASE(contenders_pair_with_their_namesakes_first),
        CASE(parameters_of_one_set_are_compared),
        CASE(explanations_name_phase_and_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
