/* The ranked table of sweeps, and what results say of shards and machines. */
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

static void replace(char **text, const char *value)
{
    free(*text);
    *text = fb_strdup(value);
}

/* ptmalloc2's cell becomes a second jemalloc. */
static void make_sweep(struct fb_result *result)
{
    struct fb_cell *cell = &result->cells[SAMPLE_PTMALLOC2];
    replace(&cell->allocator.name, "jemalloc:dirty_decay_ms=9");
    replace(&cell->allocator.spec, "jemalloc:dirty_decay_ms=9");
    replace(&cell->allocator.backend, "jemalloc");
    replace(&cell->allocator.path, "/opt/my libs/libjemalloc.so");
}

static void a_plain_run_has_no_ranking(void **state)
{
    char *text = rendering_table(*state, 0, false);
    assert_silent(text, "rank ");
    assert_says(text, "To use jemalloc:dirty_decay_ms=0");
    free(text);
}

static void a_sweep_ends_with_ranks_and_settings(void **state)
{
    make_sweep(*state);
    char *text = rendering_table(*state, 0, false);
    assert_says(
        text,
        "rank     contender                  peak RSS                  kept  end RSS   time\n"
        "                                         MiB  (layouts)        MiB      MiB  ns/op\n"
        "   1  *  jemalloc:dirty_decay_ms=0     330.0  (320.0–340.0)   10.0     60.0   55.0\n"
        "   2  *  jemalloc:dirty_decay_ms=9     900.0                 600.0    650.0   44.0\n");
    assert_says(text, "Ranked by peak RSS; equal ranks: within 2 % or overlapping over the "
                      "layouts.\n"
                      "*: on the Pareto front of peak RSS and time");
    assert_says(text,
                "Not ranked: budgeted (refused), hung (timeout), mimalloc (not-installed).\n");
    assert_says(text,
                "Least memory: jemalloc:dirty_decay_ms=0. To measure it again, and to use it:\n"
                "  -a jemalloc:dirty_decay_ms=0\n"
                "  LD_PRELOAD=/usr/lib/libjemalloc.so.2 MALLOC_CONF=dirty_decay_ms:0 "
                "your-program\n");
    assert_says(text,
                "Fastest on the front: jemalloc:dirty_decay_ms=9. To measure it again, and to "
                "use it:\n"
                "  -a jemalloc:dirty_decay_ms=9\n"
                "  LD_PRELOAD='/opt/my libs/libjemalloc.so' your-program\n");
    assert_silent(text, "To use jemalloc"); /* said once */
    free(text);
}

static void markdown_has_the_ranking_too(void **state)
{
    make_sweep(*state);
    char *text = rendering_export(*state, "markdown");
    assert_says(text,
                "| rank |  | contender | peak RSS, MiB | (layouts) | kept, MiB | end RSS, MiB "
                "| time, ns/op |\n");
    assert_says(text,
                "| 1 | \\* | jemalloc:dirty_decay_ms=0 | 330.0 | (320.0–340.0) | 10.0 | 60.0 | "
                "55.0 |\n");
    assert_says(text, "  - `` -a jemalloc:dirty_decay_ms=9 ``\n");
    free(text);
}

static void without_times_only_memory_is_ranked_and_it_says_so(void **state)
{
    struct fb_result *result = *state;
    make_sweep(result);
    for (size_t i = 0; i < result->cell_count; i++)
        result->cells[i].summary[FB_METRIC_NS_PER_OP].n = 0;
    char *text = rendering_table(result, 0, false);
    assert_says(text, "No Pareto front: memory only, times were not measured.\n");
    assert_silent(text, "Fastest on the front");
    free(text);
}

/* A hundred settings, each 1 % behind the last: a screenful and the front, the rest counted. */
static void a_wide_sweep_shows_a_screenful(void **state)
{
    struct fb_result *result = *state;
    make_sweep(result);
    struct fb_cell *cells = fb_alloc(100, sizeof *cells);
    for (size_t i = 0; i < 100; i++) {
        cells[i] = result->cells[SAMPLE_PTMALLOC2];
        double peak = 900.0 * pow(1.03, (double)i) * (double)MIB;
        rendering_set(&cells[i], FB_METRIC_PEAK_FOOTPRINT_BYTES, peak, peak, peak);
        rendering_set(&cells[i], FB_METRIC_NS_PER_OP, i == 99 ? 5 : 44, 44, 44);
    }
    struct fb_result wide = *result;
    wide.cells = cells;
    wide.cell_count = 100;
    char *text = rendering_table(&wide, 80, false);
    const char *ranking = strstr(text, "rank ");
    assert_non_null(ranking);
    assert_says(ranking, "\n  24     jemalloc");
    assert_silent(ranking, "\n  25     jemalloc");
    assert_says(ranking, "\n 100  *  jemalloc");
    assert_says(ranking, "75 more of 100 are not shown here");
    free(text);
    free(cells);
}

static void a_shard_says_that_it_is_one(void **state)
{
    struct fb_result *result = *state;
    result->shard = (struct fb_shard){2, 3, 14, result->shard.plan};
    char *text = rendering_table(result, 0, false);
    assert_says(text, "\nShard 2 of 3, 5 of 14 cells: `fragbench merge` joins the shards");
    free(text);
}

static void times_of_two_machines_are_not_ranked(void **state)
{
    struct fb_result *result = *state;
    make_sweep(result);
    sample_result_merge(result);
    char *text = rendering_table(result, 0, false);
    assert_says(text, "Merged from 2 of 2 shards, run on 2 machines.\n");
    assert_says(text, "Note: times are not to be compared with one another: they were taken on "
                      "different machines.\n");
    assert_says(text, "Speed: not compared, since they were taken on different machines.\n");
    assert_says(text, "No Pareto front: memory only, they were taken on different machines.\n");
    free(text);
}

/* The first ran until 03:09, the second from 03:10 on. */
static void one_machine_at_different_times_compares(void **state)
{
    struct fb_result *result = *state;
    sample_result_merge(result);
    replace(&result->parts[1].host.boot, SAMPLE_BOOT);
    char *text = rendering_table(result, 0, false);
    assert_says(text, "run on 1 machine.\n");
    assert_silent(text, "not to be compared");
    free(text);
    replace(&result->parts[1].started, "2025-01-02T03:08:00Z");
    text = rendering_table(result, 0, false);
    assert_says(text, "they were taken in runs that shared a machine at the same time");
    free(text);
}

static void ranges_say_what_they_run_over(void **state)
{
    struct fb_result *result = *state;
    struct fb_cell *cell = &result->cells[SAMPLE_JEMALLOC];
    for (size_t i = 0; i < result->cell_count; i++) /* two seeds of one layout, one of another */
        for (size_t r = 0; r < result->cells[i].repetition_count; r++)
            result->cells[i].repetitions[r].seed = r == 2 ? 43 : 42;
    cell->repetitions[2].layout = 0;
    for (size_t i = 1; i < result->cell_count; i++)
        if (result->cells[i].repetition_count > 0)
            result->cells[i].repetitions[2].layout = 0;
    char *text = rendering_table(result, 0, false);
    assert_says(text, "lockstep order, 2 layouts × 2 seeds, 3 runs each;");
    assert_says(text, "(layouts, seeds)");
    /* 330 and 320 MiB over two layouts, 330 and 340 over two seeds; the median is 330. */
    assert_says(text, "Peak RSS moves with the rest held still: over layouts by up to 3.0 % "
                      "(jemalloc:dirty_decay_ms=0), over seeds by up to 3.0 % "
                      "(jemalloc:dirty_decay_ms=0).\n");
    free(text);
}

#define WITH_SAMPLE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_SAMPLE(a_plain_run_has_no_ranking),
        WITH_SAMPLE(a_sweep_ends_with_ranks_and_settings),
        WITH_SAMPLE(markdown_has_the_ranking_too),
        WITH_SAMPLE(without_times_only_memory_is_ranked_and_it_says_so),
        WITH_SAMPLE(a_wide_sweep_shows_a_screenful),
        WITH_SAMPLE(a_shard_says_that_it_is_one),
        WITH_SAMPLE(times_of_two_machines_are_not_ranked),
        WITH_SAMPLE(one_machine_at_different_times_compares),
        WITH_SAMPLE(ranges_say_what_they_run_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
