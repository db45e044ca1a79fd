#include "report/comparison.h"

#include "base/alloc.h"
#include "metrics/compare.h"
#include "metrics/explain.h"
#include "rendering.h"
#include "report/export.h"
#include "report/html_parts.h"
#include "sets.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define M(name) FB_METRIC_##name
#define CAP (1U << 20)

static struct fb_result base, new;
static struct fb_comparison comparison;
static struct fb_compare_options options;

static int setup(void **state)
{
    (void)state;
    sets_init(&base);
    sets_init(&new);
    options = sets_options();
    (void)sets_add(&base, "jemalloc", 3);
    (void)sets_add(&base, "tcmalloc", 3);
    (void)sets_add(&new, "jemalloc", 3);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    fb_comparison_deinit(&comparison);
    fb_result_deinit(&base);
    fb_result_deinit(&new);
    return 0;
}

static char *render(const struct fb_comparison_style *style, bool alone)
{
    sets_compare(&comparison, &base, alone ? NULL : &new, &options);
    for (size_t i = 0; i < comparison.findings.count; i++)
        fb_explain(&comparison.findings.items[i]);
    const struct fb_document_set sets[] = {{"base", "old", &base}, {"new", "latest", &new}};
    const struct fb_document document = {sets, alone ? 1 : 2, true, &comparison.findings};
    struct fb_buf out;
    fb_buf_init(&out, CAP);
    if (style != NULL)
        fb_comparison_render(&document, style, &out);
    else
        fb_export_find("text")->render(&document, &out);
    char *text = fb_strdup(out.text);
    fb_buf_deinit(&out);
    return text;
}

static void regress(void)
{
    struct fb_cell *cell = &new.cells[0];
    sets_values(cell, M(KEPT_BYTES), (const double[]){20, 20, 20});
    for (size_t i = 0; i < 3; i++)
        cell->repetitions[i].phases[0].footprint_bytes += 10U << 20;
}

static void text_has_sets_values_phases_sentences_and_the_gate(void **state)
{
    (void)state;
    regress();
    const struct fb_comparison_style style = {.width = 0};
    char *text = render(&style, false);
    assert_says(text, "base: old: fragbench 0.1.0, 4 CPUs, Linux 6.18.0");
    assert_says(text, "new: latest: ");
    assert_says(text, "kept_bytes           10.00 MiB  20.00 MiB  +10 MiB  +10.0 %  regressed");
    assert_says(text, "jemalloc, anonymous RSS phase by phase (the other phases are the same):");
    assert_says(text, "  phase-a  60.00  60.00       60.00  70.00  +16.7 %");
    assert_says(text, "tcmalloc  missing: in base, missing from new");
    assert_says(text, "regressed: w, jemalloc: kept_bytes 10 MiB → 20 MiB, +10 MiB or +10.0 % of "
                      "the peak (threshold 5 %), exact, n = 3 and 3; end of phase phase-a at 10 s");
    assert_says(text, "1 regressed, 1 missing, 2 unchanged\ngate: failed (1 regressed, 1 missing)");
    assert_silent(text, "\033");
    free(text);
}

static void passing_comparison_says_so(void **state)
{
    (void)state;
    (void)sets_add(&new, "tcmalloc", 3);
    char *text = render(NULL, false);
    assert_says(text, "6 unchanged\ngate: passed\n");
    assert_silent(text, "phase by phase");
    assert_silent(text, "Per cent of kept");
    free(text);
}

static void one_set_names_what_it_is_set_against(void **state)
{
    (void)state;
    options.pairing.by = FB_MATCH_BIT(FB_MATCH_ALLOCATOR);
    char *text = render(NULL, true);
    assert_says(text, "w, against jemalloc\n");
    assert_says(text, "tcmalloc  ratio_peak");
    free(text);
}

static void ranges_show_and_colours_are_asked_for(void **state)
{
    (void)state;
    sets_values(&new.cells[0], M(END_FOOTPRINT_BYTES), (const double[]){99, 100, 102});
    const struct fb_comparison_style style = {.color = true};
    char *text = render(&style, false);
    assert_says(text, "100.00 MiB ± 2 %");
    assert_says(text, "\033[31mregressed\033[0m");
    assert_says(text, "\033[31mgate: failed");
    free(text);
}

static void a_page_lists_findings_and_the_gate(void **state)
{
    (void)state;
    regress();
    free(render(NULL, false));
    const struct fb_document_set sets[] = {{"<old>", "old", &base}, {"new", "latest", &new}};
    const struct fb_document document = {sets, 2, true, &comparison.findings};
    struct fb_buf out;
    fb_buf_init(&out, CAP);
    fb_html_changes(&out, &document);
    assert_says(out.text, "<p>1 regressed, 1 missing, 2 unchanged</p>");
    assert_says(out.text, "<p>gate: failed (1 regressed, 1 missing)</p>");
    assert_says(out.text, "<caption>w: new against &lt;old&gt;.</caption>");
    /* Rows may be sorted, so each has its contender. */
    assert_says(out.text, "<tr><th scope=\"row\">jemalloc</th><td class=\"left\">kept_bytes</td>"
                          "<td>10.00 MiB</td><td>20.00 MiB</td><td>+10 MiB</td><td>+10.0 %</td>"
                          "<td class=\"left bad\">regressed</td>");
    assert_says(out.text, "<th scope=\"row\">jemalloc</th><td class=\"left\">ratio_peak</td>");
    assert_says(out.text, "<th scope=\"row\">tcmalloc</th><td class=\"wide bad\"");
    fb_buf_deinit(&out);
}

static void narrow_terminals_break_sentences(void **state)
{
    (void)state;
    regress();
    const struct fb_comparison_style style = {.width = 80};
    char *text = render(&style, false);
    size_t sentence = (size_t)(strstr(text, "regressed: w") - text);
    assert_true(strcspn(text + sentence, "\n") <= 84); /* bytes: arrows are three */
    free(text);
}

static void long_lists_count_what_is_unchanged(void **state)
{
    (void)state;
    enum fb_metric many[FB_METRIC_COUNT];
    size_t count = 0;
    for (size_t i = 0; i < FB_METRIC_COUNT; i++)
        if (fb_metrics[i].better == FB_BETTER_LOWER)
            many[count++] = (enum fb_metric)i;
    regress();
    (void)sets_add(&new, "tcmalloc", 3);
    options.metrics = many;
    options.metric_count = count;
    const struct fb_comparison_style brief = {.all = false};
    char *text = render(&brief, false);
    assert_says(text, "kept_bytes");
    assert_silent(text, "end_footprint_bytes");
    assert_says(text, " unchanged\n");
    free(text);
    fb_comparison_deinit(&comparison);
    const struct fb_comparison_style whole = {.all = true};
    text = render(&whole, false);
    assert_says(text, "end_footprint_bytes");
    free(text);
}

static void control_characters_do_not_reach_the_terminal(void **state)
{
    (void)state;
    new.cells[0].status = FB_STATUS_CRASHED;
    new.cells[0].status_detail = fb_strdup("\033[2J gone");
    char *text = render(NULL, false);
    assert_silent(text, "\033[2J");
    assert_says(text, "[2J gone");
    free(text);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_page_lists_findings_and_the_gate),
        CASE(text_has_sets_values_phases_sentences_and_the_gate),
        CASE(passing_comparison_says_so),
        CASE(one_set_names_what_it_is_set_against),
        CASE(ranges_show_and_colours_are_asked_for),
        CASE(narrow_terminals_break_sentences),
        CASE(long_lists_count_what_is_unchanged),
        CASE(control_characters_do_not_reach_the_terminal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
