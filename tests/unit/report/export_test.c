#include "report/export.h"

#include "base/alloc.h"
#include "rendering.h"
#include "result/csv.h"
#include "result/store.h"
#include "sample.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define FIXED 7 /* fields before the metrics */
#define FIELDS (FIXED + 3 * FB_METRIC_COUNT)

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

static void formats_are_found_by_name(void **state)
{
    (void)state;
    for (size_t i = 0; i < fb_export_count; i++)
        assert_ptr_equal(fb_export_find(fb_exports[i].name), &fb_exports[i]);
    assert_null(fb_export_find("xml"));
    assert_int_equal(fb_export_count, 10);
}

static void text_is_the_plain_unlimited_table(void **state)
{
    char *export = rendering_export(*state, "text"), *table = rendering_table(*state, 0, false);
    assert_string_equal(export, table);
    free(export);
    free(table);
}

static void json_is_the_document_itself(void **state)
{
    char *export = rendering_export(*state, "json"), *document = fb_store_text(*state);
    assert_string_equal(export, document);
    free(export);
    free(document);
}

/* Line `index` split into fields; the line's memory is *line. */
static void split_line(const char *text, size_t index, char **line, char *fields[FIELDS])
{
    for (; index > 0; index--)
        text = strchr(text, '\n') + 1;
    *line = strndup(text, strcspn(text, "\n"));
    assert_int_equal(fb_csv_split(*line, fields, FIELDS), FIELDS);
}

static void csv_has_a_column_for_every_metric(void **state)
{
    char *text = rendering_export(*state, "csv"), *line = NULL;
    char *fields[FIELDS];
    split_line(text, 0, &line, fields);
    assert_string_equal(fields[0], "id");
    for (int i = 0; i < FB_METRIC_COUNT; i++)
        assert_string_equal(fields[FIXED + 3 * i], fb_metrics[i].name);
    assert_string_equal(fields[FIXED + 2], "peak_footprint_bytes_max");
    free(line);
    free(text);
}

static void csv_has_a_row_for_every_cell(void **state)
{
    char *text = rendering_export(*state, "csv"), *line = NULL;
    char *fields[FIELDS];
    size_t at = FIXED + 3 * FB_METRIC_PEAK_FOOTPRINT_BYTES;
    split_line(text, 1 + SAMPLE_JEMALLOC, &line, fields);
    assert_string_equal(fields[1], "kv-cache-growth");
    assert_string_equal(fields[2], "sequences=256");
    assert_string_equal(fields[3], "jemalloc:dirty_decay_ms=0");
    assert_string_equal(fields[5], "ok");
    assert_string_equal(fields[at], "346030080");
    assert_string_equal(fields[at + 1], "335544320");
    assert_string_equal(fields[at + 2], "356515840");
    free(line);
    split_line(text, 1 + SAMPLE_MISSING, &line, fields);
    assert_string_equal(fields[5], "not-installed");
    for (size_t i = FIXED; i < FIELDS; i++)
        assert_string_equal(fields[i], ""); /* never a zero */
    free(line);
    free(text);
}

static void csv_cells_cannot_be_formulas(void **state)
{
    struct fb_result *result = *state;
    char *fields[FIELDS], *line = NULL;
    free(result->cells[0].allocator.name);
    result->cells[0].allocator.name = fb_strdup("=HYPERLINK(\"x\",\"y\")");
    char *text = rendering_export(result, "csv");
    assert_says(text, ",\"'=HYPERLINK(\"\"x\"\",\"\"y\"\")\",");
    split_line(text, 1, &line, fields);
    assert_string_equal(fields[3], "'=HYPERLINK(\"x\",\"y\")");
    free(line);
    free(text);
}

static void csv_leaves_negative_numbers_alone(void **state)
{
    struct fb_result *result = *state;
    rendering_set(&result->cells[0], FB_METRIC_KEPT_BYTES, -5, -6, -4);
    char *text = rendering_export(result, "csv");
    assert_says(text, ",-5,-6,-4,");
    free(text);
}

static void markdown_has_table_verdict_and_command(void **state)
{
    char *text = rendering_export(*state, "markdown");
    assert_says(text, "### kv-cache-growth (sequences=256)\n\n");
    assert_says(text, "| ptmalloc2 | ok | 900.0 | 300.0 | 3.00 |  | 600.0 | serve | 44.0 |\n");
    assert_says(text, "\n- Least memory at its peak: ");
    assert_says(text, "\n  `` LD_PRELOAD=/usr/lib/libjemalloc.so.2 ");
    free(text);
}

static void markdown_names_cannot_be_markup(void **state)
{
    struct fb_result *result = *state;
    free(result->cells[0].allocator.name);
    result->cells[0].allocator.name = fb_strdup("<img src=x>|*");
    char *text = rendering_export(result, "markdown");
    assert_says(text, "| \\<img src=x\\>\\|\\* | ok |");
    assert_says(text, "at its peak: \\<img src=x\\>\\|\\*, 330 MiB");
    free(text);
}

int main(void)
{
#define WITH_SAMPLE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formats_are_found_by_name),
        WITH_SAMPLE(text_is_the_plain_unlimited_table),
        WITH_SAMPLE(json_is_the_document_itself),
        WITH_SAMPLE(csv_has_a_column_for_every_metric),
        WITH_SAMPLE(csv_has_a_row_for_every_cell),
        WITH_SAMPLE(csv_cells_cannot_be_formulas),
        WITH_SAMPLE(csv_leaves_negative_numbers_alone),
        WITH_SAMPLE(markdown_has_table_verdict_and_command),
        WITH_SAMPLE(markdown_names_cannot_be_markup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
