#include "metrics/measure.h"

#include "fixture.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const struct fb_latency_bin bins[] = {{0, 10, 50}, {10, 20, 0}, {20, 40, 40}, {40, 140, 10}};

static void quantiles_are_linear_within_a_bin(void **state)
{
    (void)state;
    assert_near(fb_measure_quantile(bins, 4, 0.25), 5);
    assert_near(fb_measure_quantile(bins, 4, 0.5), 10);
    assert_near(fb_measure_quantile(bins, 4, 0.7), 30);
    assert_near(fb_measure_quantile(bins, 4, 0.99), 130);
    assert_near(fb_measure_quantile(bins, 4, 1), 140);
}

static void empty_bins_are_passed_over(void **state)
{
    (void)state;
    assert_near(fb_measure_quantile(bins, 4, 0.51), 20.5);
}

static void no_counts_have_no_quantile(void **state)
{
    (void)state;
    const struct fb_latency_bin empty = {0, 10, 0};
    assert_true(isnan(fb_measure_quantile(NULL, 0, 0.5)));
    assert_true(isnan(fb_measure_quantile(&empty, 1, 0.5)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantiles_are_linear_within_a_bin),
        cmocka_unit_test(empty_bins_are_passed_over),
        cmocka_unit_test(no_counts_have_no_quantile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
