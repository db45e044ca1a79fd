#include "base/alloc.h"
#include "rendering.h"
#include "sample.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int setup(void **state)
{
    struct fb_result *result = fb_alloc(1, sizeof *result);
    sample_result_init(result);
    *state = result;
    return 0;
}

static int teardown(void **state)
{
    fb_result_deinit(*state);
    free(*state);
    return 0;
}

static void set_size(struct fb_cell *cell, enum fb_metric metric, double median, double spread)
{
    double mib = (double)MIB;
    rendering_set(cell, metric, median * mib, (median - spread) * mib, (median + spread) * mib);
}

static void winner_is_named_with_price_and_command(void **state)
{
    char *text = rendering_table(*state, 0, false);
    assert_says(text, "Least memory at its peak: jemalloc:dirty_decay_ms=0, 330 MiB for 300 MiB "
                      "of data; ptmalloc2 needs 900 MiB (2.7 times as much).\n");
    assert_says(text, "Least memory at the end: jemalloc:dirty_decay_ms=0, 60 MiB for 50 MiB of "
                      "data; ptmalloc2 needs 650 MiB (10.8 times as much).\n");
    assert_says(text, "Speed: jemalloc:dirty_decay_ms=0 takes 55.0 ns a call, writing to its "
                      "memory included: 1.2 times as long as the fastest, ptmalloc2 (44.0 ns).\n");
    assert_says(text, "To use jemalloc:dirty_decay_ms=0:\n"
                      "  LD_PRELOAD=/usr/lib/libjemalloc.so.2 MALLOC_CONF=dirty_decay_ms:0 "
                      "your-program\n");
    free(text);
}

static void refused_work_is_never_ranked(void **state)
{
    char *text = rendering_table(*state, 0, false); /* budgeted has the smallest peak */
    assert_says(text, "Not ranked, since they did less work: budgeted (refused 12 calls, 12 "
                      "MiB).\n");
    assert_silent(text, "at its peak: budgeted");
    free(text);
}

static void third_contenders_are_placed(void **state)
{
    struct fb_result *result = *state;
    result->cells[SAMPLE_BUDGETED].status = FB_STATUS_OK;
    set_size(&result->cells[SAMPLE_BUDGETED], FB_METRIC_PEAK_FOOTPRINT_BYTES, 396, 0);
    char *text = rendering_table(result, 0, false);
    assert_says(text, "of data; budgeted needs 396 MiB (+20 %), ptmalloc2 needs 900 MiB (2.7 "
                      "times as much).\n");
    free(text);
}

static void near_peaks_do_not_matter(void **state)
{
    struct fb_result *result = *state;
    set_size(&result->cells[SAMPLE_JEMALLOC], FB_METRIC_PEAK_FOOTPRINT_BYTES, 305, 0);
    set_size(&result->cells[SAMPLE_PTMALLOC2], FB_METRIC_PEAK_FOOTPRINT_BYTES, 301, 0);
    char *text = rendering_table(result, 0, false);
    assert_says(text, "Memory at its peak: all within 2 %: on this pattern the allocator does not "
                      "matter for the peak (301 MiB to 305 MiB).\n");
    free(text);
}

static void overlapping_layouts_are_a_tie(void **state)
{
    struct fb_result *result = *state;
    result->cells[SAMPLE_BUDGETED].status = FB_STATUS_OK;
    set_size(&result->cells[SAMPLE_JEMALLOC], FB_METRIC_PEAK_FOOTPRINT_BYTES, 330, 20);
    set_size(&result->cells[SAMPLE_BUDGETED], FB_METRIC_PEAK_FOOTPRINT_BYTES, 345, 0);
    char *text = rendering_table(result, 0, false);
    assert_says(text, "Least memory at its peak: jemalloc:dirty_decay_ms=0 and budgeted, a tie "
                      "from 330 MiB for 300 MiB of data (within 2 % or overlapping over the "
                      "layouts); ptmalloc2 needs 900 MiB");
    free(text);
}

static void ties_at_the_peak_are_broken_by_the_end_then_by_speed(void **state)
{
    struct fb_result *result = *state;
    set_size(&result->cells[SAMPLE_JEMALLOC], FB_METRIC_PEAK_FOOTPRINT_BYTES, 300, 0);
    set_size(&result->cells[SAMPLE_PTMALLOC2], FB_METRIC_PEAK_FOOTPRINT_BYTES, 303, 0);
    char *text = rendering_table(result, 0, false);
    assert_says(text, "To use jemalloc:dirty_decay_ms=0:\n  LD_PRELOAD=");
    assert_null(strstr(text, "To use ptmalloc2"));
    free(text);

    set_size(&result->cells[SAMPLE_JEMALLOC], FB_METRIC_END_FOOTPRINT_BYTES, 100, 0);
    set_size(&result->cells[SAMPLE_PTMALLOC2], FB_METRIC_END_FOOTPRINT_BYTES, 101, 0);
    text = rendering_table(result, 0, false);
    assert_says(text, "Speed: ptmalloc2 takes 44.0 ns a call, writing to its memory included: the "
                      "fastest.\n");
    assert_says(text, "To use ptmalloc2: nothing to set, it is what libc has built in.\n");
    free(text);
}

/* ptmalloc2 is as good as jemalloc in memory, and faster. */
static struct fb_cell *let_libc_win(struct fb_result *result)
{
    set_size(&result->cells[SAMPLE_JEMALLOC], FB_METRIC_PEAK_FOOTPRINT_BYTES, 300, 0);
    set_size(&result->cells[SAMPLE_PTMALLOC2], FB_METRIC_PEAK_FOOTPRINT_BYTES, 303, 0);
    set_size(&result->cells[SAMPLE_JEMALLOC], FB_METRIC_END_FOOTPRINT_BYTES, 100, 0);
    set_size(&result->cells[SAMPLE_PTMALLOC2], FB_METRIC_END_FOOTPRINT_BYTES, 101, 0);
    return &result->cells[SAMPLE_PTMALLOC2];
}

static void libc_is_to_be_preloaded_where_a_run_needed_that(void **state)
{
    struct fb_cell *cell = let_libc_win(*state);
    free(cell->allocator.path);
    cell->allocator.path = fb_strdup("/lib/x86_64-linux-gnu/libc.so.6");
    char *text = rendering_table(*state, 0, false);
    assert_says(text, "To use ptmalloc2:\n"
                      "  LD_PRELOAD=/lib/x86_64-linux-gnu/libc.so.6 your-program\n");
    assert_silent(text, "nothing to set");
    free(text);
}

static void libc_is_not_said_to_be_in_use_in_a_program_that_does_not_call_it(void **state)
{
    struct fb_cell *cell = let_libc_win(*state);
    cell->workload.command = fb_strdup("./service");
    char *text = rendering_table(*state, 0, false);
    assert_says(text, "To use ptmalloc2: nothing to set, the program ran as it is.\n");
    free(text);

    struct fb_repetition *repetition = &cell->repetitions[0];
    repetition->programs = fb_alloc(1, sizeof *repetition->programs);
    repetition->program_count = 1;
    repetition->programs[0] = (struct fb_program_record){
        .name = fb_strdup("service"), .answered_by = fb_strdup("/lib/libc.so.6"), .processes = 1};
    text = rendering_table(*state, 0, false);
    assert_says(text, "To use ptmalloc2: nothing to set, it is what libc has built in.\n");
    free(text);
}

static void little_left_at_the_end_is_a_tie(void **state)
{
    struct fb_result *result = *state;
    set_size(&result->cells[SAMPLE_JEMALLOC], FB_METRIC_END_FOOTPRINT_BYTES, 0.9, 0);
    set_size(&result->cells[SAMPLE_PTMALLOC2], FB_METRIC_END_FOOTPRINT_BYTES, 0.2, 0);
    char *text = rendering_table(result, 0, false);
    assert_says(text, "Memory at the end: all within 2 %, 1 MiB or overlapping over the layouts: "
                      "on this pattern the allocator does not matter for the end");
    free(text);
}

static void times_as_much_as_nothing_are_not_said(void **state)
{
    struct fb_result *result = *state;
    set_size(&result->cells[SAMPLE_JEMALLOC], FB_METRIC_END_FOOTPRINT_BYTES, 0.5, 0);
    char *text = rendering_table(result, 0, false);
    assert_says(text, "512 KiB for 50 MiB of data; ptmalloc2 needs 650 MiB.\n");
    free(text);
}

static void long_times_have_their_unit(void **state)
{
    struct fb_result *result = *state;
    rendering_set(&result->cells[SAMPLE_JEMALLOC], FB_METRIC_NS_PER_OP, 22000, 22000, 22000);
    rendering_set(&result->cells[SAMPLE_PTMALLOC2], FB_METRIC_NS_PER_OP, 0, 0, 0);
    char *text = rendering_table(result, 0, false);
    assert_says(text, "takes 22 us a call, writing to its memory included; against the fastest, "
                      "ptmalloc2 (0.0 ns).\n");
    free(text);
}

static void unmeasured_speed_is_said(void **state)
{
    struct fb_result *result = *state;
    result->cells[SAMPLE_JEMALLOC].summary[FB_METRIC_NS_PER_OP] =
        (struct fb_summary){0, NAN, NAN, NAN};
    char *text = rendering_table(result, 0, false);
    assert_says(text, "Speed: not measured for jemalloc:dirty_decay_ms=0.\n");
    free(text);
}

static void nothing_finished_has_no_verdict(void **state)
{
    struct fb_result *result = *state;
    for (size_t i = 0; i < result->cell_count; i++)
        result->cells[i].status = FB_STATUS_CRASHED;
    char *text = rendering_table(result, 0, false);
    assert_says(text, "No verdict: no allocator finished this workload with equal work.\n");
    assert_silent(text, "To use");
    free(text);
}

int main(void)
{
#define WITH_SAMPLE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        WITH_SAMPLE(winner_is_named_with_price_and_command),
        WITH_SAMPLE(refused_work_is_never_ranked),
        WITH_SAMPLE(third_contenders_are_placed),
        WITH_SAMPLE(near_peaks_do_not_matter),
        WITH_SAMPLE(overlapping_layouts_are_a_tie),
        WITH_SAMPLE(ties_at_the_peak_are_broken_by_the_end_then_by_speed),
        WITH_SAMPLE(libc_is_to_be_preloaded_where_a_run_needed_that),
        WITH_SAMPLE(libc_is_not_said_to_be_in_use_in_a_program_that_does_not_call_it),
        WITH_SAMPLE(little_left_at_the_end_is_a_tie),
        WITH_SAMPLE(times_as_much_as_nothing_are_not_said),
        WITH_SAMPLE(long_times_have_their_unit),
        WITH_SAMPLE(unmeasured_speed_is_said),
        WITH_SAMPLE(nothing_finished_has_no_verdict),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
