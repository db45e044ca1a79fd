/* The rules, each with numbers. */
#include "metrics/judge.h"

#include "fixture.h"
#include "sets.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define PEAK FB_METRIC_PEAK_FOOTPRINT_BYTES

/* Judges peaks in MiB of two cells; `clock` of both. */
static struct fb_judged judge(const double *before, const double *after, unsigned runs,
                              const char *clock)
{
    struct fb_result base, other;
    struct fb_tolerances tolerances;
    struct fb_values a, b;
    sets_init(&base);
    sets_init(&other);
    fb_tolerances_init(&tolerances);
    struct fb_cell *old = sets_add(&base, "a", runs), *new = sets_add(&other, "a", runs);
    sets_text(&old->clock, clock);
    sets_text(&new->clock, clock);
    sets_values(old, PEAK, before);
    sets_values(new, PEAK, after);
    fb_values_init(&a, old, PEAK);
    fb_values_init(&b, new, PEAK);
    const struct fb_judge_request request = {
        .metric = PEAK,
        .base = old,
        .tolerances = &tolerances,
        .repeats = fb_judge_repeats(&base.host, old) && fb_judge_repeats(&other.host, new),
    };
    struct fb_judged judged = fb_judge(&request, &a, &b);
    fb_values_deinit(&a);
    fb_values_deinit(&b);
    fb_result_deinit(&base);
    fb_result_deinit(&other);
    return judged;
}

static void assert_rule(struct fb_judged judged, enum fb_rule rule, enum fb_judgement judgement)
{
    assert_int_equal(judged.rule, rule);
    assert_string_equal(fb_judgement_name(judged.judgement), fb_judgement_name(judgement));
}

#define RUNS(...) ((const double[]){__VA_ARGS__})

static void exact_cells_need_the_thresholds_only(void **state)
{
    (void)state;
    const double *base = RUNS(100, 100, 100);
    assert_rule(judge(base, RUNS(105, 105, 105), 3, "virtual"), FB_RULE_EXACT, FB_JUDGED_REGRESSED);
    assert_rule(judge(base, RUNS(104, 104, 104), 3, "virtual"), FB_RULE_EXACT, FB_JUDGED_UNCHANGED);
    assert_rule(judge(base, RUNS(94, 94, 94), 3, "virtual"), FB_RULE_EXACT, FB_JUDGED_IMPROVED);
    assert_rule(judge(base, base, 3, "virtual"), FB_RULE_EXACT, FB_JUDGED_UNCHANGED);
}

static void ensembles_must_not_overlap(void **state)
{
    (void)state;
    const double *base = RUNS(98, 99, 100, 101, 102);
    assert_rule(judge(base, RUNS(103, 104, 106, 107, 108), 5, "virtual"), FB_RULE_ENSEMBLE,
                FB_JUDGED_REGRESSED);
    assert_rule(judge(base, RUNS(101, 104, 106, 107, 108), 5, "virtual"), FB_RULE_ENSEMBLE,
                FB_JUDGED_INCONCLUSIVE);
    assert_rule(judge(base, RUNS(103, 103, 104, 104, 104), 5, "virtual"), FB_RULE_ENSEMBLE,
                FB_JUDGED_UNCHANGED);
    assert_rule(judge(base, RUNS(90, 91, 92, 93, 94), 5, "virtual"), FB_RULE_ENSEMBLE,
                FB_JUDGED_IMPROVED);
}

static void three_against_three_need_a_gap(void **state)
{
    (void)state;
    /* Apart by 2, but 6 wide: happens one time in ten where nothing changed. */
    assert_rule(judge(RUNS(97, 100, 103), RUNS(105, 106, 111), 3, "virtual"), FB_RULE_ENSEMBLE,
                FB_JUDGED_INCONCLUSIVE);
    assert_rule(judge(RUNS(99, 100, 101), RUNS(104, 106, 106), 3, "virtual"), FB_RULE_ENSEMBLE,
                FB_JUDGED_REGRESSED);
    assert_rule(judge(RUNS(99, 101), RUNS(190, 191), 2, "virtual"), FB_RULE_ENSEMBLE,
                FB_JUDGED_INCONCLUSIVE);
}

static void real_time_needs_the_rank_test(void **state)
{
    (void)state;
    struct fb_judged four = judge(RUNS(100, 101, 102, 103), RUNS(108, 109, 110, 111), 4, "real");
    assert_rule(four, FB_RULE_SAMPLE, FB_JUDGED_REGRESSED);
    assert_near(four.p, 2.0 / 70);
    /* One of four below: p = 4/70 = 0.057. */
    struct fb_judged mixed = judge(RUNS(100, 101, 102, 103), RUNS(102.5, 109, 110, 111), 4, "real");
    assert_rule(mixed, FB_RULE_SAMPLE, FB_JUDGED_INCONCLUSIVE);
    assert_near(mixed.p, 4.0 / 70);
    /* Significant, but 3 %: effect first. */
    struct fb_judged small =
        judge(RUNS(100, 100.1, 100.2, 100.3), RUNS(103, 103.1, 103.2, 103.3), 4, "real");
    assert_rule(small, FB_RULE_SAMPLE, FB_JUDGED_UNCHANGED);
    /* No difference at all is not exact in real time. */
    assert_rule(judge(RUNS(5, 5, 5, 5), RUNS(5, 5, 5, 5), 4, "real"), FB_RULE_SAMPLE,
                FB_JUDGED_UNCHANGED);
}

static void three_real_time_runs_must_stand_apart(void **state)
{
    (void)state;
    struct fb_judged apart = judge(RUNS(100, 101, 102), RUNS(110, 111, 112), 3, "real");
    assert_rule(apart, FB_RULE_SAMPLE, FB_JUDGED_REGRESSED);
    assert_true(isnan(apart.p));
    assert_rule(judge(RUNS(100, 101, 112), RUNS(110, 111, 112), 3, "real"), FB_RULE_SAMPLE,
                FB_JUDGED_INCONCLUSIVE);
    assert_rule(judge(RUNS(100, 100), RUNS(200, 200), 2, "real"), FB_RULE_SAMPLE,
                FB_JUDGED_INCONCLUSIVE);
}

static void seeds_are_set_against_their_own(void **state)
{
    (void)state;
    /* Two seeds, 100 and 300 MiB: exact each, so +10 % is exact although the ranges overlap. */
    struct fb_result result;
    struct fb_values a, b;
    sets_init(&result);
    struct fb_cell *old = sets_add(&result, "a", 6), *new = sets_add(&result, "b", 6);
    for (size_t i = 3; i < 6; i++)
        old->repetitions[i].seed = new->repetitions[i].seed = 8;
    sets_values(old, PEAK, RUNS(100, 100, 100, 300, 300, 300));
    sets_values(new, PEAK, RUNS(110, 110, 110, 330, 330, 330));
    fb_values_init(&a, old, PEAK);
    fb_values_init(&b, new, PEAK);
    struct fb_tolerances tolerances;
    fb_tolerances_init(&tolerances);
    struct fb_judge_request request = {
        .metric = PEAK, .base = old, .tolerances = &tolerances, .repeats = true};
    assert_rule(fb_judge(&request, &a, &b), FB_RULE_EXACT, FB_JUDGED_REGRESSED);
    assert_true(fb_judge_apart(&a, &b));
    /* By raw values 100 … 300 and 110 … 330 would overlap. */
    request.repeats = false;
    assert_rule(fb_judge(&request, &a, &b), FB_RULE_SAMPLE, FB_JUDGED_REGRESSED);
    fb_values_deinit(&a);
    fb_values_deinit(&b);
    fb_result_deinit(&result);
}

static void what_does_not_repeat_is_no_exact_cell(void **state)
{
    (void)state;
    struct fb_result result;
    sets_init(&result);
    struct fb_cell *cell = sets_add(&result, "a", 3);
    assert_true(fb_judge_repeats(&result.host, cell));
    result.host.statm_exact = false;
    assert_false(fb_judge_repeats(&result.host, cell));
    result.host.statm_exact = true;
    cell->clock_proven = false;
    assert_false(fb_judge_repeats(&result.host, cell));
    cell->clock_proven = true;
    sets_text(&cell->layout, "random");
    assert_false(fb_judge_repeats(&result.host, cell));
    sets_text(&cell->layout, "fixed");
    sets_text(&cell->order, "free");
    assert_false(fb_judge_repeats(&result.host, cell));
    sets_text(&cell->order, "lockstep");
    sets_text(&cell->clock, "real");
    assert_false(fb_judge_repeats(&result.host, cell));
    sets_text(&cell->clock, "virtual");
    assert_true(fb_judge_repeats(&result.host, cell));
    assert_true(cell->repetitions[0].checkpoint_count > 0);
    cell->repetitions[0].checkpoints[0].huge_bytes = 2 << 20;
    assert_false(fb_judge_repeats(&result.host, cell));
    fb_result_deinit(&result);
}

static void failed_runs_and_gaps_have_no_values(void **state)
{
    (void)state;
    struct fb_result result;
    struct fb_values values;
    sets_init(&result);
    struct fb_cell *cell = sets_add(&result, "a", 4);
    sets_values(cell, PEAK, RUNS(1, NAN, 3, 5));
    cell->repetitions[3].status = FB_STATUS_CRASHED;
    fb_values_init(&values, cell, PEAK);
    assert_int_equal(values.count, 2);
    assert_near(values.summary.median, 2.0 * (double)MIB);
    fb_values_deinit(&values);
    /* The timing pass has one median, whatever its runs. */
    cell->timing.done = true;
    cell->timing.runs = 3;
    cell->timing.values[FB_METRIC_NS_PER_OP] = 50;
    fb_values_init(&values, cell, FB_METRIC_NS_PER_OP);
    assert_int_equal(values.count, 1);
    fb_values_deinit(&values);
    fb_result_deinit(&result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_cells_need_the_thresholds_only),
        cmocka_unit_test(ensembles_must_not_overlap),
        cmocka_unit_test(three_against_three_need_a_gap),
        cmocka_unit_test(real_time_needs_the_rank_test),
        cmocka_unit_test(three_real_time_runs_must_stand_apart),
        cmocka_unit_test(seeds_are_set_against_their_own),
        cmocka_unit_test(what_does_not_repeat_is_no_exact_cell),
        cmocka_unit_test(failed_runs_and_gaps_have_no_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
