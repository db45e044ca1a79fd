#include "fixture.h"
#include "metrics/measure.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* Phase b of n iterations, one sample each, live 10 MiB; the waste of each quarter in MiB. */
static void init_quarters(struct fb_repetition *repetition, uint64_t n, const double waste[4])
{
    fixture_init(repetition, 2, (const uint64_t[]){1, n});
    for (uint64_t i = 0; i < n; i++) {
        fixture_point(repetition, (double)i, 10 + waste[i * 4 / n], 10, (double)i, 1);
        repetition->series.points[i].iteration = i;
        repetition->series.points[i].reason = 1;
    }
    fixture_checkpoint(repetition, "phase_end", 1, (double)n, 10, 10);
}

static double drift_of(uint64_t n, const double waste[4])
{
    struct fb_repetition repetition;
    init_quarters(&repetition, n, waste);
    fb_measure(&repetition);
    double drift = repetition.values[FB_METRIC_DRIFT];
    fb_repetition_deinit(&repetition);
    return drift;
}

static void assert_no_drift(uint64_t n, const double waste[4], const char *reason)
{
    struct fb_repetition repetition;
    init_quarters(&repetition, n, waste);
    fb_measure(&repetition);
    assert_na(&repetition, FB_METRIC_DRIFT, reason);
    fb_repetition_deinit(&repetition);
}

static void growing_waste_drifts(void **state)
{
    (void)state;
    assert_near(drift_of(40, (const double[]){1, 2, 3, 5}), 2.5);
    assert_near(drift_of(400, (const double[]){9, 4, 3, 2}), 0.5);
}

static void steady_waste_does_not(void **state)
{
    (void)state;
    assert_near(drift_of(100, (const double[]){3, 3, 3, 3}), 1);
}

static void growing_live_is_no_drift(void **state)
{
    (void)state;
    struct fb_repetition repetition;
    init_quarters(&repetition, 80, (const double[]){1, 1, 1, 1});
    for (size_t i = 0; i < 80; i++) { /* a leak: live grows, waste stays a tenth of it */
        repetition.series.points[i].live_bytes = (10 + i) * 10 * MIB;
        repetition.series.points[i].footprint_bytes = (10 + i) * 11 * MIB;
    }
    fb_measure(&repetition);
    assert_near(repetition.values[FB_METRIC_DRIFT], 1);
    fb_repetition_deinit(&repetition);
}

static void other_samples_and_phases_do_not_count(void **state)
{
    (void)state;
    struct fb_repetition repetition;
    init_quarters(&repetition, 80, (const double[]){1, 1, 1, 1});
    for (size_t i = 60; i < 64; i++) {
        repetition.series.points[i].footprint_bytes = 900 * MIB;
        repetition.series.points[i].phase = i % 2 == 0 ? 0 : 1;
        repetition.series.points[i].reason = i % 2 == 0 ? 1 : 2;
    }
    fb_measure(&repetition);
    assert_near(repetition.values[FB_METRIC_DRIFT], 1);
    fb_repetition_deinit(&repetition);
}

static void few_iterations_say_nothing(void **state)
{
    (void)state;
    assert_no_drift(39, (const double[]){1, 2, 3, 5}, "fewer than 40 iterations");
}

static void few_samples_say_nothing(void **state)
{
    (void)state;
    struct fb_repetition repetition;
    init_quarters(&repetition, 40, (const double[]){1, 2, 3, 5});
    repetition.series.points[39].live_bytes = MIB - 1; /* below the floor: not a sample */
    fb_measure(&repetition);
    assert_na(&repetition, FB_METRIC_DRIFT, "fewer than 10 samples of 1 MiB live in a quarter");
    fb_repetition_deinit(&repetition);
}

static void no_waste_has_nothing_to_drift(void **state)
{
    (void)state;
    assert_no_drift(40, (const double[]){1, 0, 3, 5}, "no waste to drift");
    assert_no_drift(40, (const double[]){1, -2, 3, 5}, "no waste to drift");
    assert_no_drift(40, (const double[]){1, 0.005, 3, 5}, "no waste to drift");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(growing_waste_drifts),
        cmocka_unit_test(steady_waste_does_not),
        cmocka_unit_test(growing_live_is_no_drift),
        cmocka_unit_test(other_samples_and_phases_do_not_count),
        cmocka_unit_test(few_iterations_say_nothing),
        cmocka_unit_test(few_samples_say_nothing),
        cmocka_unit_test(no_waste_has_nothing_to_drift),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
