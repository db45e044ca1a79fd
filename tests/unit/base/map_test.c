/* The map against a plain array: the same answers whatever the order of puts and takes. */
#include "base/map.h"

#include "base/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { KEYS = 4096, STEPS = 200000 };

static void an_empty_map_has_nothing(void **state)
{
    (void)state;
    struct fb_map map = {0};
    uint64_t value = 7;
    assert_false(fb_map_get(&map, 1, &value));
    assert_false(fb_map_take(&map, 1, &value));
    assert_int_equal(value, 7);
    fb_map_deinit(&map);
}

static void what_is_put_again_is_replaced(void **state)
{
    (void)state;
    struct fb_map map = {0};
    uint64_t value = 0;
    fb_map_put(&map, 5, 1);
    fb_map_put(&map, 5, 2);
    assert_int_equal(map.count, 1);
    assert_true(fb_map_take(&map, 5, &value));
    assert_int_equal(value, 2);
    assert_int_equal(map.count, 0);
    fb_map_deinit(&map);
}

/* Keys that are multiples of a page, so that many have the same low bits. */
static void any_order_of_puts_and_takes_agrees_with_an_array(void **state)
{
    (void)state;
    static uint64_t expected[KEYS]; /* 0: not there */
    struct fb_map map = {0};
    struct fb_rng rng;
    size_t count = 0;
    fb_rng_seed_named(&rng, 1, "map");
    for (uint64_t step = 1; step <= STEPS; step++) {
        uint64_t key = fb_rng_below(&rng, KEYS), value = 0;
        if (fb_rng_below(&rng, 2) == 0) {
            fb_map_put(&map, key << 12, step);
            count += expected[key] == 0;
            expected[key] = step;
            continue;
        }
        assert_int_equal(fb_map_get(&map, key << 12, &value), expected[key] != 0);
        assert_int_equal(value, expected[key]);
        assert_int_equal(fb_map_take(&map, key << 12, &value), expected[key] != 0);
        count -= expected[key] != 0;
        expected[key] = 0;
        assert_int_equal(map.count, count);
    }
    fb_map_deinit(&map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_map_has_nothing),
        cmocka_unit_test(what_is_put_again_is_replaced),
        cmocka_unit_test(any_order_of_puts_and_takes_agrees_with_an_array),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
