#include "metrics/summary.h"

#include "base/alloc.h"
#include "fixture.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void median_of_odd_and_even_numbers(void **state)
{
    (void)state;
    struct fb_summary odd = fb_summarize((const double[]){5, 1, 3}, 3);
    struct fb_summary even = fb_summarize((const double[]){4, 1, 3, 2}, 4);
    assert_int_equal(odd.n, 3);
    assert_near(odd.median, 3);
    assert_near(odd.min, 1);
    assert_near(odd.max, 5);
    assert_near(even.median, 2.5);
}

static void missing_values_are_left_out(void **state)
{
    (void)state;
    struct fb_summary some = fb_summarize((const double[]){NAN, 2, NAN, 4}, 4);
    struct fb_summary none = fb_summarize((const double[]){NAN}, 1);
    assert_int_equal(some.n, 2);
    assert_near(some.median, 3);
    assert_int_equal(none.n, 0);
    assert_true(isnan(none.median) && isnan(none.min) && isnan(none.max));
}

/* A cell of three repetitions with these peaks. */
static void init_cell(struct fb_cell *cell, double first, double second, double third)
{
    const double peaks[] = {first, second, third};
    *cell = (struct fb_cell){.id = fb_strdup("w/a")};
    cell->repetitions = fb_alloc(3, sizeof *cell->repetitions);
    cell->repetition_count = 3;
    for (size_t i = 0; i < 3; i++) {
        fb_repetition_init(&cell->repetitions[i]);
        cell->repetitions[i].values[FB_METRIC_PEAK_FOOTPRINT_BYTES] = peaks[i];
    }
    for (int i = 0; i < FB_METRIC_COUNT; i++)
        cell->timing.values[i] = NAN;
}

static void cell_takes_the_worst_status_and_the_done_values(void **state)
{
    (void)state;
    struct fb_cell cell;
    init_cell(&cell, 1, 1000, 3);
    cell.repetitions[1].status = FB_STATUS_CRASHED;
    cell.repetitions[1].status_detail = fb_strdup("SIGSEGV in phase serve");
    cell.repetitions[2].status = FB_STATUS_REFUSED;
    fb_summarize_cell(&cell);
    assert_int_equal(cell.status, FB_STATUS_CRASHED);
    assert_string_equal(cell.status_detail, "SIGSEGV in phase serve");
    assert_int_equal(cell.summary[FB_METRIC_PEAK_FOOTPRINT_BYTES].n, 2);
    assert_near(cell.summary[FB_METRIC_PEAK_FOOTPRINT_BYTES].max, 3);
    fb_summarize_cell(&cell); /* again after each run: the detail is not lost or doubled */
    assert_string_equal(cell.status_detail, "SIGSEGV in phase serve");
    fb_cell_deinit(&cell);
}

static void cell_that_never_ran_keeps_its_status(void **state)
{
    (void)state;
    struct fb_cell cell = {.status = FB_STATUS_NOT_INSTALLED,
                           .status_detail = fb_strdup("not installed")};
    fb_summarize_cell(&cell);
    assert_int_equal(cell.status, FB_STATUS_NOT_INSTALLED);
    assert_string_equal(cell.status_detail, "not installed");
    assert_int_equal(cell.summary[FB_METRIC_PEAK_FOOTPRINT_BYTES].n, 0);
    fb_cell_deinit(&cell);
}

static void timing_metrics_come_from_the_timing_pass(void **state)
{
    (void)state;
    struct fb_cell cell;
    init_cell(&cell, 1, 2, 3);
    cell.timing.done = true;
    cell.timing.runs = 2;
    cell.timing.values[FB_METRIC_NS_PER_OP] = 55;
    cell.timing.values[FB_METRIC_MINOR_FAULTS] = 7;
    cell.repetitions[0].values[FB_METRIC_USER_S] = 0.5;
    cell.timing.values[FB_METRIC_USER_S] = 9;
    fb_summarize_cell(&cell);
    assert_near(cell.summary[FB_METRIC_NS_PER_OP].median, 55);
    assert_int_equal(cell.summary[FB_METRIC_NS_PER_OP].n, 2);
    assert_near(cell.summary[FB_METRIC_MINOR_FAULTS].median, 7);
    assert_near(cell.summary[FB_METRIC_USER_S].median, 0.5);
    fb_cell_deinit(&cell);
}

enum { CELLS = 5 };

/* Cells a … e with one summary each. */
static void init_cells(struct fb_cell cells[CELLS], const double peaks[CELLS])
{
    for (size_t i = 0; i < CELLS; i++) {
        init_cell(&cells[i], peaks[i], peaks[i], peaks[i]);
        cells[i].id[2] = (char)('a' + i);
        cells[i].allocator.backend = fb_strdup("");
        fb_summarize_cell(&cells[i]);
    }
}

static void deinit_cells(struct fb_cell cells[CELLS])
{
    for (size_t i = 0; i < CELLS; i++)
        fb_cell_deinit(&cells[i]);
}

static void set(struct fb_cell *cell, enum fb_metric metric, double value)
{
    cell->summary[metric] = (struct fb_summary){3, value, value, value};
}

static void ranking_is_by_peak_then_kept(void **state)
{
    (void)state;
    struct fb_cell cells[CELLS];
    struct fb_verdict verdict;
    init_cells(cells, (const double[]){300, 100, 200, 100, 400});
    set(&cells[1], FB_METRIC_KEPT_BYTES, 9);
    set(&cells[3], FB_METRIC_KEPT_BYTES, 8);
    fb_verdict_init(&verdict, cells, CELLS);
    const size_t order[CELLS] = {3, 1, 2, 0, 4};
    assert_int_equal(verdict.ranked_count, CELLS);
    for (size_t i = 0; i < CELLS; i++)
        assert_ptr_equal(verdict.ranked[i], &cells[order[i]]);
    assert_ptr_equal(verdict.least_peak, &cells[3]);
    assert_true(verdict.indistinct_peak);
    assert_null(verdict.fastest);
    fb_verdict_deinit(&verdict);
    deinit_cells(cells);
}

static void only_equal_work_is_ranked(void **state)
{
    (void)state;
    struct fb_cell cells[CELLS];
    struct fb_verdict verdict;
    init_cells(cells, (const double[]){300, 1, 2, 3, 4});
    cells[1].status = FB_STATUS_REFUSED;
    cells[2].status = FB_STATUS_TIMEOUT;
    free(cells[3].allocator.backend);
    cells[3].allocator.backend = fb_strdup("null");
    set(&cells[4], FB_METRIC_PEAK_FOOTPRINT_BYTES, NAN);
    fb_verdict_init(&verdict, cells, CELLS);
    assert_int_equal(verdict.ranked_count, 1);
    assert_ptr_equal(verdict.least_peak, &cells[0]);
    assert_int_equal(verdict.refused_count, 1);
    assert_ptr_equal(verdict.refused[0], &cells[1]);
    assert_false(verdict.indistinct_peak);
    fb_verdict_deinit(&verdict);
    deinit_cells(cells);
}

static void end_and_speed_have_winners_of_their_own(void **state)
{
    (void)state;
    struct fb_cell cells[CELLS];
    struct fb_verdict verdict;
    init_cells(cells, (const double[]){100, 200, 300, 400, 500});
    set(&cells[2], FB_METRIC_END_FOOTPRINT_BYTES, 5);
    set(&cells[0], FB_METRIC_END_FOOTPRINT_BYTES, 6);
    set(&cells[4], FB_METRIC_NS_PER_OP, 20);
    set(&cells[1], FB_METRIC_NS_PER_OP, 30);
    fb_verdict_init(&verdict, cells, CELLS);
    assert_ptr_equal(verdict.least_peak, &cells[0]);
    assert_ptr_equal(verdict.least_end, &cells[2]);
    assert_ptr_equal(verdict.fastest, &cells[4]);
    assert_false(verdict.indistinct_peak);
    fb_verdict_deinit(&verdict);
    deinit_cells(cells);
}

static void nothing_done_has_no_verdict(void **state)
{
    (void)state;
    struct fb_verdict verdict;
    fb_verdict_init(&verdict, NULL, 0);
    assert_int_equal(verdict.ranked_count, 0);
    assert_null(verdict.least_peak);
    fb_verdict_deinit(&verdict);
}

static void overlap_or_two_percent_is_indistinct(void **state)
{
    (void)state;
    const struct fb_summary base = {3, 100, 95, 105}, overlaps = {3, 110, 104, 112};
    const struct fb_summary apart = {3, 110, 106, 112}, exact = {3, 100, 100, 100};
    const struct fb_summary close = {3, 101.9, 101.9, 101.9}, two = {3, 102, 102, 102};
    const struct fb_summary empty = {0, NAN, NAN, NAN};
    (void)state;
    assert_true(fb_summary_indistinct(&base, &overlaps));
    assert_false(fb_summary_indistinct(&base, &apart));
    assert_true(fb_summary_indistinct(&close, &exact));
    assert_false(fb_summary_indistinct(&two, &exact));
    assert_false(fb_summary_indistinct(&empty, &exact));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(median_of_odd_and_even_numbers),
        cmocka_unit_test(missing_values_are_left_out),
        cmocka_unit_test(cell_takes_the_worst_status_and_the_done_values),
        cmocka_unit_test(cell_that_never_ran_keeps_its_status),
        cmocka_unit_test(timing_metrics_come_from_the_timing_pass),
        cmocka_unit_test(ranking_is_by_peak_then_kept),
        cmocka_unit_test(only_equal_work_is_ranked),
        cmocka_unit_test(end_and_speed_have_winners_of_their_own),
        cmocka_unit_test(nothing_done_has_no_verdict),
        cmocka_unit_test(overlap_or_two_percent_is_indistinct),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
