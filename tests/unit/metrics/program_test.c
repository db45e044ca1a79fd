/* What of a replay's measures is kept for a program, with and without live bytes. */
#include "metrics/program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MIB ((uint64_t)1 << 20)

/* Two phases: up to 10 MiB for 8 live, then 6 for 4. */
static void fill(struct fb_repetition *repetition)
{
    static const struct fb_point points[] = {
        {.t_ns = 10, .footprint_bytes = 5 * MIB, .live_bytes = 4 * MIB, .volume_bytes = 4 * MIB},
        {.t_ns = 20, .footprint_bytes = 10 * MIB, .live_bytes = 8 * MIB, .volume_bytes = 9 * MIB},
    };
    static const struct fb_checkpoint ends[] = {
        {.kind = "phase_end",
         .phase = 0,
         .t_ns = 30,
         .footprint_bytes = 6 * MIB,
         .live_bytes = 4 * MIB},
    };
    fb_repetition_init(repetition);
    repetition->series.points = malloc(sizeof points);
    memcpy(repetition->series.points, points, sizeof points);
    repetition->series.count = 2;
    repetition->checkpoints = malloc(sizeof ends);
    memcpy(repetition->checkpoints, ends, sizeof ends);
    repetition->checkpoint_count = 1;
    repetition->phases = calloc(1, sizeof *repetition->phases);
    repetition->phases[0].name = strdup("work");
    repetition->phase_count = 1;
    repetition->values[FB_METRIC_WALL_S] = 1.5;
}

static void without_live_bytes_the_footprint_is_all(void **state)
{
    (void)state;
    struct fb_repetition repetition;
    fill(&repetition);
    fb_measure_program(&repetition, false);
    assert_int_equal(repetition.values[FB_METRIC_PEAK_FOOTPRINT_BYTES], 10 * MIB);
    assert_int_equal(repetition.values[FB_METRIC_END_FOOTPRINT_BYTES], 6 * MIB);
    assert_true(isnan(repetition.values[FB_METRIC_RATIO_PEAK]));
    assert_true(isnan(repetition.values[FB_METRIC_OVERHEAD_PEAK_BYTES]));
    assert_true(isnan(repetition.values[FB_METRIC_KEPT_BYTES]));
    assert_true(isnan(repetition.phases[0].kept_bytes));
    assert_non_null(strstr(repetition.na[FB_METRIC_RATIO_PEAK], "--live"));
    assert_int_equal(repetition.values[FB_METRIC_WALL_S] * 10, 15);
    fb_repetition_deinit(&repetition);
}

static void with_live_bytes_ratios_are_there(void **state)
{
    (void)state;
    struct fb_repetition repetition;
    fill(&repetition);
    fb_measure_program(&repetition, true);
    assert_int_equal(repetition.values[FB_METRIC_RATIO_PEAK] * 100, 125);
    assert_int_equal(repetition.values[FB_METRIC_RATIO_END] * 100, 150);
    assert_int_equal(repetition.values[FB_METRIC_KEPT_BYTES], 2 * MIB);
    assert_string_equal(repetition.kept_phase, "work");
    assert_true(isnan(repetition.values[FB_METRIC_RATIO_TOUCHED]));
    assert_true(isnan(repetition.values[FB_METRIC_RETAINED_PURGED_BYTES]));
    assert_non_null(strstr(repetition.na[FB_METRIC_STARTUP_BYTES], "--ready"));
    fb_repetition_deinit(&repetition);
}

static void a_failed_run_has_no_measures(void **state)
{
    (void)state;
    struct fb_repetition repetition;
    fill(&repetition);
    repetition.status = FB_STATUS_CRASHED;
    fb_measure_program(&repetition, true);
    assert_true(isnan(repetition.values[FB_METRIC_PEAK_FOOTPRINT_BYTES]));
    assert_string_equal(repetition.na[FB_METRIC_RATIO_PEAK], "the run did not finish");
    fb_repetition_deinit(&repetition);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_live_bytes_the_footprint_is_all),
        cmocka_unit_test(with_live_bytes_ratios_are_there),
        cmocka_unit_test(a_failed_run_has_no_measures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
