/* What the formats say of hand-made documents; that they are well-formed is the affair of
 * tests/formats/validate.py. */
#include "documents.h"
#include "rendering.h"

#include "base/alloc.h"
#include "result/store.h"
#include "sample.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char *run_as(const char *format)
{
    struct sheaf sheaf;
    sheaf_run(&sheaf);
    char *text = sheaf_export(&sheaf, format);
    sheaf_deinit(&sheaf);
    return text;
}

static char *comparison_as(const char *format)
{
    struct sheaf sheaf;
    sheaf_comparison(&sheaf, 2);
    char *text = sheaf_export(&sheaf, format);
    sheaf_deinit(&sheaf);
    return text;
}

static size_t count(const char *text, const char *part)
{
    size_t found = 0;
    for (const char *at = strstr(text, part); at != NULL; at = strstr(at + 1, part))
        found++;
    return found;
}

/* 5 cells, and of the 3 that are done 2 limits each: 2 over, 1 within, 3 n/a. */
static void junit_of_a_run_has_cells_and_limits(void **state)
{
    (void)state;
    char *text = run_as("junit");
    assert_says(text, "<testsuites name=\"fragbench\" tests=\"11\" failures=\"2\" errors=\"1\"");
    assert_says(text, "<testsuite name=\"kv-cache-growth\" tests=\"11\" failures=\"2\" "
                      "errors=\"1\" skipped=\"4\" time=\"15.000\" "
                      "timestamp=\"2025-01-02T03:04:05\">");
    assert_says(text, "name=\"ptmalloc2 (sequences=256) ratio_peak\" time=\"0.000\">\n"
                      "      <failure message=\"kv-cache-growth (sequences=256), ptmalloc2: "
                      "ratio_peak 3.000 is over its limit of 1.050 (in all 3 runs)\" "
                      "type=\"over-limit\">");
    assert_says(text, "\npeak in phase load at 500 ms\nnext: fragbench run "
                      "workloads/kv-cache-growth.yaml -a ptmalloc2 -L sequences=256 --explain<");
    assert_says(text, "<error message=\"kv-cache-growth, hung: timeout: no end after 10 min\" "
                      "type=\"timeout\">");
    assert_says(text, "<system-err>warning: café\n</system-err>");
    assert_says(text, "<skipped message=\"kv-cache-growth, mimalloc: not-installed: ");
    assert_says(text, "value 3 (3 to 3, n=3)\nlimit 1.05\nunit ratio\n");
    free(text);
}

static void junit_of_a_comparison_has_a_case_a_finding(void **state)
{
    (void)state;
    char *text = comparison_as("junit");
    assert_int_equal(count(text, "<testcase "), 2 * FB_JUDGEMENT_COUNT);
    assert_int_equal(count(text, "<failure "), FB_JUDGEMENT_COUNT - 1);
    assert_int_equal(count(text, "<error "), 2);
    assert_int_equal(count(text, "<skipped "), FB_JUDGEMENT_COUNT - 3); /* never shown green */
    assert_says(text, "base 209715200 (199229440 to 220200960, n=3)\n"
                      "new 262144000 (262144000 to 262144000, n=3)\n");
    free(text);
}

static void annotations_put_errors_first_and_escape(void **state)
{
    (void)state;
    char *text = run_as("github");
    assert_says(text, "::error file=workloads/kv-cache-growth.yaml,line=12,"
                      "title=fragbench%3A over-limit::kv-cache-growth (sequences=256), "
                      "jemalloc:dirty_decay_ms=0: ratio_peak 1.100 is over its limit of 1.050 ");
    assert_says(text, "%0Apeak in phase load at 500 ms%0Anext: fragbench run ");
    assert_true(strstr(text, "::notice") > strstr(text, "title=fragbench%3A timeout::"));
    assert_int_equal(count(text, "::error "), 3);
    assert_silent(strstr(text, "::notice"), "::error ");
    free(text);
    struct sheaf sheaf;
    sheaf_run(&sheaf);
    sheaf_make_nasty(&sheaf);
    text = sheaf_export(&sheaf, "github");
    assert_says(text, "%2541%250A::error::boo ,:;=");             /* data */
    assert_says(text, "%2541%250A%3A%3Aerror%3A%3Aboo %2C%3A;="); /* a property */
    free(text);
    sheaf_deinit(&sheaf);
}

static void summary_is_cut_at_a_line_below_the_limit(void **state)
{
    (void)state;
    struct sheaf sheaf;
    sheaf_run(&sheaf);
    char *whole = sheaf_export(&sheaf, "markdown"),
         *summary = sheaf_export(&sheaf, "github-summary");
    assert_string_equal(summary, whole);
    free(summary);
    free(whole);
    for (size_t i = 0; i < 9000; i++) {
        struct fb_finding *finding = fb_findings_add(&sheaf.findings);
        finding->judgement = FB_JUDGED_OVER_LIMIT;
        finding->gates = true;
        finding->cell = &sheaf.results[0].cells[0];
        finding->message = fb_format("finding %zu of very many, with a text of more than a hundred "
                                     "bytes so that they do not fit into a summary",
                                     i);
    }
    summary = sheaf_export(&sheaf, "github-summary");
    assert_true(strlen(summary) <= 1048576 && strlen(summary) > 1040000);
    assert_says(summary, "fit into a summary\n\n\nCut here: GitHub shows at most 1 MiB.");
    free(summary);
    sheaf_deinit(&sheaf);
}

static void gitlab_lists_what_failed_with_a_stable_fingerprint(void **state)
{
    (void)state;
    struct sheaf sheaf;
    sheaf_run(&sheaf);
    char *before = sheaf_export(&sheaf, "gitlab");
    assert_int_equal(count(before, "\"fingerprint\""), 3);
    assert_says(before, "\"check_name\": \"fragbench-over-limit\"");
    assert_says(before, "\"severity\": \"critical\"");
    assert_says(before, "\"path\": \"workloads/kv-cache-growth.yaml\"");
    assert_says(before, "\"begin\": 12\n");
    for (size_t i = 0; i < sheaf.findings.count; i++) {
        free(sheaf.findings.items[i].message);
        sheaf.findings.items[i].message = fb_strdup("other figures");
    }
    char *after = sheaf_export(&sheaf, "gitlab");
    const char *at = before;
    while ((at = strstr(at, "\"fingerprint\": ")) != NULL) {
        char *line = strndup(at, strcspn(at, "\n"));
        assert_says(after, line);
        free(line);
        at++;
    }
    free(after);
    free(before);
    sheaf_deinit(&sheaf);
}

static void openmetrics_has_units_labels_and_an_end(void **state)
{
    (void)state;
    char *text = run_as("openmetrics");
    assert_says(text, "# TYPE fragbench_peak_footprint_bytes gauge\n"
                      "# UNIT fragbench_peak_footprint_bytes bytes\n# HELP ");
    assert_says(text, "fragbench_peak_footprint_bytes{cell=\"kv-cache-growth/ptmalloc2/"
                      "sequences=256\",workload=\"kv-cache-growth\",allocator=\"ptmalloc2\"} "
                      "943718400\n");
    assert_silent(text, "# UNIT fragbench_ratio_peak");
    assert_says(text, "status=\"timeout\"} 0\n");
    assert_says(text, "fragbench_findings{judgement=\"over-limit\"} 2\n");
    assert_says(text, "fragbench_gating_findings 3\n# EOF\n"); /* one failed */
    free(text);
}

static void benchmark_action_charts_what_did_the_work(void **state)
{
    (void)state;
    char *text = run_as("benchmark-action");
    assert_says(text, "\"name\": \"kv-cache-growth (sequences=256) / ptmalloc2 / ratio_peak\",\n"
                      "  \"unit\": \"ratio\",\n  \"value\": 3,");
    assert_says(text, "\"range\": \"335544320 to 356515840\"");
    assert_silent(text, "budgeted");
    assert_silent(text, "hung");
    free(text);
}

static void comparison_csv_has_a_row_a_finding(void **state)
{
    (void)state;
    char *text = comparison_as("csv");
    assert_int_equal(count(text, "\n"), 1 + 2 * FB_JUDGEMENT_COUNT);
    assert_says(text, "regressed,true,new,kv-cache-growth,kv-cache-growth/ptmalloc2/sequences=256,"
                      "kv-cache-growth/ptmalloc2/sequences=256,ratio_peak,ratio,3,209715200,"
                      "199229440,220200960,3,262144000,262144000,262144000,52428800,25,,false,"
                      "0.0286,");
    free(text);
}

static void comparison_json_counts_and_passes_judgement(void **state)
{
    (void)state;
    char *text = comparison_as("json");
    assert_says(text, "\"schema\": \"fragbench-comparison/1\"");
    assert_says(text, "\"passed\": false");
    assert_says(text, "\"regressed\": 2");
    assert_says(text, "\"delta_share\": 0.25");
    assert_says(text, "\"limit\": null");
    free(text);
}

static void comparison_markdown_begins_with_the_verdict(void **state)
{
    (void)state;
    char *text = comparison_as("markdown");
    assert_int_equal(strncmp(text, "**Failed**, 2 unchanged, 2 improved, 2 regressed", 48), 0);
    assert_says(text, "| regressed (gates) | kv-cache-growth/ptmalloc2/sequences=256 | ratio_peak "
                      "| 209715200.000 | 262144000.000 | +25.0 % |");
    assert_says(text, ". Next: `fragbench run kv-cache-growth -a ptmalloc2 --explain`\n");
    free(text);
}

static void run_documents_end_with_their_limits(void **state)
{
    (void)state;
    char *text = run_as("text"), *markdown = run_as("markdown");
    assert_says(text, "\nLimits: 1 kept, 2 over, 1 failed, 4 not judged.\nover-limit  ");
    assert_says(text, "            peak in phase load at 500 ms\n            next: fragbench run ");
    assert_int_equal(strncmp(markdown, "Limits: 1 kept, 2 over,", 23), 0);
    assert_says(markdown, "- **over-limit** kv-cache-growth (sequences=256), ptmalloc2: ");
    free(markdown);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(junit_of_a_run_has_cells_and_limits),
        cmocka_unit_test(junit_of_a_comparison_has_a_case_a_finding),
        cmocka_unit_test(annotations_put_errors_first_and_escape),
        cmocka_unit_test(summary_is_cut_at_a_line_below_the_limit),
        cmocka_unit_test(gitlab_lists_what_failed_with_a_stable_fingerprint),
        cmocka_unit_test(openmetrics_has_units_labels_and_an_end),
        cmocka_unit_test(benchmark_action_charts_what_did_the_work),
        cmocka_unit_test(comparison_csv_has_a_row_a_finding),
        cmocka_unit_test(comparison_json_counts_and_passes_judgement),
        cmocka_unit_test(comparison_markdown_begins_with_the_verdict),
        cmocka_unit_test(run_documents_end_with_their_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
