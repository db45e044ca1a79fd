/* limits: what is read from well-formed ones; the faults of others are in tests/data/malformed. */
#include "base/alloc.h"
#include "parsing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define HEAD                                            \
    "fragbench: 1\nname: test\nparams: {most: 400MiB, " \
    "own: {ratio_peak: 1.2}}\n"                         \
    "objects: {x: {size: 1, lifetime: run}}\nphases: [{name: a, allocate: {x: 1}}]\n"

static void limit_is(const struct fb_workload_limit *limit, const char *allocator,
                     enum fb_metric metric, double max, size_t line)
{
    if (allocator == NULL)
        assert_null(limit->allocator);
    else
        assert_string_equal(limit->allocator, allocator);
    assert_int_equal(limit->metric, metric);
    assert_true(limit->max >= max && limit->max <= max);
    assert_int_equal(limit->line, line);
}

static void units_follow_from_the_metric(void **state)
{
    (void)state;
    struct fb_workload *workload = parse_well(HEAD "limits:\n"
                                                   "  ratio_peak: 1.5\n"
                                                   "  kept_bytes: 1.5GiB\n"
                                                   "  ns_per_op: 2us\n"
                                                   "  user_s: 1500ms\n"
                                                   "  mappings_max: 65530\n"
                                                   "  waste_byte_seconds: 10GiB\n"
                                                   "  drift: 0\n",
                                              NULL, 0);
    assert_int_equal(workload->limit_count, 7);
    limit_is(&workload->limits[0], NULL, FB_METRIC_RATIO_PEAK, 1.5, 7);
    limit_is(&workload->limits[1], NULL, FB_METRIC_KEPT_BYTES, 1610612736, 8);
    limit_is(&workload->limits[2], NULL, FB_METRIC_NS_PER_OP, 2000, 9);
    limit_is(&workload->limits[3], NULL, FB_METRIC_USER_S, 1.5, 10);
    limit_is(&workload->limits[4], NULL, FB_METRIC_MAPPINGS_MAX, 65530, 11);
    limit_is(&workload->limits[5], NULL, FB_METRIC_WASTE_BYTE_SECONDS, 10737418240.0, 12);
    limit_is(&workload->limits[6], NULL, FB_METRIC_DRIFT, 0, 13);
    fb_workload_free(workload);
}

static void mappings_belong_to_allocators(void **state)
{
    (void)state;
    struct fb_workload *workload =
        parse_well(HEAD "limits:\n"
                        "  end_footprint_bytes: $most\n"
                        "  jemalloc: {ratio_peak: 1.2, kept_bytes: 1MiB}\n"
                        "  \"jemalloc:dirty_decay_ms=0\": $own\n",
                   NULL, 0);
    assert_int_equal(workload->limit_count, 4);
    limit_is(&workload->limits[0], NULL, FB_METRIC_END_FOOTPRINT_BYTES, 419430400, 7);
    limit_is(&workload->limits[1], "jemalloc", FB_METRIC_RATIO_PEAK, 1.2, 8);
    limit_is(&workload->limits[2], "jemalloc", FB_METRIC_KEPT_BYTES, 1048576, 8);
    limit_is(&workload->limits[3], "jemalloc:dirty_decay_ms=0", FB_METRIC_RATIO_PEAK, 1.2, 3);
    assert_int_equal(workload->limits[1].named.line, 8);
    assert_int_equal(workload->limits[1].named.column, 3);
    assert_int_equal(workload->limits[1].named.length, strlen("jemalloc"));
    fb_workload_free(workload);
}

static void overrides_reach_limits(void **state)
{
    (void)state;
    const struct fb_override override = {"own", "{kept_bytes: 2MiB}"};
    struct fb_workload *workload = parse_well(HEAD "limits: {mine: $own}\n", &override, 1);
    assert_int_equal(workload->limit_count, 1);
    limit_is(&workload->limits[0], "mine", FB_METRIC_KEPT_BYTES, 2097152, 0);
    fb_workload_free(workload);
    const struct fb_override wrong = {"own", "{kept: 2MiB}"};
    char *faults = parse_badly(HEAD "limits: {mine: $own}\n", &wrong, 1);
    assert_non_null(strstr(faults, "-L own: unknown metric \"kept\" in limits of \"mine\""));
    free(faults);
}

static void no_limits_are_none(void **state)
{
    (void)state;
    struct fb_workload *workload = parse_well(HEAD, NULL, 0);
    assert_int_equal(workload->limit_count, 0);
    fb_workload_free(workload);
    workload = parse_well(HEAD "limits: {}\n", NULL, 0);
    assert_int_equal(workload->limit_count, 0);
    fb_workload_free(workload);
}

static void given_is(const char *text, const char *allocator, enum fb_metric metric, double max)
{
    struct fb_workload_limit limit;
    struct fb_error err = {0};
    if (fb_workload_limit_parse(text, &limit, &err) != 0)
        fail_msg("%s", err.text);
    limit_is(&limit, allocator, metric, max, 0);
    free(limit.allocator);
}

static void given_fails(const char *text, const char *expected)
{
    struct fb_workload_limit limit;
    struct fb_error err = {0};
    assert_int_equal(fb_workload_limit_parse(text, &limit, &err), -1);
    assert_null(limit.allocator);
    if (strstr(err.text, expected) == NULL)
        fail_msg("%s: %s, expected %s", text, err.text, expected);
}

static void limits_of_a_command_line(void **state)
{
    (void)state;
    given_is("peak_footprint_bytes=400MiB", NULL, FB_METRIC_PEAK_FOOTPRINT_BYTES, 400 << 20);
    given_is("jemalloc:ratio_peak=1.25", "jemalloc", FB_METRIC_RATIO_PEAK, 1.25);
    given_is("jemalloc:dirty_decay_ms=0,narenas=1:wall_s=1500ms",
             "jemalloc:dirty_decay_ms=0,narenas=1", FB_METRIC_WALL_S, 1.5);
    given_fails("kept_bytes", "write METRIC=MAX or ALLOCATOR:METRIC=MAX");
    given_fails("=4", "write METRIC=MAX");
    given_fails(":kept_bytes=4", "write METRIC=MAX");
    given_fails("ratio_paek=1", "unknown metric \"ratio_paek\"; did you mean \"ratio_peak\"?");
    given_fails("peak_live_bytes=1", "cannot be limited");
    given_fails("kept_bytes=1X", "kept_bytes takes a size");
    given_fails("kept_bytes=-1", "--limit \"kept_bytes=-1\": ");
    given_fails("kept_bytes=9999999PiB", "--limit \"kept_bytes=9999999PiB\": ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units_follow_from_the_metric),
        cmocka_unit_test(mappings_belong_to_allocators),
        cmocka_unit_test(overrides_reach_limits),
        cmocka_unit_test(no_limits_are_none),
        cmocka_unit_test(limits_of_a_command_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
