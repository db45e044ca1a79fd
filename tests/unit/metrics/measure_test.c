#include "metrics/measure.h"

#include "base/alloc.h"
#include "fixture.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

/* Two phases over 10 s. F peaks (60) after L has (40), and stays.
 *
 *   t   F   L  volume   phase
 *   0   1   0     0     a       start
 *   1  20  10    10     a
 *   3  50  40    40     a       peak of L
 *   4  50  20    40     a       end of a: keeps 30
 *   6  60  30    60     b       peak of F
 *  10  30   5    60     b       end of b: keeps 25
 *  11  99   0    60     -       teardown: must not count
 */
static void init_two_phases(struct fb_repetition *repetition)
{
    fixture_init(repetition, 2, (const uint64_t[]){0, 3});
    fixture_point(repetition, 0, 1, 0, 0, 0);
    fixture_point(repetition, 1, 20, 10, 10, 0);
    fixture_point(repetition, 3, 50, 40, 40, 0);
    fixture_point(repetition, 4, 50, 20, 40, 0);
    fixture_point(repetition, 6, 60, 30, 60, 1);
    fixture_point(repetition, 10, 30, 5, 60, 1);
    fixture_point(repetition, 11, 99, 0, 60, 1);
    fixture_checkpoint(repetition, "start", -1, 0, 1, 0);
    fixture_checkpoint(repetition, "phase_end", 0, 4, 50, 20);
    fixture_checkpoint(repetition, "phase_end", 1, 10, 30, 5);
    fixture_checkpoint(repetition, "idle_0s", 1, 11, 99, 0);
    fixture_checkpoint(repetition, "idle_1s", 1, 12, 50, 0);
    fixture_checkpoint(repetition, "idle_10s", 1, 21, 12, 2);
    fixture_checkpoint(repetition, "active_10s", 1, 31, 4, 2);
    fixture_checkpoint(repetition, "purged", 1, 31, 1.5, 2);
}

static void peaks_are_the_largest_before_teardown(void **state)
{
    (void)state;
    struct fb_repetition repetition;
    init_two_phases(&repetition);
    fb_measure(&repetition);
    const double *values = repetition.values;
    assert_near(values[FB_METRIC_PEAK_FOOTPRINT_BYTES], 60.0 * MIB);
    assert_near(values[FB_METRIC_PEAK_LIVE_BYTES], 40.0 * MIB);
    assert_near(values[FB_METRIC_PEAK_TOUCHED_BYTES], 20.0 * MIB);
    assert_near(values[FB_METRIC_OVERHEAD_PEAK_BYTES], 20.0 * MIB);
    assert_near(values[FB_METRIC_STARTUP_BYTES], 1.0 * MIB);
    fb_repetition_deinit(&repetition);
}

static void ratios_differ_by_their_moments(void **state)
{
    (void)state;
    struct fb_repetition repetition;
    init_two_phases(&repetition);
    fb_measure(&repetition);
    const double *values = repetition.values;
    assert_near(values[FB_METRIC_RATIO_PEAK], 60.0 / 40);
    assert_near(values[FB_METRIC_RATIO_AT_PEAK_LIVE], 50.0 / 40);
    assert_near(values[FB_METRIC_RATIO_AT_PEAK_FOOTPRINT], 60.0 / 30);
    assert_near(values[FB_METRIC_RATIO_TOUCHED], 60.0 / 20);
    assert_near(values[FB_METRIC_RATIO_MAX], 30.0 / 5);
    assert_near(values[FB_METRIC_RATIO_END], 30.0 / 5);
    fb_repetition_deinit(&repetition);
}

static void means_weigh_by_volume_and_by_time(void **state)
{
    (void)state;
    struct fb_repetition repetition;
    init_two_phases(&repetition);
    fb_measure(&repetition);
    const double *values = repetition.values;
    /* volume: 10 of 2.0, 30 of 1.25, 20 of 2.0; time: 2 s of 2.0, 1 of 1.25, 2 of 2.5, 4 of 2.0 */
    assert_near(values[FB_METRIC_RATIO_MEAN], (10 * 2.0 + 30 * 1.25 + 20 * 2.0) / 60);
    assert_near(values[FB_METRIC_RATIO_MEAN_TIME], (2 * 2.0 + 1.25 + 2 * 2.5 + 4 * 2.0) / 9);
    /* MiB·s: 1 s of 1, 2 of 10, 1 of 10, 2 of 30, 4 of 30 */
    assert_near(values[FB_METRIC_WASTE_BYTE_SECONDS], (1 + 20 + 10 + 60 + 120) * (double)MIB);
    fb_repetition_deinit(&repetition);
}

static void last_value_is_held_until_the_last_phase_ends(void **state)
{
    (void)state;
    struct fb_repetition repetition;
    fixture_init(&repetition, 1, (const uint64_t[]){0});
    fixture_point(&repetition, 1, 6, 2, 2, 0);
    fixture_checkpoint(&repetition, "phase_end", 0, 5, 6, 2);
    fb_measure(&repetition);
    assert_near(repetition.values[FB_METRIC_WASTE_BYTE_SECONDS], 4 * 4 * (double)MIB);
    assert_near(repetition.values[FB_METRIC_RATIO_MEAN_TIME], 3);
    fb_repetition_deinit(&repetition);
}

static void sample_of_the_end_itself_counts(void **state)
{
    (void)state;
    struct fb_repetition repetition;
    fixture_init(&repetition, 1, (const uint64_t[]){0});
    fixture_point(&repetition, 1, 4, 2, 2, 0);
    fixture_point(&repetition, 5, 6, 2, 4, 0);
    fixture_checkpoint(&repetition, "phase_end", 0, 5, 6, 2);
    fb_measure(&repetition);
    assert_near(repetition.values[FB_METRIC_RATIO_MEAN], (2 * 2.0 + 2 * 3.0) / 4);
    fb_repetition_deinit(&repetition);
}

static void kept_is_the_worst_phase_end(void **state)
{
    (void)state;
    struct fb_repetition repetition;
    init_two_phases(&repetition);
    fb_measure(&repetition);
    assert_near(repetition.values[FB_METRIC_KEPT_BYTES], 30.0 * MIB);
    assert_string_equal(repetition.kept_phase, "phase-a");
    assert_near(repetition.values[FB_METRIC_END_FOOTPRINT_BYTES], 30.0 * MIB);
    assert_near(repetition.values[FB_METRIC_END_LIVE_BYTES], 5.0 * MIB);
    assert_near(repetition.values[FB_METRIC_OVERHEAD_END_BYTES], 25.0 * MIB);
    fb_repetition_deinit(&repetition);
}

static void phases_tell_the_story(void **state)
{
    (void)state;
    struct fb_repetition repetition;
    init_two_phases(&repetition);
    fb_measure(&repetition);
    const struct fb_phase_record *a = &repetition.phases[0], *b = &repetition.phases[1];
    assert_near(a->ratio, 2.5);
    assert_near(a->kept_bytes, 30.0 * MIB);
    assert_int_equal(a->peak_live_bytes, 40 * MIB);
    assert_int_equal(a->footprint_bytes, 50 * MIB);
    assert_near(b->ratio, 6);
    assert_int_equal(b->peak_footprint_bytes, 60 * MIB);
    assert_int_equal(b->live_bytes, 5 * MIB);
    fb_repetition_deinit(&repetition);
}

static void retained_is_what_teardown_leaves(void **state)
{
    (void)state;
    struct fb_repetition repetition;
    init_two_phases(&repetition);
    fb_measure(&repetition);
    const double *values = repetition.values;
    assert_near(values[FB_METRIC_RETAINED_IDLE_0S_BYTES], 99.0 * MIB);
    assert_near(values[FB_METRIC_RETAINED_IDLE_1S_BYTES], 50.0 * MIB);
    assert_near(values[FB_METRIC_RETAINED_IDLE_10S_BYTES], 10.0 * MIB);
    assert_near(values[FB_METRIC_RETAINED_ACTIVE_10S_BYTES], 2.0 * MIB);
    assert_near(values[FB_METRIC_RETAINED_PURGED_BYTES], -0.5 * MIB);
    fb_repetition_deinit(&repetition);
}

static void checkpoints_count_where_samples_missed(void **state)
{
    (void)state;
    struct fb_repetition repetition;
    init_two_phases(&repetition);
    /* Swap is known at checkpoints only: the same instant, a larger footprint. */
    repetition.checkpoints[1].footprint_bytes = 80 * MIB;
    repetition.checkpoints[1].mappings = 12;
    repetition.checkpoints[1].lazyfree_bytes = 7;
    repetition.checkpoints[3].mappings = 99;
    fb_measure(&repetition);
    assert_near(repetition.values[FB_METRIC_PEAK_FOOTPRINT_BYTES], 80.0 * MIB);
    assert_near(repetition.values[FB_METRIC_RATIO_AT_PEAK_FOOTPRINT], 80.0 / 20);
    assert_near(repetition.values[FB_METRIC_MAPPINGS_MAX], 12);
    assert_near(repetition.values[FB_METRIC_LAZYFREE_MAX_BYTES], 7);
    fb_repetition_deinit(&repetition);
}

static void first_of_equal_peaks_decides(void **state)
{
    (void)state;
    struct fb_repetition repetition;
    fixture_init(&repetition, 1, (const uint64_t[]){0});
    fixture_point(&repetition, 1, 10, 8, 8, 0);
    fixture_point(&repetition, 2, 10, 4, 8, 0);
    fixture_point(&repetition, 3, 9, 8, 12, 0);
    fixture_checkpoint(&repetition, "phase_end", 0, 4, 5, 2);
    fb_measure(&repetition);
    assert_near(repetition.values[FB_METRIC_RATIO_AT_PEAK_FOOTPRINT], 10.0 / 8);
    assert_near(repetition.values[FB_METRIC_RATIO_AT_PEAK_LIVE], 10.0 / 8);
    fb_repetition_deinit(&repetition);
}

static void small_denominators_are_not_applicable(void **state)
{
    (void)state;
    struct fb_repetition repetition;
    fixture_init(&repetition, 1, (const uint64_t[]){0});
    fixture_point(&repetition, 1, 9, 0.999, 1, 0);
    fixture_checkpoint(&repetition, "phase_end", 0, 2, 9, 0.5);
    fb_measure(&repetition);
    assert_na(&repetition, FB_METRIC_RATIO_PEAK, "live peak below 1 MiB");
    assert_na(&repetition, FB_METRIC_RATIO_END, "live at the end below 1 MiB");
    assert_na(&repetition, FB_METRIC_RATIO_MAX, "live peak below 1 MiB");
    assert_na(&repetition, FB_METRIC_RATIO_TOUCHED, "touched peak below 1 MiB");
    assert_na(&repetition, FB_METRIC_RATIO_MEAN, "nothing allocated while 1 MiB or more was live");
    assert_true(isnan(repetition.phases[0].ratio));
    assert_near(repetition.values[FB_METRIC_KEPT_BYTES], 8.5 * MIB);
    fb_repetition_deinit(&repetition);
}

static void floor_itself_is_applicable(void **state)
{
    (void)state;
    struct fb_repetition repetition;
    fixture_init(&repetition, 1, (const uint64_t[]){0});
    fixture_point(&repetition, 1, 2, 1, 1, 0);
    fixture_checkpoint(&repetition, "phase_end", 0, 2, 2, 1);
    fb_measure(&repetition);
    assert_near(repetition.values[FB_METRIC_RATIO_PEAK], 2);
    assert_null(repetition.na[FB_METRIC_RATIO_PEAK]);
    fb_repetition_deinit(&repetition);
}

static void untouched_pages_make_negative_waste(void **state)
{
    (void)state;
    struct fb_repetition repetition;
    fixture_init(&repetition, 1, (const uint64_t[]){0});
    fixture_point(&repetition, 0, 1, 10, 10, 0);
    fixture_checkpoint(&repetition, "phase_end", 0, 2, 1, 10);
    fb_measure(&repetition);
    assert_near(repetition.values[FB_METRIC_KEPT_BYTES], -9.0 * MIB);
    assert_near(repetition.values[FB_METRIC_WASTE_BYTE_SECONDS], -18.0 * MIB);
    assert_near(repetition.values[FB_METRIC_RATIO_PEAK], 0.1);
    fb_repetition_deinit(&repetition);
}

static void unfinished_runs_have_no_values(void **state)
{
    (void)state;
    struct fb_repetition repetition;
    init_two_phases(&repetition);
    repetition.status = FB_STATUS_TIMEOUT;
    repetition.checkpoint_count = 2;
    fb_measure(&repetition);
    assert_na(&repetition, FB_METRIC_PEAK_FOOTPRINT_BYTES, "the run did not finish");
    assert_na(&repetition, FB_METRIC_KEPT_BYTES, "the run did not finish");
    assert_near(repetition.phases[0].kept_bytes, 30.0 * MIB);
    assert_true(isnan(repetition.phases[1].kept_bytes));
    fb_repetition_deinit(&repetition);
}

static void runs_without_a_phase_end_have_no_values(void **state)
{
    (void)state;
    struct fb_repetition repetition;
    fixture_init(&repetition, 1, (const uint64_t[]){0});
    fixture_point(&repetition, 0, 1, 10, 10, 0);
    fb_measure(&repetition);
    assert_na(&repetition, FB_METRIC_RATIO_PEAK, "no phase ended");
    fb_repetition_deinit(&repetition);
}

static void what_the_harness_knows_is_left_alone(void **state)
{
    (void)state;
    struct fb_repetition repetition;
    init_two_phases(&repetition);
    repetition.values[FB_METRIC_MINOR_FAULTS] = 1234;
    fb_measure_na(&repetition, FB_METRIC_USER_S, "rusage missing");
    fb_measure(&repetition);
    assert_near(repetition.values[FB_METRIC_MINOR_FAULTS], 1234);
    assert_null(repetition.na[FB_METRIC_MINOR_FAULTS]);
    assert_na(&repetition, FB_METRIC_USER_S, "rusage missing");
    assert_na(&repetition, FB_METRIC_SYSTEM_S, "not read");
    assert_na(&repetition, FB_METRIC_NS_PER_OP, "timing pass off");
    fb_repetition_deinit(&repetition);
}

static void every_value_has_a_number_or_a_reason(void **state)
{
    (void)state;
    struct fb_repetition repetition;
    init_two_phases(&repetition);
    fb_measure(&repetition);
    for (int i = 0; i < FB_METRIC_COUNT; i++)
        assert_true(isnan(repetition.values[i]) == (repetition.na[i] != NULL));
    fb_repetition_deinit(&repetition);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(peaks_are_the_largest_before_teardown),
        cmocka_unit_test(ratios_differ_by_their_moments),
        cmocka_unit_test(means_weigh_by_volume_and_by_time),
        cmocka_unit_test(last_value_is_held_until_the_last_phase_ends),
        cmocka_unit_test(sample_of_the_end_itself_counts),
        cmocka_unit_test(kept_is_the_worst_phase_end),
        cmocka_unit_test(phases_tell_the_story),
        cmocka_unit_test(retained_is_what_teardown_leaves),
        cmocka_unit_test(checkpoints_count_where_samples_missed),
        cmocka_unit_test(first_of_equal_peaks_decides),
        cmocka_unit_test(small_denominators_are_not_applicable),
        cmocka_unit_test(floor_itself_is_applicable),
        cmocka_unit_test(untouched_pages_make_negative_waste),
        cmocka_unit_test(unfinished_runs_have_no_values),
        cmocka_unit_test(runs_without_a_phase_end_have_no_values),
        cmocka_unit_test(what_the_harness_knows_is_left_alone),
        cmocka_unit_test(every_value_has_a_number_or_a_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
