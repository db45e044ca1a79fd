/* Which limit holds for which contender, and which names are refused. */
#include "commands/limits.h"

#include "base/alloc.h"

#include <string.h>

// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on

static char jemalloc[] = "jemalloc", glibc[] = "glibc", old[] = "old", typo[] = "jemaloc",
            tuned[] = "jemalloc:dirty_decay_ms=0", wrong[] = "jemalloc:dirty_decay=0",
            wrapped[] = "budgeted+jemalloc", several[] = "jemalloc,mimalloc";

static double limit_of(const struct fb_workload *workload, const char *label, const char *backend)
{
    struct fb_cell cell = {0};
    char name[64];
    (void)strcpy(name, label);
    const struct fb_contender contender = {
        .label = name, .backend = backend != NULL ? fb_backend_find(backend) : NULL};
    fb_limits_fill(&cell, workload->limits, workload->limit_count, &contender);
    double max = cell.limit_count > 0 ? cell.limits[0].max : -1;
    assert_true(cell.limit_count <= 1);
    fb_cell_deinit(&cell);
    return max;
}

static void closest_name_counts(void **state)
{
    (void)state;
    struct fb_workload_limit limits[] = {
        {.metric = FB_METRIC_RATIO_PEAK, .max = 3, .line = 4},
        {.allocator = jemalloc, .metric = FB_METRIC_RATIO_PEAK, .max = 5},
        {.allocator = tuned, .metric = FB_METRIC_RATIO_PEAK, .max = 7},
        {.allocator = old, .metric = FB_METRIC_RATIO_PEAK, .max = 9},
        {.allocator = glibc, .metric = FB_METRIC_RATIO_PEAK, .max = 11},
    };
    const struct fb_workload workload = {.limits = limits, .limit_count = 5};
    assert_true(limit_of(&workload, "mimalloc", "mimalloc") == 3);
    assert_true(limit_of(&workload, "jemalloc", "jemalloc") == 5);
    assert_true(limit_of(&workload, "jemalloc:narenas=1", "jemalloc") == 5);
    assert_true(limit_of(&workload, "jemalloc:dirty_decay_ms=0", "jemalloc") == 7);
    assert_true(limit_of(&workload, "old", NULL) == 9);
    assert_true(limit_of(&workload, "ptmalloc2", "ptmalloc2") == 11);
    assert_true(limit_of(&workload, "null", "null") == -1);
}

static void strictest_of_the_equally_close_counts(void **state)
{
    (void)state;
    struct fb_workload_limit limits[] = {
        {.allocator = jemalloc, .metric = FB_METRIC_RATIO_PEAK, .max = 5},
        {.allocator = jemalloc, .metric = FB_METRIC_RATIO_PEAK, .max = 4},
        {.allocator = jemalloc, .metric = FB_METRIC_RATIO_PEAK, .max = 6},
    };
    const struct fb_workload workload = {.limits = limits, .limit_count = 3};
    assert_true(limit_of(&workload, "jemalloc", "jemalloc") == 4);
}

static int check(char *name, struct fb_buf *faults)
{
    static char file[] = "no-such-file.yaml";
    struct fb_error err = {0};
    struct fb_contender contender = {.label = old};
    struct fb_contenders contenders = {&contender, 1};
    struct fb_workload_limit limit = {.allocator = name, .metric = FB_METRIC_RATIO_PEAK};
    limit.named.line = 3;
    limit.named.column = 5;
    struct fb_workload workload = {.file = file, .limits = &limit, .limit_count = 1};
    struct fb_plan_unit unit = {.workload = &workload};
    const struct fb_plan plan = {.units = &unit, .count = 1};
    fb_buf_init(faults, 10000);
    int status = fb_limits_check(&plan, &contenders, faults, &err);
    assert_int_equal(err.kind, status == 0 ? FB_ERROR_NONE : FB_ERROR_INPUT);
    return status;
}

static void names_of_allocators_and_contenders_pass(void **state)
{
    (void)state;
    char *const names[] = {NULL, jemalloc, glibc, old, tuned, wrapped};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct fb_buf faults;
        assert_int_equal(check(names[i], &faults), 0);
        assert_int_equal(faults.length, 0);
        fb_buf_deinit(&faults);
    }
}

static void other_names_are_faults_with_place_and_advice(void **state)
{
    (void)state;
    static char stranger[] = "xyzzy";
    static const struct {
        char *name;
        const char *says;
    } cases[] = {
        {typo, "no-such-file.yaml:3:5: limits names the unknown allocator \"jemaloc\"; did you "
               "mean \"jemalloc\"? [unknown-allocator]"},
        {stranger, "add -a xyzzy=/path/lib.so or remove the limit"},
        {wrong, "its tunables are those of `fragbench list allocators NAME`"},
        {several, "unknown allocator \"jemalloc,mimalloc\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fb_buf faults;
        assert_int_equal(check(cases[i].name, &faults), -1);
        if (strstr(faults.text, cases[i].says) == NULL)
            fail_msg("no \"%s\" in %s", cases[i].says, faults.text);
        fb_buf_deinit(&faults);
    }
}

static void the_command_line_counts_after_the_file(void **state)
{
    (void)state;
    struct fb_workload_limit file[] = {{.metric = FB_METRIC_RATIO_PEAK, .max = 3, .line = 4},
                                       {.metric = FB_METRIC_KEPT_BYTES, .max = 100, .line = 5}};
    struct fb_workload_limit given[] = {{.metric = FB_METRIC_RATIO_PEAK, .max = 9},
                                        {.metric = FB_METRIC_END_FOOTPRINT_BYTES, .max = 7}};
    const struct fb_contender contender = {.label = jemalloc,
                                           .backend = fb_backend_find("jemalloc")};
    struct fb_cell cell = {0};
    fb_limits_fill(&cell, file, 2, &contender);
    fb_limits_fill(&cell, given, 2, &contender);
    assert_int_equal(cell.limit_count, 3);
    double max[FB_METRIC_COUNT] = {0};
    for (size_t i = 0; i < cell.limit_count; i++)
        max[cell.limits[i].metric] = cell.limits[i].max;
    assert_true(max[FB_METRIC_RATIO_PEAK] == 9);
    assert_true(max[FB_METRIC_KEPT_BYTES] == 100);
    assert_true(max[FB_METRIC_END_FOOTPRINT_BYTES] == 7);
    fb_cell_deinit(&cell);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closest_name_counts),
        cmocka_unit_test(strictest_of_the_equally_close_counts),
        cmocka_unit_test(the_command_line_counts_after_the_file),
        cmocka_unit_test(names_of_allocators_and_contenders_pass),
        cmocka_unit_test(other_names_are_faults_with_place_and_advice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
