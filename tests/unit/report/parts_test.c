#include "report/parts.h"

#include "base/alloc.h"
#include "rendering.h"
#include "sample.h"

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

static void parts_stand_in_columns_that_sum(void **state)
{
    char *text = rendering_table(*state, 0, false);
    assert_says(text, "Where it is at the end:\n"
                      "allocator                   RSS  live  rounding  holes  cached  stuck  "
                      "startup  base\n"
                      "                            MiB   MiB       MiB    MiB     MiB    MiB      "
                      "MiB   MiB\n"
                      "jemalloc:dirty_decay_ms=0  28.0  1.00      2.00   3.00    4.00   5.00     "
                      "6.00  7.00\n");
    /* Cells that have no purged second run, or are not there, have no row. */
    assert_silent(text, "Where the memory is when most is live");
    free(text);
}

static void classes_that_keep_pages_are_listed(void **state)
{
    char *text = rendering_table(*state, 0, false);
    assert_says(text, "allocator                  class     live  holds      held  pages  near "
                      "empty\n");
    assert_says(text, "jemalloc:dirty_decay_ms=0  metadata  0.12   4.00      32.0  1,024        "
                      "98 %\n");
    free(text);
}

static void counters_that_are_not_there_are_na(void **state)
{
    char *text = rendering_table(*state, 0, false);
    assert_says(text, "What the allocators say themselves");
    assert_says(text, "jemalloc:dirty_decay_ms=0       3.00       5.00     n/a  28.00      5.00");
    free(text);
}

static void github_gets_the_same_tables(void **state)
{
    char *text = rendering_export(*state, "markdown");
    assert_says(text, "\nWhere it is at the end:\n\n| allocator |");
    assert_says(text, "- cached: free pages that a purge gives back");
    free(text);
}

static void a_sum_that_does_not_hold_is_said(void **state)
{
    struct fb_result *result = *state;
    struct fb_repetition *first = &result->cells[SAMPLE_JEMALLOC].repetitions[0];
    first->checkpoints[2].attribution->mismatch_bytes = -(int64_t)MIB;
    first->checkpoints[2].attribution->is_second_run = true;
    char *text = rendering_table(result, 0, false);
    assert_says(text, "Note: jemalloc:dirty_decay_ms=0, phase_end: the parts are 1 MiB more than "
                      "RSS; please report it.\n");
    free(text);
    first->checkpoints[2].attribution->mismatch_bytes = 0;
    text = rendering_table(result, 0, false);
    assert_says(text, "the second run differed from the first");
    free(text);
}

static void parts_without_a_purge_are_not_shown(void **state)
{
    struct fb_result *result = *state;
    for (size_t c = 0; c < result->cell_count; c++)
        for (size_t r = 0; r < result->cells[c].repetition_count; r++)
            result->cells[c].repetitions[r].checkpoints[2].attribution->is_split = false;
    char *text = rendering_table(result, 0, false);
    assert_silent(text, "Where");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(parts_stand_in_columns_that_sum, setup, teardown),
        cmocka_unit_test_setup_teardown(classes_that_keep_pages_are_listed, setup, teardown),
        cmocka_unit_test_setup_teardown(counters_that_are_not_there_are_na, setup, teardown),
        cmocka_unit_test_setup_teardown(github_gets_the_same_tables, setup, teardown),
        cmocka_unit_test_setup_teardown(a_sum_that_does_not_hold_is_said, setup, teardown),
        cmocka_unit_test_setup_teardown(parts_without_a_purge_are_not_shown, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
