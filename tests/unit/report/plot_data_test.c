#include "report/plot_data.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void assert_field(const char *text, const char *field)
{
    struct fb_buf data;
    fb_buf_init(&data, 4096);
    fb_plot_field(&data, text);
    assert_string_equal(data.text, field);
    fb_buf_deinit(&data);
}

static void texts_cannot_leave_their_field(void **state)
{
    (void)state;
    assert_field("plain", "\"plain\"");
    assert_field("", "\"\"");
    assert_field("say \"x\"", "\"say 'x'\"");
    assert_field("a\\nb", "\"a\\\\nb\"");
    assert_field("a\tb\nc\rd\x1b[1m\x7f", "\"a b c d [1m \"");
    assert_field("&#x0; &amp; <b>", "\"& #x0; &amp; <b>\"");
}

static void what_is_no_text_becomes_a_question_mark(void **state)
{
    (void)state;
    assert_field("caf\xc3\xa9 \xf0\x9f\x98\x80", "\"caf\xc3\xa9 \xf0\x9f\x98\x80\"");
    assert_field("\xc3", "\"?\"");
    assert_field("a\xffz", "\"a?z\"");
    assert_field("\xc0\xaf", "\"??\"");           /* overlong */
    assert_field("\xed\xa0\x80", "\"???\"");      /* a surrogate */
    assert_field("\xef\xbf\xbf", "\"???\"");      /* no character, and no XML */
    assert_field("\xf4\x90\x80\x80", "\"????\""); /* past the last one */
    assert_field("\xc2\x85", "\" \"");            /* a control character */
}

static void numbers_read_back_the_same(void **state)
{
    (void)state;
    const double values[] = {0, 1, 0.1, 1.0 / 3, 123456789.125, 1e-9, 5e300, -2.5};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        struct fb_buf data;
        fb_buf_init(&data, 100);
        fb_plot_number(&data, values[i]);
        double back = strtod(data.text, NULL);
        assert_true(back >= values[i] && back <= values[i]);
        fb_buf_deinit(&data);
    }
}

static void cutting_keeps_both_ends_and_whole_characters(void **state)
{
    (void)state;
    char *cut = fb_plot_cut("jemalloc:dirty_decay_ms=10000", 15);
    assert_string_equal(cut, "jemallo…s=10000");
    assert_int_equal(fb_plot_length(cut), 15);
    free(cut);
    cut = fb_plot_cut("éééééééééé", 5);
    assert_string_equal(cut, "éé…éé");
    free(cut);
    cut = fb_plot_cut("short", 5);
    assert_string_equal(cut, "short");
    free(cut);
}

static void units_fit_the_size(void **state)
{
    (void)state;
    assert_string_equal(fb_plot_unit_of_bytes(0).name, "B");
    assert_string_equal(fb_plot_unit_of_bytes(300 * 1024.0).name, "KiB");
    assert_string_equal(fb_plot_unit_of_bytes(400 * 1048576.0).name, "MiB");
    assert_string_equal(fb_plot_unit_of_bytes(5 * 1073741824.0).name, "GiB");
    assert_string_equal(fb_plot_unit_of_time(0.9).name, "ms");
    assert_string_equal(fb_plot_unit_of_time(27).name, "s");
    assert_string_equal(fb_plot_unit_of_time(600).name, "min");
    assert_string_equal(fb_plot_unit_of_time(5 * 3600).name, "h");
}

static void negative_bytes_keep_their_sign(void **state)
{
    (void)state;
    char text[40];
    assert_string_equal(fb_plot_bytes(-1048576, text, sizeof text), "−1 MiB");
    assert_string_equal(fb_plot_bytes(NAN, text, sizeof text), "n/a");
}

static void a_long_caption_is_broken_and_ends_openly(void **state)
{
    (void)state;
    struct fb_plot_frame frame;
    struct fb_buf data;
    fb_buf_init(&data, 1 << 20);
    fb_plot_frame_init(&frame, 480);
    for (unsigned i = 0; i < 400; i++)
        fb_buf_adds(&frame.caption, "word ");
    fb_plot_frame_put(&frame, NULL, 0, &data);
    assert_non_null(strstr(data.text, "\n12\t\"word"));
    assert_null(strstr(data.text, "\n13\t\"word"));
    assert_non_null(strstr(data.text, "word …\""));
    fb_plot_frame_deinit(&frame);
    fb_buf_deinit(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_cannot_leave_their_field),
        cmocka_unit_test(what_is_no_text_becomes_a_question_mark),
        cmocka_unit_test(numbers_read_back_the_same),
        cmocka_unit_test(cutting_keeps_both_ends_and_whole_characters),
        cmocka_unit_test(units_fit_the_size),
        cmocka_unit_test(negative_bytes_keep_their_sign),
        cmocka_unit_test(a_long_caption_is_broken_and_ends_openly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
