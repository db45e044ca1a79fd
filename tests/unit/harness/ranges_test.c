/* Sets of address ranges beside a plain array of bits. */
#include "harness/ranges.h"

#include "base/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>

#include <cmocka.h>

enum { PLACES = 200, STEPS = 20000 };

static void assert_same(const struct fb_ranges *ranges, const bool *there)
{
    size_t runs = 0;
    for (uint64_t i = 0; i < PLACES; i++) {
        runs += there[i] && (i == 0 || !there[i - 1]);
        assert_int_equal(fb_ranges_overlap(ranges, i, i + 1), there[i]);
    }
    assert_int_equal(ranges->count, runs); /* neighbours are one range */
}

static void any_adding_and_removing_is_as_of_single_places(void **state)
{
    (void)state;
    bool there[PLACES] = {false};
    struct fb_ranges ranges = {0};
    struct fb_rng rng;
    fb_rng_seed_named(&rng, 7, "ranges");
    for (int step = 0; step < STEPS; step++) {
        uint64_t start = fb_rng_below(&rng, PLACES);
        uint64_t end = start + fb_rng_below(&rng, 40);
        end = end < PLACES ? end : PLACES;
        bool add = fb_rng_below(&rng, 2) == 0;
        if (add)
            fb_ranges_add(&ranges, start, end);
        else
            fb_ranges_remove(&ranges, start, end);
        for (uint64_t i = start; i < end; i++)
            there[i] = add;
        if (step % 50 == 0)
            assert_same(&ranges, there);
    }
    assert_same(&ranges, there);
    fb_ranges_deinit(&ranges);
}

static void an_overlap_counts_what_lies_in_several_ranges(void **state)
{
    (void)state;
    struct fb_ranges ranges = {0};
    fb_ranges_add(&ranges, 10, 20);
    fb_ranges_add(&ranges, 30, 40);
    fb_ranges_add(&ranges, 50, 60);
    assert_int_equal(fb_ranges_overlap(&ranges, 15, 52), 5 + 10 + 2);
    assert_int_equal(fb_ranges_overlap(&ranges, 20, 30), 0);
    fb_ranges_add(&ranges, 20, 30);
    assert_int_equal(ranges.count, 2);
    fb_ranges_remove(&ranges, 12, 14);
    assert_int_equal(ranges.count, 3);
    assert_int_equal(fb_ranges_overlap(&ranges, 0, UINT64_MAX), 2 + 26 + 10);
    fb_ranges_deinit(&ranges);
}

static void a_copy_is_its_own(void **state)
{
    (void)state;
    struct fb_ranges ranges = {0}, copy = {0};
    fb_ranges_add(&ranges, 10, 20);
    fb_ranges_copy(&ranges, &copy);
    fb_ranges_remove(&ranges, 0, 100);
    assert_int_equal(fb_ranges_overlap(&copy, 0, 100), 10);
    fb_ranges_copy(&ranges, &copy);
    assert_int_equal(copy.count, 0);
    fb_ranges_deinit(&ranges);
    fb_ranges_deinit(&copy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_adding_and_removing_is_as_of_single_places),
        cmocka_unit_test(an_overlap_counts_what_lies_in_several_ranges),
        cmocka_unit_test(a_copy_is_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
