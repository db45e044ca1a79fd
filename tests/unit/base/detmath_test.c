#include "base/detmath.h"

#include "base/rng.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define BOUND 1e-14
#define DRAWS 200000

static double relative_error(double got, double expected)
{
    return fabs(got - expected) / fabs(expected);
}

static void log_is_near_libm_over_the_whole_range(void **state)
{
    (void)state;
    struct fb_rng rng;
    fb_rng_seed(&rng, 1);
    for (int i = 0; i < DRAWS; i++) {
        double x = exp((fb_rng_unit(&rng) - 0.5) * 1400.0);
        assert_true(relative_error(fb_det_log(x), log(x)) < BOUND);
    }
}

/* Near 1 a careless reduction cancels: the result itself goes to 0. */
static void log_is_near_libm_around_one(void **state)
{
    (void)state;
    struct fb_rng rng;
    fb_rng_seed(&rng, 2);
    for (int i = 0; i < DRAWS; i++) {
        double x = 1.0 + (fb_rng_unit(&rng) - 0.5) * pow(10.0, -(double)(i % 14));
        if (x > 0 && x < 1.0)
            assert_true(relative_error(fb_det_log(x), log(x)) < BOUND);
        if (x > 1.0)
            assert_true(relative_error(fb_det_log(x), log(x)) < BOUND);
    }
    assert_true(fb_det_log(1.0) >= 0.0 && fb_det_log(1.0) <= 0.0);
}

static void log_takes_the_smallest_numbers(void **state)
{
    (void)state;
    static const double small[] = {0x1p-1074, 0x1.8p-1070, 0x1p-1023, 0x1p-1022, 0x1p-53};
    for (size_t i = 0; i < sizeof small / sizeof small[0]; i++)
        assert_true(relative_error(fb_det_log(small[i]), log(small[i])) < BOUND);
    assert_true(relative_error(fb_det_log(0x1.fffffffffffffp1023), log(0x1.fffffffffffffp1023)) <
                BOUND);
}

static void exp_is_near_libm_over_its_range(void **state)
{
    (void)state;
    struct fb_rng rng;
    fb_rng_seed(&rng, 3);
    for (int i = 0; i < DRAWS; i++) {
        double x = (fb_rng_unit(&rng) - 0.5) * (i % 2 == 0 ? 1400.0 : 2.0);
        assert_true(relative_error(fb_det_exp(x), exp(x)) < BOUND);
    }
}

static void exp_saturates(void **state)
{
    (void)state;
    assert_true(relative_error(fb_det_exp(1e300), exp(700.0)) < BOUND);
    assert_true(relative_error(fb_det_exp(-1e300), exp(-700.0)) < BOUND);
}

static void pow_is_near_libm(void **state)
{
    (void)state;
    struct fb_rng rng;
    fb_rng_seed(&rng, 4);
    for (int i = 0; i < DRAWS; i++) {
        double x = exp((fb_rng_unit(&rng) - 0.5) * 10.0);
        double y = (fb_rng_unit(&rng) - 0.5) * 8.0; /* |y log x| ≤ 20 */
        assert_true(relative_error(fb_det_pow(x, y), pow(x, y)) < BOUND);
    }
}

/* Bits fixed: these are what makes traces the same on every machine. */
static void bits_are_pinned(void **state)
{
    (void)state;
    struct fb_rng rng;
    fb_rng_seed(&rng, 5);
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (int i = 0; i < 10000; i++) {
        double x = fb_rng_unit(&rng) * 100.0 + 0x1p-40;
        double results[] = {fb_det_log(x), fb_det_exp(x), fb_det_pow(x, -0.7)};
        uint64_t bits[3];
        memcpy(bits, results, sizeof bits);
        for (int k = 0; k < 3; k++)
            hash = (hash ^ bits[k]) * UINT64_C(0x100000001b3);
    }
    assert_int_equal(hash, UINT64_C(6720223299596832842));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(log_is_near_libm_over_the_whole_range),
        cmocka_unit_test(log_is_near_libm_around_one),
        cmocka_unit_test(log_takes_the_smallest_numbers),
        cmocka_unit_test(exp_is_near_libm_over_its_range),
        cmocka_unit_test(exp_saturates),
        cmocka_unit_test(pow_is_near_libm),
        cmocka_unit_test(bits_are_pinned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
