#include "report/html.h"

#include "base/alloc.h"
#include "rendering.h"
#include "report/html_table.h"
#include "report/html_text.h"
#include "sample.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define CAP (1U << 24)

/* What a function of one text adds to a page. */
static void assert_becomes(void (*add)(struct fb_buf *, const char *), const char *text,
                           const char *expected)
{
    struct fb_buf out;
    fb_buf_init(&out, CAP);
    add(&out, text);
    assert_string_equal(out.text, expected);
    fb_buf_deinit(&out);
}

static void markup_is_escaped(void **state)
{
    (void)state;
    assert_becomes(fb_html_text, "<b a=\"1\" c='2'>&amp;</b>",
                   "&lt;b a=&quot;1&quot; c=&#39;2&#39;&gt;&amp;amp;&lt;/b&gt;");
    assert_becomes(fb_html_text, "a\033[1mb\001\tc\nd\177", "a [1mb  c\nd ");
}

static void what_is_no_utf8_is_replaced(void **state)
{
    (void)state;
    assert_becomes(fb_html_text, "größer 大 😀", "größer 大 😀");
    assert_becomes(fb_html_text,
                   "a\xff"
                   "b",
                   "a\xef\xbf\xbd"
                   "b");
    assert_becomes(fb_html_text, "\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd"); /* overlong */
    assert_becomes(fb_html_text, "\xed\xa0\x80",                          /* a surrogate */
                   "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
    assert_becomes(fb_html_text, "\xe5\xa4", "\xef\xbf\xbd\xef\xbf\xbd"); /* cut off */
}

static void prose_becomes_paragraphs_and_commands(void **state)
{
    (void)state;
    assert_becomes(fb_html_prose, "One <line>.\n\n" FB_HTML_COMMAND "LD_PRELOAD='a' b\nTwo.\n",
                   "<p>One &lt;line&gt;.</p>\n<pre>LD_PRELOAD=&#39;a&#39; b</pre>\n<p>Two.</p>\n");
}

static void add_svg(struct fb_buf *out, const char *svg)
{
    fb_html_svg(out, svg, "p7-");
}

static void a_pictures_ids_get_a_prefix(void **state)
{
    (void)state;
    assert_becomes(
        add_svg,
        "<?xml version=\"1.0\"?>\n<!DOCTYPE svg>\n<svg><g id=\"a\"><title>x id=\"a\" y</title>"
        "<use xlink:href='#dot'/><path fill=\"url(#g)\" id='b'/></g></svg>\n",
        "<svg><g id=\"p7-a\"><title>x id=\"a\" y</title>"
        "<use xlink:href='#p7-dot'/><path fill=\"url(#p7-g)\" id='p7-b'/></g></svg>\n");
    assert_becomes(add_svg, "no picture at all", "");
}

static void add_base64(struct fb_buf *out, const char *text)
{
    fb_html_base64(out, text, strlen(text));
}

/* The vectors of RFC 4648, section 10. */
static void base64_is_as_the_standard_has_it(void **state)
{
    (void)state;
    assert_becomes(add_base64, "", "");
    assert_becomes(add_base64, "f", "Zg==");
    assert_becomes(add_base64, "fo", "Zm8=");
    assert_becomes(add_base64, "foo", "Zm9v");
    assert_becomes(add_base64, "foobar", "Zm9vYmFy");
}

static char *render(const struct fb_result *result, const struct fb_html_extra *extra)
{
    const struct fb_document_set set = {"", NULL, result};
    const struct fb_findings none = {0};
    const struct fb_document document = {&set, 1, false, &none};
    struct fb_buf out;
    fb_buf_init(&out, CAP);
    fb_html_render(&document, extra, &out);
    char *text = fb_strdup(out.text);
    fb_buf_deinit(&out);
    return text;
}

static void a_page_says_what_was_run_and_who_needs_how_much(void **state)
{
    (void)state;
    struct fb_result result;
    sample_result_init(&result);
    const struct fb_html_extra extra = {0};
    char *page = render(&result, &extra);
    assert_says(page, "<!DOCTYPE html>");
    assert_says(page, result.cells[0].workload.name);
    assert_says(page, result.argv[1]);
    for (size_t i = 0; i < result.cell_count; i++)
        assert_says(page, result.cells[i].allocator.name);
    assert_says(page, "Johnstone and Wilson"); /* definitions stand where they are used */
    assert_says(page, "Its file was not kept");
    assert_says(page, "data:text/csv;charset=utf-8;base64,");
    char *again = render(&result, &extra);
    assert_string_equal(page, again);
    free(again);
    free(page);
    fb_result_deinit(&result);
}

/* Nothing that a result says becomes markup, and nothing is asked of a network. */
static void strangers_texts_stay_texts(void **state)
{
    (void)state;
    static const char evil[] = "</pre><script>alert(1)</script><img src=x onerror=alert(2)>\"'";
    struct fb_result result;
    sample_result_init(&result);
    char **names[] = {&result.cells[0].workload.name,
                      &result.cells[0].allocator.name,
                      &result.cells[0].allocator.version,
                      &result.argv[0],
                      &result.host.cpu,
                      &result.started};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        free(*names[i]);
        *names[i] = fb_strdup(evil);
    }
    const struct fb_html_workload workload = {result.cells[0].workload.name, evil};
    const struct fb_html_picture picture = {0, 0, evil, evil, evil, NULL, evil};
    const struct fb_html_extra extra = {.pictures = &picture,
                                        .picture_count = 1,
                                        .workloads = &workload,
                                        .workload_count = 1,
                                        .comparison = evil};
    char *page = render(&result, &extra);
    assert_silent(page, "<script>alert");
    assert_silent(page, "<img");
    assert_silent(page, "http://");
    assert_silent(page, "https://");
    assert_says(page, "&lt;img src=x onerror=alert(2)&gt;");
    free(page);
    fb_result_deinit(&result);
}

static void where_the_memory_is_stands_with_the_next_step(void **state)
{
    (void)state;
    struct fb_result result;
    sample_result_init(&result);
    const struct fb_html_extra extra = {0};
    char *page = render(&result, &extra);
    assert_says(page, "<h3>Where the memory is</h3>");
    assert_says(page, "<caption>Where it is at the end:</caption>");
    assert_says(page,
                "<th scope=\"row\">jemalloc:dirty_decay_ms=0</th><td data-v=\"28.0\">28.0</td>"
                "<td data-v=\"1.00\">1.00</td>");
    assert_says(page, "<p>cached: free pages that a purge gives back");
    free(page);
    for (size_t i = 0; i < result.cell_count; i++) {
        struct fb_repetition *first = result.cells[i].repetitions;
        for (size_t k = 0; result.cells[i].repetition_count > 0 && k < first->checkpoint_count; k++)
            if (first->checkpoints[k].attribution != NULL)
                first->checkpoints[k].attribution->is_split = false;
    }
    page = render(&result, &extra);
    assert_silent(page, "Where the memory is");
    free(page);
    fb_result_deinit(&result);
}

/* Every text in the second column, of a table that has nothing else there. */
static void rows_of_one_text_are_shown(void **state)
{
    (void)state;
    static const struct fb_grid_column columns[] = {{"", "", "contender", true, 0},
                                                    {"metric", "", "metric", true, 0}};
    struct fb_grid grid;
    struct fb_buf out;
    fb_grid_init(&grid, columns, 2, 1);
    fb_grid_set(&grid, 0, 0, fb_strdup("jemalloc"));
    fb_grid_span(&grid, 0, fb_strdup("skipped: not compared"), FB_GRID_WARN);
    fb_buf_init(&out, CAP);
    fb_html_grid(&out, &grid, "changes");
    assert_says(out.text, ">contender</th>");
    assert_says(out.text, "<td class=\"wide warn\" colspan=\"1\">skipped: not compared</td>");
    fb_buf_deinit(&out);
    fb_grid_deinit(&grid);
}

static void refused_pairs_are_said(void **state)
{
    (void)state;
    struct fb_result result;
    sample_result_init(&result);
    const struct fb_html_extra extra = {.refusals = "cannot compare <a>: scale\n  --by scale\n"};
    char *page = render(&result, &extra);
    assert_says(page,
                "<h2>Changes</h2>\n<div class=\"bad\">\n<p>cannot compare &lt;a&gt;: scale</p>");
    free(page);
    fb_result_deinit(&result);
}

static void pictures_stand_with_their_workload(void **state)
{
    (void)state;
    struct fb_result result;
    sample_result_init(&result);
    const struct fb_html_picture pictures[] = {
        {0, 0, "RSS over time", "curves", "how to read it", "<svg><g id=\"g\"/></svg>", NULL},
        {0, FB_HTML_WHOLE, "Pareto", "points", "memory against time", NULL, "no timing"},
    };
    const struct fb_html_extra extra = {.pictures = pictures, .picture_count = 2};
    char *page = render(&result, &extra);
    assert_says(page, "<svg><g id=\"p0-g\"/></svg>");
    assert_says(page, "<figcaption>how to read it</figcaption>");
    assert_says(page, "<p class=\"soft\">Pareto. Not drawn: no timing</p>");
    assert_true(strstr(page, "Pareto") < strstr(page, "<section id=\"s0g0\">"));
    assert_true(strstr(page, "RSS over time") > strstr(page, "<section id=\"s0g0\">"));
    free(page);
    fb_result_deinit(&result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(markup_is_escaped),
        cmocka_unit_test(what_is_no_utf8_is_replaced),
        cmocka_unit_test(prose_becomes_paragraphs_and_commands),
        cmocka_unit_test(a_pictures_ids_get_a_prefix),
        cmocka_unit_test(base64_is_as_the_standard_has_it),
        cmocka_unit_test(a_page_says_what_was_run_and_who_needs_how_much),
        cmocka_unit_test(strangers_texts_stay_texts),
        cmocka_unit_test(where_the_memory_is_stands_with_the_next_step),
        cmocka_unit_test(rows_of_one_text_are_shown),
        cmocka_unit_test(refused_pairs_are_said),
        cmocka_unit_test(pictures_stand_with_their_workload),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
