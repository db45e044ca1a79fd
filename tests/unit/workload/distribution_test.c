#include "workload/distribution.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define DRAWS 200000
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static double choice_values[] = {10, 20, 1000};
static double choice_weights[] = {1, 4, 4.5}; /* cumulative: 1, 3, 0.5 */
static double cycle_values[] = {7, 3, 5};
static double edges[] = {0, 100, 200, 1000};
static double bin_counts[] = {6, 6, 8}; /* cumulative: 6, none, 2 */

static const struct sample {
    const char *name;
    struct fb_distribution distribution;
    double mean;
    double lowest;
    double tolerance; /* of the mean of DRAWS draws, relative */
} samples[] = {
    {"constant", {.kind = FB_DISTRIBUTION_CONSTANT, .a = 64}, 64, 64, 0},
    {"uniform", {.kind = FB_DISTRIBUTION_UNIFORM, .a = 50, .b = 300}, 175, 50, 0.005},
    {"normal", {.kind = FB_DISTRIBUTION_NORMAL, .a = 1000, .b = 100}, 1000, -HUGE_VAL, 0.002},
    /* σ = ln 8 / 2.3263 = 0.89387; 64 e^(σ²/2) = 95.43 */
    {"lognormal", {.kind = FB_DISTRIBUTION_LOGNORMAL, .a = 64, .b = 512}, 95.43, 0, 0.01},
    {"exponential", {.kind = FB_DISTRIBUTION_EXPONENTIAL, .a = 300}, 300, 0, 0.01},
    {"pareto", {.kind = FB_DISTRIBUTION_PARETO, .a = 100, .b = 3}, 150, 100, 0.01},
    {"geometric", {.kind = FB_DISTRIBUTION_GEOMETRIC, .a = 20}, 20, 1, 0.01},
    {"choice",
     {.kind = FB_DISTRIBUTION_CHOICE,
      .values = choice_values,
      .weights = choice_weights,
      .count = COUNT(choice_values)},
     (10 * 1 + 20 * 3 + 1000 * 0.5) / 4.5,
     10,
     0.02},
    {"cycle",
     {.kind = FB_DISTRIBUTION_CYCLE, .values = cycle_values, .count = COUNT(cycle_values)},
     5,
     3,
     0.0001},
    {"histogram",
     {.kind = FB_DISTRIBUTION_HISTOGRAM,
      .values = edges,
      .weights = bin_counts,
      .count = COUNT(bin_counts)},
     (50 * 6 + 600 * 2) / 8.0,
     0,
     0.01},
};

static const struct fb_distribution *named(const char *name)
{
    for (size_t i = 0; i < COUNT(samples); i++)
        if (strcmp(samples[i].name, name) == 0)
            return &samples[i].distribution;
    fail_msg("no sample named %s", name);
    return NULL;
}

static int ascending(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* DRAWS draws in ascending order, in static storage. */
static const uint64_t *sorted_draws(const struct fb_distribution *distribution, uint64_t minimum)
{
    static uint64_t draws[DRAWS];
    uint64_t cursor = 0;
    struct fb_rng rng;
    fb_rng_seed(&rng, 7);
    for (size_t i = 0; i < DRAWS; i++)
        draws[i] = fb_distribution_draw(distribution, &rng, &cursor, minimum);
    qsort(draws, DRAWS, sizeof draws[0], ascending);
    return draws;
}

static void mean_of_draws_is_the_stated_mean(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(samples); i++) {
        const uint64_t *draws = sorted_draws(&samples[i].distribution, 0);
        double sum = 0, stated = fb_distribution_mean(&samples[i].distribution);
        for (size_t k = 0; k < DRAWS; k++)
            sum += (double)draws[k];
        if (fabs(stated - samples[i].mean) > samples[i].mean * 1e-4)
            fail_msg("%s: states a mean of %f", samples[i].name, stated);
        if (fabs(sum / DRAWS - stated) > stated * samples[i].tolerance)
            fail_msg("%s: the mean of draws is %f", samples[i].name, sum / DRAWS);
    }
}

static void no_draw_is_below_the_lowest(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(samples); i++) {
        double lowest = fb_distribution_lowest(&samples[i].distribution);
        assert_true(lowest <= samples[i].lowest && lowest >= samples[i].lowest);
        assert_true((double)sorted_draws(&samples[i].distribution, 0)[0] >= lowest);
    }
}

static void uniform_includes_both_ends(void **state)
{
    (void)state;
    const uint64_t *draws = sorted_draws(named("uniform"), 0);
    assert_int_equal(draws[0], 50);
    assert_int_equal(draws[DRAWS - 1], 300);
}

static void normal_has_its_deviation(void **state)
{
    (void)state;
    const uint64_t *draws = sorted_draws(named("normal"), 0);
    assert_in_range(draws[DRAWS / 2], 998, 1002);
    assert_in_range(draws[(size_t)(DRAWS * 0.8413)], 1097, 1103); /* one σ above */
    assert_in_range(draws[(size_t)(DRAWS * 0.1587)], 897, 903);
}

static void normal_below_zero_is_the_minimum(void **state)
{
    (void)state;
    struct fb_distribution wide = {.kind = FB_DISTRIBUTION_NORMAL, .a = 10, .b = 100};
    const uint64_t *draws = sorted_draws(&wide, 1);
    assert_int_equal(draws[0], 1);
    assert_int_equal(draws[(size_t)(DRAWS * 0.4)], 1);
    assert_true(draws[(size_t)(DRAWS * 0.5)] > 1);
}

static void lognormal_has_its_median_and_percentile(void **state)
{
    (void)state;
    const uint64_t *draws = sorted_draws(named("lognormal"), 1);
    assert_in_range(draws[DRAWS / 2], 63, 65);
    assert_in_range(draws[DRAWS / 100 * 99], 495, 530);
}

static void pareto_has_its_tail(void **state)
{
    (void)state;
    const uint64_t *draws = sorted_draws(named("pareto"), 1);
    assert_int_equal(draws[0], 100);
    assert_in_range(draws[DRAWS / 2], 125, 127);           /* 100 × 2^(1/3) = 125.99 */
    assert_in_range(draws[DRAWS / 1000 * 999], 950, 1050); /* 1000 */
}

static void pareto_of_shape_one_has_no_mean(void **state)
{
    (void)state;
    struct fb_distribution heavy = {.kind = FB_DISTRIBUTION_PARETO, .a = 1, .b = 1};
    assert_true(fb_distribution_mean(&heavy) >= (double)FB_DISTRIBUTION_MAX);
    heavy.b = 0.001; /* most draws pass 2^46 and stop there */
    assert_int_equal(sorted_draws(&heavy, 1)[DRAWS - 1], FB_DISTRIBUTION_MAX);
}

static void geometric_halves(void **state)
{
    (void)state;
    struct fb_distribution half = {.kind = FB_DISTRIBUTION_GEOMETRIC, .a = 2};
    const uint64_t *draws = sorted_draws(&half, 0);
    size_t ones = 0, twos = 0;
    for (size_t i = 0; i < DRAWS; i++) {
        ones += draws[i] == 1;
        twos += draws[i] == 2;
    }
    assert_in_range(ones, 99000, 101000);
    assert_in_range(twos, 49000, 51000);
    half.a = 1;
    assert_int_equal(sorted_draws(&half, 0)[DRAWS - 1], 1);
}

static void choice_follows_its_weights(void **state)
{
    (void)state;
    const uint64_t *draws = sorted_draws(named("choice"), 0);
    size_t counts[3] = {0};
    for (size_t i = 0; i < DRAWS; i++)
        counts[draws[i] == 10 ? 0 : draws[i] == 20 ? 1 : 2]++;
    assert_in_range(counts[0], 43500, 45400);   /* 2/9 */
    assert_in_range(counts[1], 132300, 134400); /* 6/9 */
    assert_in_range(counts[2], 21500, 22900);   /* 1/9 */
}

static void choice_never_takes_a_weight_of_nought(void **state)
{
    (void)state;
    double values[] = {1, 2, 3, 4};
    double weights[] = {0, 5, 5, 9};
    struct fb_distribution choice = {
        .kind = FB_DISTRIBUTION_CHOICE, .values = values, .weights = weights, .count = 4};
    const uint64_t *draws = sorted_draws(&choice, 0);
    for (size_t i = 0; i < DRAWS; i++)
        assert_true(draws[i] == 2 || draws[i] == 4);
}

static void cycle_goes_round_in_order(void **state)
{
    (void)state;
    uint64_t cursor = 0;
    struct fb_rng rng;
    fb_rng_seed(&rng, 1);
    static const uint64_t expected[] = {7, 3, 5, 7, 3, 5, 7};
    for (size_t i = 0; i < COUNT(expected); i++)
        assert_int_equal(fb_distribution_draw(named("cycle"), &rng, &cursor, 0), expected[i]);
}

static void histogram_fills_its_bins(void **state)
{
    (void)state;
    const uint64_t *draws = sorted_draws(named("histogram"), 0);
    size_t low = 0, high = 0;
    for (size_t i = 0; i < DRAWS; i++) {
        low += draws[i] <= 100;
        high += draws[i] >= 200;
    }
    assert_int_equal(low + high, DRAWS); /* the middle bin is empty */
    assert_in_range(low, 149000, 151000);
    assert_in_range(draws[DRAWS / 8 * 3], 48, 52); /* uniform within a bin */
}

static void draws_are_clamped(void **state)
{
    (void)state;
    struct fb_distribution huge = {.kind = FB_DISTRIBUTION_CONSTANT, .a = 1e30};
    struct fb_distribution none = {.kind = FB_DISTRIBUTION_CONSTANT, .a = 0};
    struct fb_distribution nan = {.kind = FB_DISTRIBUTION_CONSTANT, .a = NAN};
    assert_int_equal(sorted_draws(&huge, 0)[0], FB_DISTRIBUTION_MAX);
    assert_int_equal(sorted_draws(&none, 1)[0], 1);
    assert_int_equal(sorted_draws(&none, 0)[0], 0);
    assert_int_equal(sorted_draws(&nan, 1)[0], 1);
}

static void rounding_is_to_the_nearest(void **state)
{
    (void)state;
    struct fb_distribution value = {.kind = FB_DISTRIBUTION_CONSTANT, .a = 2.5};
    assert_int_equal(sorted_draws(&value, 0)[0], 3);
    value.a = 2.49;
    assert_int_equal(sorted_draws(&value, 0)[0], 2);
}

static void deinit_takes_what_it_owns(void **state)
{
    (void)state;
    struct fb_distribution owned = {
        .kind = FB_DISTRIBUTION_CYCLE, .values = calloc(3, sizeof(double)), .count = 3};
    fb_distribution_deinit(&owned);
    assert_null(owned.values);
    fb_distribution_deinit(&owned); /* a second time is harmless */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mean_of_draws_is_the_stated_mean),
        cmocka_unit_test(no_draw_is_below_the_lowest),
        cmocka_unit_test(uniform_includes_both_ends),
        cmocka_unit_test(normal_has_its_deviation),
        cmocka_unit_test(normal_below_zero_is_the_minimum),
        cmocka_unit_test(lognormal_has_its_median_and_percentile),
        cmocka_unit_test(pareto_has_its_tail),
        cmocka_unit_test(pareto_of_shape_one_has_no_mean),
        cmocka_unit_test(geometric_halves),
        cmocka_unit_test(choice_follows_its_weights),
        cmocka_unit_test(choice_never_takes_a_weight_of_nought),
        cmocka_unit_test(cycle_goes_round_in_order),
        cmocka_unit_test(histogram_fills_its_bins),
        cmocka_unit_test(draws_are_clamped),
        cmocka_unit_test(rounding_is_to_the_nearest),
        cmocka_unit_test(deinit_takes_what_it_owns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
