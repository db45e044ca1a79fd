#include "metrics/spread.h"

#include "base/alloc.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define METRIC FB_METRIC_PEAK_FOOTPRINT_BYTES

static void add(struct fb_cell *cell, uint64_t seed, unsigned layout, double value)
{
    cell->repetitions =
        fb_realloc(cell->repetitions, cell->repetition_count + 1, sizeof *cell->repetitions);
    struct fb_repetition *repetition = &cell->repetitions[cell->repetition_count];
    fb_repetition_init(repetition);
    repetition->index = (unsigned)cell->repetition_count++;
    repetition->seed = seed;
    repetition->layout = layout;
    repetition->values[METRIC] = value;
}

static void assert_axis(const struct fb_spread *spread, unsigned count, double range)
{
    assert_int_equal(spread->count, count);
    assert_true(fabs(spread->range - range) < 1e-9);
}

/* value = 100 + 10 × layout + 1 × seed + 0.1 × repeat, in the order that run gives them. */
static void each_axis_has_the_range_with_the_others_held_still(void **state)
{
    struct fb_cell cell = {0};
    struct fb_spread spread[FB_AXIS_COUNT];
    (void)state;
    for (unsigned seed = 0; seed < 2; seed++)
        for (unsigned repeat = 0; repeat < 4; repeat++)
            for (unsigned layout = 0; layout < 3; layout++)
                add(&cell, 42 + seed, layout, 100 + 10.0 * layout + seed + 0.1 * repeat);
    fb_spread_of(&cell, METRIC, spread);
    assert_axis(&spread[FB_AXIS_LAYOUTS], 3, 20);
    assert_axis(&spread[FB_AXIS_SEEDS], 2, 1);
    assert_axis(&spread[FB_AXIS_REPEATS], 4, 0.3);
    fb_cell_deinit(&cell);
}

static void the_widest_line_of_an_axis_counts(void **state)
{
    struct fb_cell cell = {0};
    struct fb_spread spread[FB_AXIS_COUNT];
    (void)state;
    add(&cell, 1, 0, 100);
    add(&cell, 1, 1, 101);
    add(&cell, 2, 0, 500);
    add(&cell, 2, 1, 507);
    fb_spread_of(&cell, METRIC, spread);
    assert_axis(&spread[FB_AXIS_LAYOUTS], 2, 7);
    assert_axis(&spread[FB_AXIS_SEEDS], 2, 406);
    assert_axis(&spread[FB_AXIS_REPEATS], 1, 0);
    fb_cell_deinit(&cell);
}

static void failed_runs_and_missing_values_are_left_out(void **state)
{
    struct fb_cell cell = {0};
    struct fb_spread spread[FB_AXIS_COUNT];
    (void)state;
    add(&cell, 1, 0, 100);
    add(&cell, 1, 1, 900);
    cell.repetitions[1].status = FB_STATUS_CRASHED;
    add(&cell, 1, 2, NAN);
    fb_spread_of(&cell, METRIC, spread);
    assert_axis(&spread[FB_AXIS_LAYOUTS], 1, 0);
    fb_cell_deinit(&cell);
}

static void nothing_gives_nothing(void **state)
{
    struct fb_cell cell = {0};
    struct fb_spread spread[FB_AXIS_COUNT];
    (void)state;
    fb_spread_of(&cell, METRIC, spread);
    for (size_t axis = 0; axis < FB_AXIS_COUNT; axis++)
        assert_axis(&spread[axis], 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_axis_has_the_range_with_the_others_held_still),
        cmocka_unit_test(the_widest_line_of_an_axis_counts),
        cmocka_unit_test(failed_runs_and_missing_values_are_left_out),
        cmocka_unit_test(nothing_gives_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
