/* Exit codes: precedence, and what a result's cells add up to. */
#include "commands/exit_code.h"

// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on

#include <string.h>

static void weightiest_bit_decides(void **state)
{
    (void)state;
    unsigned all = FB_HAPPENED_BAD_INPUT | FB_HAPPENED_IO | FB_HAPPENED_SIGNAL |
                   FB_HAPPENED_NOTHING | FB_HAPPENED_INCOMPLETE | FB_HAPPENED_GATE;
    assert_int_equal(fb_exit_code(0, 0), 0);
    assert_int_equal(fb_exit_code(all, 2), 2);
    assert_int_equal(fb_exit_code(all & ~FB_HAPPENED_BAD_INPUT, 2), 3);
    assert_int_equal(fb_exit_code(FB_HAPPENED_SIGNAL | FB_HAPPENED_INCOMPLETE, 2), 130);
    assert_int_equal(fb_exit_code(FB_HAPPENED_SIGNAL, 15), 143);
    assert_int_equal(fb_exit_code(FB_HAPPENED_NOTHING | FB_HAPPENED_INCOMPLETE, 0), 4);
    assert_int_equal(fb_exit_code(FB_HAPPENED_INCOMPLETE, 0), 5);
    assert_int_equal(fb_exit_code(FB_HAPPENED_INCOMPLETE | FB_HAPPENED_GATE, 0), 5);
    assert_int_equal(fb_exit_code(FB_HAPPENED_GATE, 0), 1);
}

static void errors_map_to_their_codes(void **state)
{
    (void)state;
    static const struct {
        enum fb_error_kind kind;
        int code;
    } cases[] = {{FB_ERROR_NONE, 0}, {FB_ERROR_INPUT, 2}, {FB_ERROR_IO, 3}, {FB_ERROR_NOTHING, 4}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fb_error err = {.kind = cases[i].kind};
        assert_int_equal(fb_exit_code(fb_exit_of_error(&err), 0), cases[i].code);
    }
}

static int code_of(const enum fb_status *statuses, size_t count)
{
    struct fb_cell cells[8];
    memset(cells, 0, sizeof cells);
    for (size_t i = 0; i < count; i++)
        cells[i].status = statuses[i];
    struct fb_result result = {.cells = cells, .cell_count = count};
    return fb_exit_code(fb_exit_of_result(&result), 0);
}

static void skipped_cells_count_only_when_nothing_ran(void **state)
{
    (void)state;
    const enum fb_status some[] = {FB_STATUS_OK, FB_STATUS_NOT_INSTALLED, FB_STATUS_UNSUPPORTED};
    const enum fb_status none[] = {FB_STATUS_NOT_INSTALLED, FB_STATUS_UNSUPPORTED};
    assert_int_equal(code_of(some, 3), 0);
    assert_int_equal(code_of(none, 2), 4);
    assert_int_equal(code_of(none, 0), 4);
}

static void every_failure_makes_it_incomplete(void **state)
{
    (void)state;
    static const enum fb_status failures[] = {
        FB_STATUS_CRASHED,     FB_STATUS_TIMEOUT,           FB_STATUS_OOM_KILLED,
        FB_STATUS_CORRUPTED,   FB_STATUS_OVER_MEMORY_LIMIT, FB_STATUS_NOT_PRELOADED,
        FB_STATUS_BAD_TUNABLE, FB_STATUS_INTERRUPTED,
    };
    for (size_t i = 0; i < sizeof failures / sizeof failures[0]; i++) {
        const enum fb_status mixed[] = {FB_STATUS_OK, failures[i], FB_STATUS_NOT_INSTALLED};
        assert_int_equal(code_of(mixed, 3), 5);
    }
}

static void refusal_is_done_unless_it_ended_the_run(void **state)
{
    (void)state;
    struct fb_checkpoint last = {.kind = "purged"};
    struct fb_repetition repetition = {.status = FB_STATUS_REFUSED};
    struct fb_cell cell = {
        .status = FB_STATUS_REFUSED, .repetitions = &repetition, .repetition_count = 1};
    struct fb_result result = {.cells = &cell, .cell_count = 1};
    assert_int_equal(fb_exit_of_result(&result), FB_HAPPENED_INCOMPLETE);
    repetition.checkpoints = &last;
    repetition.checkpoint_count = 1;
    assert_int_equal(fb_exit_of_result(&result), 0);
}

static void failed_timing_pass_makes_it_incomplete(void **state)
{
    (void)state;
    struct fb_cell cell = {.status = FB_STATUS_OK};
    struct fb_result result = {.cells = &cell, .cell_count = 1};
    assert_int_equal(fb_exit_of_result(&result), 0);
    cell.timing.status = FB_STATUS_TIMEOUT;
    assert_int_equal(fb_exit_of_result(&result), FB_HAPPENED_INCOMPLETE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weightiest_bit_decides),
        cmocka_unit_test(errors_map_to_their_codes),
        cmocka_unit_test(skipped_cells_count_only_when_nothing_ran),
        cmocka_unit_test(every_failure_makes_it_incomplete),
        cmocka_unit_test(refusal_is_done_unless_it_ended_the_run),
        cmocka_unit_test(failed_timing_pass_makes_it_incomplete),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
