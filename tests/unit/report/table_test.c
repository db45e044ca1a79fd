#include "report/table.h"

#include "base/alloc.h"
#include "rendering.h"
#include "sample.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
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

static void heading_says_what_ran_where(void **state)
{
    char *text = rendering_table(*state, 0, false);
    assert_says(text, "kv-cache-growth (sequences=256)\n"
                      "1,234,567 allocator calls, peak live 300 MiB, seed 42\n"
                      "virtual clock, lockstep order, 3 layouts; 4 CPUs, Linux 6.1.0-18-amd64, "
                      "glibc 2.36, x86_64\n\n");
    free(text);
}

static void rows_line_up_and_statuses_replace_numbers(void **state)
{
    char *text = rendering_table(*state, 0, false);
    assert_says(
        text,
        "allocator                  status   peak RSS   live  ratio                kept         "
        " time\n"
        "                                         MiB    MiB   peak  (layouts)      MiB  after "
        " ns/op\n"
        "jemalloc:dirty_decay_ms=0  ok          330.0  300.0   1.10  (1.07–1.13)   10.0  serve "
        "  55.0\n"
        "ptmalloc2                  ok          900.0  300.0   3.00               600.0  serve "
        "  44.0\n"
        "budgeted                   refused     200.0  300.0   0.67                 5.0  serve "
        "  60.0\n"
        "hung                       timeout: no end after 10 min\n"
        "mimalloc                   not installed (apt-get install libmimalloc2.0)\n");
    free(text);
}

static void columns_without_values_are_named_with_the_reason(void **state)
{
    char *text = rendering_table(*state, 0, false);
    assert_says(text, "n/a: ratio at end (live at the end below 1 MiB).\n");
    assert_says(text, "n/a: drift (fewer than 40 iterations).\n");
    assert_says(text, "n/a: retained after 10 s idle, retained after a purge, p99 latency (not "
                      "measured).\n");
    free(text);
}

static void single_gaps_are_marked_with_a_footnote(void **state)
{
    struct fb_result *result = *state;
    rendering_set(&result->cells[SAMPLE_JEMALLOC], FB_METRIC_DRIFT, 1.5, 1.5, 1.5);
    char *text = rendering_table(result, 0, false);
    assert_says(text, " n/a¹ ");
    assert_says(text, "\n¹ fewer than 40 iterations\n");
    assert_says(text, "  1.50");
    free(text);
}

static void timing_says_why_it_is_missing(void **state)
{
    struct fb_result *result = *state;
    for (size_t i = 0; i < result->cell_count; i++) {
        result->cells[i].timing.done = false;
        result->cells[i].summary[FB_METRIC_NS_PER_OP].n = 0;
    }
    char *off = rendering_table(result, 0, false);
    assert_says(off, "n/a: time per call, p99 latency (timing pass off).\n");
    result->cells[SAMPLE_PTMALLOC2].timing.status = FB_STATUS_TIMEOUT;
    char *failed = rendering_table(result, 0, false);
    assert_says(failed, " timing pass failed\n");
    assert_says(failed, "Note: ptmalloc2: timing pass failed.\n");
    free(off);
    free(failed);
}

/* The smallest value keeps its digits: 4.2 ms a call beside 38 ms are shown in µs. */
static void long_times_are_shown_in_larger_units(void **state)
{
    struct fb_result *result = *state;
    static const struct {
        double fast_ns, slow_ns;
        const char *unit, *fast, *slow;
    } rows[] = {
        {4201670, 38021917, "µs/op", " 4202", " 38022"},
        {42016700, 380219170, "ms/op", " 42", " 380"},
        {99999, 38021917, "ns/op", " 99999", " 38021917"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (size_t k = 0; k < result->cell_count; k++)
            rendering_set(&result->cells[k], FB_METRIC_NS_PER_OP, rows[i].slow_ns, rows[i].slow_ns,
                          rows[i].slow_ns);
        rendering_set(&result->cells[SAMPLE_JEMALLOC], FB_METRIC_NS_PER_OP, rows[i].fast_ns,
                      rows[i].fast_ns, rows[i].fast_ns);
        char *text = rendering_table(result, 0, false);
        assert_says(text, rows[i].unit);
        assert_says(text, rows[i].fast);
        assert_says(text, rows[i].slow);
        free(text);
    }
}

static void narrow_terminals_lose_the_least_important(void **state)
{
    char *text = rendering_table(*state, 80, false);
    assert_says(text, "Not shown in 80 columns: peak live, phase that kept most.\n");
    for (const char *line = text; *line != '\0' && strncmp(line, "Not", 3) != 0;
         line = strchr(line, '\n') + 1)
        assert_true(strcspn(line, "\n") <= 80 + 20); /* bytes; the heading may be longer */
    free(text);
    char *narrow = rendering_table(*state, 50, false);
    assert_says(narrow, "peak RSS  ratio");
    assert_says(narrow, "refused"); /* status stays while one is not like the others */
    free(narrow);
}

static void prose_is_broken_at_spaces_and_commands_stay_whole(void **state)
{
    char *text = rendering_table(*state, 60, false);
    bool command = false;
    char *prose = strstr(text, "RSS: "); /* the rows above keep a status's whole detail */
    assert_non_null(prose);
    for (char *line = strtok(prose, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        size_t columns = 0;
        for (const char *at = line; *at != '\0'; at++)
            columns += ((unsigned char)*at & 0xC0U) != 0x80U;
        command = command || (line[0] == ' ' && strstr(line, "your-program") != NULL);
        if (line[0] != ' ')
            assert_in_range(columns, 1, 60);
    }
    assert_true(command);
    free(text);
}

static void partial_failures_are_counted(void **state)
{
    struct fb_result *result = *state;
    result->cells[SAMPLE_HUNG].repetitions[0].status = FB_STATUS_OK;
    char *text = rendering_table(result, 0, false);
    assert_says(text, "timeout: no end after 10 min (2 of 3 runs)\n");
    free(text);
}

static void color_is_only_there_when_asked(void **state)
{
    char *plain = rendering_table(*state, 0, false);
    char *colored = rendering_table(*state, 0, true);
    assert_silent(plain, "\033");
    assert_says(colored, "\033[31mtimeout: no end after 10 min\033[0m");
    assert_says(colored, "\033[33mnot installed");
    free(plain);
    free(colored);
}

static void doubts_are_said(void **state)
{
    struct fb_result *result = *state;
    char *sure = rendering_table(result, 0, false);
    assert_silent(sure, "Note:");
    result->cells[SAMPLE_JEMALLOC].clock_proven = false;
    free(result->cells[SAMPLE_PTMALLOC2].layout);
    result->cells[SAMPLE_PTMALLOC2].layout = fb_strdup("random");
    result->cells[SAMPLE_JEMALLOC].repetitions[1].checkpoints[2].huge_bytes = 2 * MIB;
    result->cells[SAMPLE_BUDGETED].repetitions[0].checkpoints[0].swap_bytes = 4096;
    result->host.statm_exact = false;
    result->interrupted = true;
    char *unsure = rendering_table(result, 0, false);
    assert_says(unsure, "Note: jemalloc:dirty_decay_ms=0: clock not proven");
    assert_says(unsure, "Note: ptmalloc2: layout random");
    assert_says(unsure, "Note: jemalloc:dirty_decay_ms=0: huge pages");
    assert_says(unsure, "Note: budgeted: swapped");
    assert_says(unsure, "statm lags");
    assert_says(unsure, "Interrupted: ");
    free(sure);
    free(unsure);
}

static void each_parameter_set_has_its_block(void **state)
{
    struct fb_result *result = *state;
    for (size_t i = 1; i < result->cell_count; i += 2) {
        free(result->cells[i].workload.params[0].value);
        result->cells[i].workload.params[0].value = fb_strdup("512");
    }
    char *text = rendering_table(result, 0, false);
    assert_says(text, "kv-cache-growth (sequences=256)\n");
    assert_says(text, "\n\n\nkv-cache-growth (sequences=512)\n");
    assert_says(text, "Only jemalloc:dirty_decay_ms=0 finished with equal work");
    assert_says(text, "Only ptmalloc2 finished with equal work");
    free(text);
}

static void environment_is(const struct fb_cell *cell, const char *expected)
{
    char *line = fb_table_environment(cell);
    assert_string_equal(line, expected);
    free(line);
}

static void environment_can_be_pasted(void **state)
{
    struct fb_result *result = *state;
    environment_is(&result->cells[SAMPLE_JEMALLOC],
                   "LD_PRELOAD=/usr/lib/libjemalloc.so.2 MALLOC_CONF=dirty_decay_ms:0");
    environment_is(&result->cells[SAMPLE_BUDGETED], "LD_PRELOAD='/opt/my libs/libbudgeted.so'");
    environment_is(&result->cells[SAMPLE_PTMALLOC2], "");
    struct fb_name_value tricky = {.name = NULL};
    char name[] = "X", value[] = "it's $HOME; `id`";
    tricky.name = name;
    tricky.value = value;
    const struct fb_cell cell = {.allocator = {.env = &tricky, .env_count = 1}};
    environment_is(&cell, "X='it'\\''s $HOME; `id`'");
}

int main(void)
{
#define WITH_SAMPLE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        WITH_SAMPLE(heading_says_what_ran_where),
        WITH_SAMPLE(rows_line_up_and_statuses_replace_numbers),
        WITH_SAMPLE(columns_without_values_are_named_with_the_reason),
        WITH_SAMPLE(single_gaps_are_marked_with_a_footnote),
        WITH_SAMPLE(timing_says_why_it_is_missing),
        WITH_SAMPLE(long_times_are_shown_in_larger_units),
        WITH_SAMPLE(narrow_terminals_lose_the_least_important),
        WITH_SAMPLE(prose_is_broken_at_spaces_and_commands_stay_whole),
        WITH_SAMPLE(partial_failures_are_counted),
        WITH_SAMPLE(color_is_only_there_when_asked),
        WITH_SAMPLE(doubts_are_said),
        WITH_SAMPLE(each_parameter_set_has_its_block),
        WITH_SAMPLE(environment_can_be_pasted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
