#include "metrics/tolerance.h"

#include "fixture.h"
#include "sets.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define M(name) FB_METRIC_##name

static struct fb_result result;
static struct fb_cell *base;
static struct fb_tolerances tolerances;

static int setup(void **state)
{
    (void)state;
    sets_init(&result);
    base = sets_add(&result, "jemalloc", 3);
    fb_tolerances_init(&tolerances);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    fb_result_deinit(&result);
    return 0;
}

static bool mib_exceed(enum fb_metric metric, double before, double after)
{
    return fb_tolerance_exceeded(&tolerances, metric, base, before * (double)MIB,
                                 after * (double)MIB);
}

static void both_thresholds_must_be_passed(void **state)
{
    (void)state;
    assert_false(mib_exceed(M(PEAK_FOOTPRINT_BYTES), 100, 104.9)); /* 4.9 % */
    assert_true(mib_exceed(M(PEAK_FOOTPRINT_BYTES), 100, 105));    /* 5 % to the letter */
    assert_true(mib_exceed(M(PEAK_FOOTPRINT_BYTES), 100, 95));     /* for the better, too */
    assert_false(mib_exceed(M(PEAK_FOOTPRINT_BYTES), 100, 100));
    sets_value(base, M(PEAK_FOOTPRINT_BYTES), 10);
    assert_false(mib_exceed(M(PEAK_FOOTPRINT_BYTES), 10, 10.9)); /* 9 %, but 0.9 MiB */
    assert_true(mib_exceed(M(PEAK_FOOTPRINT_BYTES), 10, 11));
}

static void differences_are_relative_to_the_peak(void **state)
{
    (void)state;
    /* Of a peak of 100 MiB: 1 → 4 MiB is 3 %, not three times as much. */
    assert_false(mib_exceed(M(KEPT_BYTES), 1, 4));
    assert_true(mib_exceed(M(KEPT_BYTES), 1, 6));
    assert_near(fb_tolerance_scale(M(KEPT_BYTES), base), 100.0 * (double)MIB);
    assert_true(fb_tolerance_of_peak(M(RETAINED_PURGED_BYTES)));
    assert_false(fb_tolerance_of_peak(M(PEAK_FOOTPRINT_BYTES)));
}

static void zero_and_negative_bases_are_defined(void **state)
{
    (void)state;
    assert_true(mib_exceed(M(KEPT_BYTES), 0, 5));
    assert_false(mib_exceed(M(KEPT_BYTES), 0, 4.9));
    assert_true(mib_exceed(M(KEPT_BYTES), -3, 2));
    assert_true(mib_exceed(M(KEPT_BYTES), 2, -3));
    assert_false(mib_exceed(M(KEPT_BYTES), -3, -3));
    /* Nothing to be relative to: the absolute one decides alone. */
    sets_value(base, M(STARTUP_BYTES), 0);
    assert_true(mib_exceed(M(STARTUP_BYTES), 0, 1));
    assert_false(mib_exceed(M(STARTUP_BYTES), 0, 0.9));
}

static void noise_of_a_ratio_is_that_of_its_bytes(void **state)
{
    (void)state;
    /* 1 MiB over 80 MiB live is 0.0125; over 2 MiB it is 0.5. */
    assert_near(fb_tolerance_absolute(&tolerances, M(RATIO_PEAK), base), 0.0125);
    assert_true(fb_tolerance_exceeded(&tolerances, M(RATIO_PEAK), base, 1.25, 1.32));
    sets_value(base, M(PEAK_LIVE_BYTES), 2);
    assert_false(fb_tolerance_exceeded(&tolerances, M(RATIO_PEAK), base, 1.25, 1.7));
    assert_true(fb_tolerance_exceeded(&tolerances, M(RATIO_PEAK), base, 1.25, 1.75));
}

static void single_metrics_have_their_own(void **state)
{
    (void)state;
    tolerances.relative_of[M(RATIO_PEAK)] = 0.02;
    tolerances.absolute_of[M(RATIO_PEAK)] = 0;
    assert_true(fb_tolerance_exceeded(&tolerances, M(RATIO_PEAK), base, 1.25, 1.276));
    assert_near(fb_tolerance_relative(&tolerances, M(RATIO_PEAK)), 0.02);
    assert_near(fb_tolerance_relative(&tolerances, M(RATIO_END)), 0.05);
    tolerances.noise_bytes = 0;
    assert_near(fb_tolerance_absolute(&tolerances, M(KEPT_BYTES), base), 0);
    assert_near(fb_tolerance_absolute(&tolerances, M(MINOR_FAULTS), base), 256);
}

static void every_judged_ratio_has_a_noise_and_twins_are_bytes(void **state)
{
    (void)state;
    for (size_t i = 0; i < FB_METRIC_COUNT; i++) {
        enum fb_metric metric = (enum fb_metric)i, twin = fb_tolerance_twin(metric);
        if (fb_metrics[i].better != FB_BETTER_LOWER || metric == M(DRIFT))
            continue;
        if (fb_metrics[i].unit[0] == 'r') /* ratio: bytes over live are never as much as 0.1 here */
            assert_true(fb_tolerance_absolute(&tolerances, metric, base) < 0.1);
        if (twin != metric)
            assert_string_equal(fb_metrics[twin].unit, "bytes");
    }
    assert_int_equal(fb_tolerance_twin(M(RATIO_PEAK)), M(OVERHEAD_PEAK_BYTES));
    assert_int_equal(fb_tolerance_twin(M(KEPT_BYTES)), M(KEPT_BYTES));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(both_thresholds_must_be_passed, setup, teardown),
        cmocka_unit_test_setup_teardown(differences_are_relative_to_the_peak, setup, teardown),
        cmocka_unit_test_setup_teardown(zero_and_negative_bases_are_defined, setup, teardown),
        cmocka_unit_test_setup_teardown(noise_of_a_ratio_is_that_of_its_bytes, setup, teardown),
        cmocka_unit_test_setup_teardown(single_metrics_have_their_own, setup, teardown),
        cmocka_unit_test_setup_teardown(every_judged_ratio_has_a_noise_and_twins_are_bytes, setup,
                                        teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
