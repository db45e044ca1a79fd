#include "metrics/ranking.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define MIB 1048576.0
#define CELLS_MAX 8

/* MiB and ns; the peak with its range over the layouts. */
struct line {
    const char *name;
    double low, peak, high, end, time;
};

struct bench {
    struct fb_cell cells[CELLS_MAX];
    struct fb_verdict verdict;
    struct fb_ranking ranking;
};

static void set(struct fb_cell *cell, enum fb_metric metric, double low, double median, double high)
{
    bool there = !isnan(median);
    cell->summary[metric] = (struct fb_summary){there ? 3 : 0, median, low, high};
}

static void fill(struct fb_cell *cell, const struct line *line)
{
    for (int metric = 0; metric < FB_METRIC_COUNT; metric++)
        set(cell, (enum fb_metric)metric, NAN, NAN, NAN);
    cell->id = (char *)(uintptr_t)line->name;
    cell->status = FB_STATUS_OK;
    set(cell, FB_METRIC_PEAK_FOOTPRINT_BYTES, line->low * MIB, line->peak * MIB, line->high * MIB);
    set(cell, FB_METRIC_END_FOOTPRINT_BYTES, line->end * MIB, line->end * MIB, line->end * MIB);
    set(cell, FB_METRIC_NS_PER_OP, line->time, line->time, line->time);
}

static void rank(struct bench *bench, const struct line *lines, size_t count, bool untimed)
{
    memset(bench, 0, sizeof *bench);
    for (size_t i = 0; i < count; i++)
        fill(&bench->cells[i], &lines[i]);
    fb_verdict_init(&bench->verdict, bench->cells, count);
    bench->verdict.untimed = untimed;
    fb_ranking_init(&bench->ranking, &bench->verdict);
}

static void bench_deinit(struct bench *bench)
{
    fb_ranking_deinit(&bench->ranking);
    fb_verdict_deinit(&bench->verdict);
}

/* "1*a 2b": rank, front, name. */
static void assert_ranking(const struct fb_ranking *ranking, const char *expected)
{
    char text[256] = "";
    for (size_t i = 0; i < ranking->count; i++) {
        size_t used = strlen(text);
        (void)snprintf(text + used, sizeof text - used, "%s%u%s%s", i > 0 ? " " : "",
                       ranking->items[i].rank, ranking->items[i].front ? "*" : "",
                       ranking->items[i].cell->id);
    }
    assert_string_equal(text, expected);
}

static void front_is_what_nothing_beats_in_both(void **state)
{
    static const struct line lines[] = {
        {"wasteful-slow", 300, 300, 300, 10, 90}, {"thrifty-slow", 100, 100, 100, 10, 80},
        {"middle", 200, 200, 200, 10, 60},        {"wasteful-fast", 400, 400, 400, 10, 40},
        {"middle-slow", 200, 200, 200, 10, 85},
    };
    struct bench bench;
    (void)state;
    rank(&bench, lines, 5, false);
    assert_ranking(&bench.ranking, "1*thrifty-slow 2*middle 2middle-slow 4wasteful-slow "
                                   "5*wasteful-fast");
    assert_string_equal(fb_ranking_fastest(&bench.ranking)->id, "wasteful-fast");
    assert_string_equal(fb_ranking_best(&bench.verdict)->id, "thrifty-slow");
    bench_deinit(&bench);
}

static void overlapping_ensembles_share_a_rank(void **state)
{
    static const struct line lines[] = {
        {"a", 320, 330, 340, 10, 50},
        {"b", 345, 345, 345, 10, 50},
        {"c", 335, 350, 375, 10, 40},
        {"d", 500, 500, 500, 10, 40},
    };
    struct bench bench;
    (void)state;
    rank(&bench, lines, 4, false);
    /* c reaches down to a, b does not; of those that are equal the faster comes first. */
    assert_ranking(&bench.ranking, "1*c 1a 3b 4d");
    bench_deinit(&bench);
}

static void equal_memory_goes_to_the_faster_on_the_front(void **state)
{
    static const struct line lines[] = {
        {"a", 100, 100, 100, 10, 50},
        {"b", 101, 101, 101, 10, 45},
        {"c", 101, 101, 101, 10, 46},
    };
    struct bench bench;
    (void)state;
    rank(&bench, lines, 3, false);
    /* 46 ns against 45 is within 5 %, 50 is not. */
    assert_ranking(&bench.ranking, "1*b 1*c 1a");
    bench_deinit(&bench);
}

static void the_end_decides_before_speed(void **state)
{
    static const struct line lines[] = {
        {"keeps", 100, 100, 100, 90, 20},
        {"returns", 101, 101, 101, 10, 50},
    };
    struct bench bench;
    (void)state;
    rank(&bench, lines, 2, false);
    /* The front is one of peaks and times, and knows nothing of the end. */
    assert_ranking(&bench.ranking, "1returns 1*keeps");
    bench_deinit(&bench);
}

static void without_times_there_is_no_front(void **state)
{
    static const struct line lines[] = {
        {"a", 200, 200, 200, 10, NAN},
        {"b", 100, 100, 100, 10, NAN},
    };
    struct bench bench;
    (void)state;
    rank(&bench, lines, 2, false);
    assert_false(bench.ranking.timed);
    assert_null(fb_ranking_fastest(&bench.ranking));
    assert_ranking(&bench.ranking, "1b 2a");
    bench_deinit(&bench);
}

static void times_that_do_not_compare_decide_nothing(void **state)
{
    static const struct line lines[] = {
        {"a", 100, 100, 100, 10, 90},
        {"b", 101, 101, 101, 10, 10},
    };
    struct bench bench;
    (void)state;
    rank(&bench, lines, 2, true);
    assert_false(bench.ranking.timed);
    assert_ranking(&bench.ranking, "1a 1b");
    bench_deinit(&bench);
}

static void a_contender_without_a_time_is_ranked_but_on_no_front(void **state)
{
    static const struct line lines[] = {
        {"a", 200, 200, 200, 10, 40},
        {"b", 100, 100, 100, 10, NAN},
    };
    struct bench bench;
    (void)state;
    rank(&bench, lines, 2, false);
    assert_ranking(&bench.ranking, "1b 2*a");
    bench_deinit(&bench);
}

static void set_backends(struct fb_cell *cells, size_t count, const char *const *backends)
{
    memset(cells, 0, count * sizeof *cells);
    for (size_t i = 0; i < count; i++)
        cells[i].allocator.backend = (char *)(uintptr_t)backends[i];
}

static void worth_a_ranking_are_sweeps_and_crowds(void **state)
{
    static const char *const mixed[] = {"jemalloc", "ptmalloc2", "tcmalloc", "", ""};
    static const char *const swept[] = {"ptmalloc2", "jemalloc", "jemalloc"};
    static const char *const crowd[] = {"a", "b", "c", "d", "", "", "", ""};
    struct fb_cell cells[CELLS_MAX];
    (void)state;
    set_backends(cells, 5, mixed);
    assert_false(fb_ranking_worth(cells, 5));
    set_backends(cells, 3, swept);
    assert_true(fb_ranking_worth(cells, 3));
    set_backends(cells, 8, crowd);
    assert_true(fb_ranking_worth(cells, 8));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(front_is_what_nothing_beats_in_both),
        cmocka_unit_test(overlapping_ensembles_share_a_rank),
        cmocka_unit_test(equal_memory_goes_to_the_faster_on_the_front),
        cmocka_unit_test(the_end_decides_before_speed),
        cmocka_unit_test(without_times_there_is_no_front),
        cmocka_unit_test(times_that_do_not_compare_decide_nothing),
        cmocka_unit_test(a_contender_without_a_time_is_ranked_but_on_no_front),
        cmocka_unit_test(worth_a_ranking_are_sweeps_and_crowds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
