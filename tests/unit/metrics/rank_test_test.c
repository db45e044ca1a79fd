#include "metrics/rank_test.h"

#include "fixture.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define MOST 60

/* Two samples of n and m without ties whose U is `u`: u counts, over all pairs, how often a value
 * of a lies above one of b. */
static double p_of_u(size_t n, size_t m, size_t u)
{
    double a[MOST], b[MOST];
    for (size_t j = 0; j < m; j++)
        b[j] = (double)j;
    for (size_t i = 0; i < n; i++) {
        size_t above = u < m ? u : m;
        u -= above;
        a[n - 1 - i] = (double)above - 0.5 - (double)i * 0.001;
    }
    return fb_rank_test(a, n, b, m);
}

static void separated_samples_have_the_smallest_p(void **state)
{
    (void)state;
    assert_near(p_of_u(3, 3, 0), 0.1);
    assert_near(p_of_u(4, 4, 0), 2.0 / 70);
    assert_near(p_of_u(5, 5, 0), 2.0 / 252);
    assert_near(p_of_u(10, 10, 0), 2.0 / 184756);
    assert_near(p_of_u(4, 4, 16), 2.0 / 70); /* the other way round */
}

static void published_critical_values_are_met(void **state)
{
    (void)state;
    /* Largest U that is significant at 0.05 two-sided, as in the usual tables. */
    static const struct {
        size_t n, m, u;
    } table[] = {{4, 4, 0},  {5, 5, 2},    {6, 6, 5},    {5, 8, 6},
                 {8, 8, 13}, {10, 10, 23}, {12, 12, 37}, {20, 20, 127}};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        double at = p_of_u(table[i].n, table[i].m, table[i].u);
        double above = p_of_u(table[i].n, table[i].m, table[i].u + 1);
        if (at > 0.05 || above <= 0.05)
            fail_msg("n %zu, m %zu: p %.4f at U %zu, %.4f above", table[i].n, table[i].m, at,
                     table[i].u, above);
    }
}

static void example_with_a_published_p(void **state)
{
    (void)state;
    /* The example of scipy.stats.mannwhitneyu: U = 17, exact p = 0.1111. */
    assert_near(
        fb_rank_test((const double[]){19, 22, 16, 29, 24}, 5, (const double[]){20, 11, 17, 12}, 4),
        1.0 / 9);
}

static void ties_share_their_ranks(void **state)
{
    (void)state;
    /* Ranks 1, 2.5 | 2.5, 4: of the six ways to choose two, two have a sum of at most 3.5. */
    assert_near(fb_rank_test((const double[]){1, 2}, 2, (const double[]){2, 3}, 2), 2.0 / 3);
    /* Ranks 2, 2, 2 | 4.5, 4.5, 6: one way in twenty. */
    assert_near(fb_rank_test((const double[]){5, 5, 5}, 3, (const double[]){6, 6, 7}, 3), 0.1);
    /* Ranks 1.5, 3 | 1.5, 4, 5, 6 by hand: sums of at most 4.5 are 3, 4.5, 4.5 of fifteen. */
    assert_near(fb_rank_test((const double[]){1, 2}, 2, (const double[]){1, 3, 4, 5}, 4), 0.4);
}

static void equal_samples_say_nothing(void **state)
{
    (void)state;
    const double same[] = {4, 4, 4, 4, 4};
    assert_near(fb_rank_test(same, 5, same, 5), 1);
    assert_near(fb_rank_test(same, 0, same, 5), 1);
    assert_near(fb_rank_test(same, 5, same, 0), 1);
}

static void order_of_the_samples_does_not_matter(void **state)
{
    (void)state;
    const double a[] = {1, 7, 9, 9}, b[] = {2, 3, 9, 11, 12, 13};
    assert_near(fb_rank_test(a, 4, b, 6), fb_rank_test(b, 6, a, 4));
}

static void many_values_are_approximated(void **state)
{
    (void)state;
    /* 50 and 50 is exact, 50 and 51 is not: at the same distance they nearly agree. */
    double exact = p_of_u(50, 50, 1250 - 250), near = p_of_u(50, 51, 1275 - 250);
    assert_true(exact > 0.05 && exact < 0.1);
    assert_true(near > 0.9 * exact && near < 1.15 * exact);
    assert_true(p_of_u(60, 60, 0) < 1e-9);
    double same[MOST] = {0};
    assert_near(fb_rank_test(same, MOST, same, MOST), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(separated_samples_have_the_smallest_p),
        cmocka_unit_test(published_critical_values_are_met),
        cmocka_unit_test(example_with_a_published_p),
        cmocka_unit_test(ties_share_their_ranks),
        cmocka_unit_test(equal_samples_say_nothing),
        cmocka_unit_test(order_of_the_samples_does_not_matter),
        cmocka_unit_test(many_values_are_approximated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
