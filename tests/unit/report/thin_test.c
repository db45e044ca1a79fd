#include "report/thin.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define COLUMNS 400U
#define SAMPLES 100000U

static bool has(const struct fb_curve *curve, double x, double y)
{
    for (size_t i = 0; i < curve->count; i++)
        if (curve->x[i] >= x && curve->x[i] <= x && curve->y[i] >= y && curve->y[i] <= y)
            return true;
    return false;
}

/* Noise between 100 and 200 with one peak and one dip of a single sample. */
static struct fb_curve noise_with_a_peak(void)
{
    struct fb_curve curve = {0};
    uint32_t seed = 1;
    for (unsigned i = 0; i < SAMPLES; i++) {
        seed = seed * 1664525U + 1013904223U;
        fb_curve_add(&curve, i, i == 54321 ? 900 : i == 77777 ? 3 : 100 + (seed >> 16) % 100);
    }
    return curve;
}

static void peaks_and_dips_survive_at_their_own_time(void **state)
{
    (void)state;
    struct fb_curve curve = noise_with_a_peak();
    fb_curve_thin(&curve, COLUMNS);
    assert_true(curve.count <= COLUMNS * FB_THIN_PER_COLUMN);
    assert_true(has(&curve, 54321, 900));
    assert_true(has(&curve, 77777, 3));
    fb_curve_deinit(&curve);
}

static void every_column_keeps_its_extremes(void **state)
{
    (void)state;
    struct fb_curve whole = noise_with_a_peak(), thin = noise_with_a_peak();
    fb_curve_thin(&thin, 10);
    assert_true(thin.count <= 50);
    for (unsigned column = 0; column < 10; column++) {
        double low = INFINITY, high = 0, kept_low = INFINITY, kept_high = 0;
        double from = column * (SAMPLES - 1) / 10.0, to = (column + 1) * (SAMPLES - 1) / 10.0;
        for (size_t i = 0; i < whole.count; i++)
            if (whole.x[i] >= from && whole.x[i] < to) {
                low = fmin(low, whole.y[i]);
                high = fmax(high, whole.y[i]);
            }
        for (size_t i = 0; i < thin.count; i++)
            if (thin.x[i] >= from && thin.x[i] < to) {
                kept_low = fmin(kept_low, thin.y[i]);
                kept_high = fmax(kept_high, thin.y[i]);
            }
        assert_true(kept_low >= low && kept_low <= low);
        assert_true(kept_high >= high && kept_high <= high);
    }
    fb_curve_deinit(&whole);
    fb_curve_deinit(&thin);
}

static void first_and_last_stay(void **state)
{
    (void)state;
    struct fb_curve curve = noise_with_a_peak();
    double first = curve.y[0], last = curve.y[SAMPLES - 1];
    fb_curve_thin(&curve, COLUMNS);
    assert_true(has(&curve, 0, first));
    assert_true(has(&curve, SAMPLES - 1, last));
    fb_curve_deinit(&curve);
}

/* Much happens at once, then nothing for long: what is held is the last value, not an extreme. */
static void the_value_held_over_a_pause_stays(void **state)
{
    (void)state;
    struct fb_curve curve = {0};
    for (unsigned i = 0; i < 5000; i++)
        fb_curve_add(&curve, i * 1e-6, i % 2 == 0 ? 10 : 90);
    fb_curve_add(&curve, 0.01, 55);
    fb_curve_add(&curve, 1000, 60);
    fb_curve_thin(&curve, 100);
    assert_true(has(&curve, 0.01, 55));
    assert_true(has(&curve, 1000, 60));
    assert_true(curve.count < 10);
    fb_curve_deinit(&curve);
}

static void a_gap_stays_a_gap(void **state)
{
    (void)state;
    struct fb_curve curve = {0};
    for (unsigned i = 0; i < 10000; i++)
        fb_curve_add(&curve, i, i >= 4000 && i < 6000 ? (double)NAN : (double)(i % 7));
    fb_curve_thin(&curve, 20);
    size_t gaps = 0;
    for (size_t i = 0; i < curve.count; i++) {
        gaps += isnan(curve.y[i]) ? 1 : 0;
        if (isnan(curve.y[i]))
            assert_true(curve.x[i] >= 4000 && curve.x[i] < 6000);
    }
    assert_true(gaps >= 1);
    assert_true(curve.count <= 100);
    fb_curve_deinit(&curve);
}

static void repeated_values_go_first(void **state)
{
    (void)state;
    struct fb_curve curve = {0};
    for (unsigned i = 0; i < 1000; i++)
        fb_curve_add(&curve, i, i < 500 ? 1 : 2);
    fb_curve_thin(&curve, COLUMNS);
    assert_int_equal(curve.count, 3); /* 0, 500 and the last */
    assert_true(has(&curve, 500, 2));
    assert_true(has(&curve, 999, 2));
    fb_curve_deinit(&curve);
}

static void short_and_momentary_curves_pass(void **state)
{
    (void)state;
    struct fb_curve curve = {0};
    fb_curve_thin(&curve, COLUMNS);
    assert_int_equal(curve.count, 0);
    fb_curve_add(&curve, 5, 1);
    fb_curve_thin(&curve, COLUMNS);
    assert_int_equal(curve.count, 1);
    for (unsigned i = 0; i < 10000; i++) /* all at the same moment */
        fb_curve_add(&curve, 5, i % 11);
    fb_curve_thin(&curve, 10);
    assert_true(curve.count <= 50);
    assert_true(has(&curve, 5, 10));
    fb_curve_deinit(&curve);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(peaks_and_dips_survive_at_their_own_time),
        cmocka_unit_test(every_column_keeps_its_extremes),
        cmocka_unit_test(first_and_last_stay),
        cmocka_unit_test(the_value_held_over_a_pause_stays),
        cmocka_unit_test(a_gap_stays_a_gap),
        cmocka_unit_test(repeated_values_go_first),
        cmocka_unit_test(short_and_momentary_curves_pass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
