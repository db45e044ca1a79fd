/* The -L options: splitting, the cross product, what is refused. */
#include "commands/axes.h"

// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on

static void values_split_at_top_level_commas_only(void **state)
{
    (void)state;
    struct fb_param_axes axes = {0};
    struct fb_error err = {0};
    assert_int_equal(fb_axes_add(&axes, "a={uniform: [1, 5]},\"x,y\",7", &err), 0);
    assert_int_equal(axes.count, 1);
    assert_int_equal(axes.items[0].count, 3);
    assert_string_equal(axes.items[0].name, "a");
    assert_string_equal(axes.items[0].values[0], "{uniform: [1, 5]}");
    assert_string_equal(axes.items[0].values[1], "\"x,y\"");
    assert_string_equal(axes.items[0].values[2], "7");
    fb_axes_deinit(&axes);
}

static void product_runs_the_last_axis_fastest(void **state)
{
    (void)state;
    static const char *const expected[6][2] = {{"1", "x"}, {"1", "y"}, {"1", "z"},
                                               {"2", "x"}, {"2", "y"}, {"2", "z"}};
    struct fb_param_axes axes = {0};
    struct fb_error err = {0};
    struct fb_override set[2];
    assert_int_equal(fb_axes_add(&axes, "a=1,2", &err), 0);
    assert_int_equal(fb_axes_add(&axes, "b=x,y,z", &err), 0);
    assert_int_equal(fb_axes_sets(&axes), 6);
    for (size_t i = 0; i < 6; i++) {
        fb_axes_pick(&axes, i, set);
        assert_string_equal(set[0].name, "a");
        assert_string_equal(set[0].value, expected[i][0]);
        assert_string_equal(set[1].name, "b");
        assert_string_equal(set[1].value, expected[i][1]);
    }
    fb_axes_deinit(&axes);
}

static void no_axes_are_one_set(void **state)
{
    (void)state;
    struct fb_param_axes axes = {0};
    assert_int_equal(fb_axes_sets(&axes), 1);
    fb_axes_pick(&axes, 0, NULL);
}

static void bad_options_are_refused_and_change_nothing(void **state)
{
    (void)state;
    static const char *const bad[] = {"a", "=1", "a=", "a=1,,2", "a=1,", "a=,1", "b=9"};
    struct fb_param_axes axes = {0};
    struct fb_error first = {0};
    assert_int_equal(fb_axes_add(&axes, "b=1", &first), 0);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct fb_error err = {0};
        assert_int_equal(fb_axes_add(&axes, bad[i], &err), -1);
        assert_int_equal(err.kind, FB_ERROR_INPUT);
        assert_int_equal(axes.count, 1);
    }
    fb_axes_deinit(&axes);
}

static void too_many_sets_are_refused(void **state)
{
    (void)state;
    static char many[2 * 101 + 3] = "x=";
    for (size_t i = 0; i < 101; i++) {
        many[2 + 2 * i] = '1';
        many[3 + 2 * i] = i < 100 ? ',' : '\0';
    }
    struct fb_param_axes axes = {0};
    struct fb_error err = {0};
    assert_int_equal(fb_axes_add(&axes, many, &err), 0);
    many[0] = 'y';
    assert_int_equal(fb_axes_add(&axes, many, &err), -1); /* 101 × 101 > 10,000 */
    assert_int_equal(err.kind, FB_ERROR_INPUT);
    assert_int_equal(fb_axes_sets(&axes), 101);
    fb_axes_deinit(&axes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_split_at_top_level_commas_only),
        cmocka_unit_test(product_runs_the_last_axis_fastest),
        cmocka_unit_test(no_axes_are_one_set),
        cmocka_unit_test(bad_options_are_refused_and_change_nothing),
        cmocka_unit_test(too_many_sets_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
