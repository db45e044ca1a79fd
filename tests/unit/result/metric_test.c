#include "result/metric.h"

#include "base/alloc.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void every_row_is_complete(void **state)
{
    (void)state;
    for (int i = 0; i < FB_METRIC_COUNT; i++) {
        const struct fb_metric_info *metric = &fb_metrics[i];
        assert_non_null(metric->name);
        for (const char *at = metric->name; *at != '\0'; at++)
            assert_true(islower((unsigned char)*at) || isdigit((unsigned char)*at) || *at == '_');
        assert_true(strlen(metric->title) > 0);
        assert_true(strlen(metric->help) > 20);
        assert_int_equal(metric->help[strlen(metric->help) - 1], '.');
        assert_non_null(metric->source);
    }
}

static void units_are_known_and_end_the_names(void **state)
{
    static const char *const units[] = {"bytes", "ratio", "ns", "s", "count", "byte_seconds"};
    (void)state;
    for (int i = 0; i < FB_METRIC_COUNT; i++) {
        size_t unit = 0;
        while (unit < 6 && strcmp(units[unit], fb_metrics[i].unit) != 0)
            unit++;
        assert_true(unit < 6);
        if (strcmp(fb_metrics[i].unit, "bytes") == 0)
            assert_non_null(strstr(fb_metrics[i].name, "_bytes"));
    }
}

static void find_knows_every_name_once(void **state)
{
    (void)state;
    for (int i = 0; i < FB_METRIC_COUNT; i++)
        assert_int_equal(fb_metric_find(fb_metrics[i].name), i);
    assert_int_equal(fb_metric_find("fragmentation"), FB_METRIC_COUNT);
}

static void classic_measures_name_their_paper(void **state)
{
    static const enum fb_metric measures[] = {FB_METRIC_RATIO_MEAN, FB_METRIC_RATIO_AT_PEAK_LIVE,
                                              FB_METRIC_RATIO_AT_PEAK_FOOTPRINT,
                                              FB_METRIC_RATIO_PEAK};
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        char *end = fb_format("measure %zu", i + 1);
        const char *source = fb_metrics[measures[i]].source;
        assert_non_null(strstr(source, "Johnstone and Wilson"));
        assert_string_equal(source + strlen(source) - strlen(end), end);
        free(end);
    }
}

static void timing_is_never_exact(void **state)
{
    (void)state;
    for (int i = 0; i < FB_METRIC_COUNT; i++)
        assert_false(fb_metrics[i].timing && fb_metrics[i].exact);
    assert_true(fb_metrics[FB_METRIC_NS_PER_OP].timing);
    assert_true(fb_metrics[FB_METRIC_KEPT_BYTES].exact);
}

static char *read_docs(void)
{
    FILE *file = fopen(FB_SOURCE_DIR "/docs/metrics.md", "re");
    assert_non_null(file);
    char *text = fb_alloc(1 << 20, 1);
    size_t size = fread(text, 1, (1 << 20) - 1, file);
    (void)fclose(file);
    assert_true(size > 0);
    return text;
}

static void docs_have_a_row_for_every_metric(void **state)
{
    (void)state;
    char *docs = read_docs();
    for (int i = 0; i < FB_METRIC_COUNT; i++) {
        char *row = fb_format("| `%s` | %s |", fb_metrics[i].name, fb_metrics[i].unit);
        if (strstr(docs, row) == NULL)
            fail_msg("docs/metrics.md has no row \"%s\"", row);
        free(row);
    }
    free(docs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_is_complete),
        cmocka_unit_test(units_are_known_and_end_the_names),
        cmocka_unit_test(find_knows_every_name_once),
        cmocka_unit_test(classic_measures_name_their_paper),
        cmocka_unit_test(timing_is_never_exact),
        cmocka_unit_test(docs_have_a_row_for_every_metric),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
