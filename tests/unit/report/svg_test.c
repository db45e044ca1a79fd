#include "report/svg.h"

#include "base/alloc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define CAP (1U << 20)

static void assert_becomes(const char *svg, const char *expected)
{
    struct fb_buf out;
    fb_buf_init(&out, CAP);
    fb_svg_compact(svg, &out);
    assert_string_equal(out.text, expected);
    fb_buf_deinit(&out);
}

static void a_path_keeps_its_corners_to_a_tenth(void **state)
{
    (void)state;
    assert_becomes("<path d='M76.00,371.04 L775.99,371.00 L775.99,-0.46  '/>",
                   "<path d='M76,371H776V-.5'/>");
    assert_becomes("<path d=\"M1.00,2.00 L3.26,4.31 L3.27,4.29 M0.00,0.00 L0.04,9.00\"/>",
                   "<path d=\"M1,2L3.3,4.3M0,0V9\"/>");
    /* Not all of it is points: the rest stays as it is. */
    assert_becomes("<path d='M1.00,2.00 C3,4 5,6 7,8'/>", "<path d='M1,2C3,4 5,6 7,8'/>");
}

static void a_polygon_becomes_a_path(void **state)
{
    (void)state;
    assert_becomes("<polygon fill = 'rgb(214,  94,   0)' points = '16.00,93.12 18.82,93.12 "
                   "18.82,90.00 16.00,90.00 '/>",
                   "<path fill='#d65e00' d='M16,93.1H18.8V90H16z'/>");
    assert_becomes("<polygon fill = 'url(#a)' points = '1,2 3,4'/>",
                   "<polygon fill = 'url(#a)' points = '1,2 3,4'/>");
    assert_becomes("<polygon fill = 'rgb(1,2,3)' points = '1,2 3'/>",
                   "<polygon fill = '#010203' points = '1,2 3'/>");
}

static void what_draws_nothing_is_left_out(void **state)
{
    (void)state;
    assert_becomes("<g fill=\"none\" stroke-width=\"1.00\">\n</g>\n<g a=\"b\">\n\t<text></text>\n"
                   "</g>\n<rect/>",
                   "<rect/>");
    assert_becomes("<g id=\"a\" x=\"y\">\n</g>", "<g id=\"a\" x=\"y\"></g>");
    assert_becomes("<defs><circle id='gpDot'/></defs><rect/>", "<rect/>");
    assert_becomes("<defs><path id='gpPt1'/></defs><use href='#gpPt1'/>",
                   "<defs><path id='gpPt1'/></defs><use href='#gpPt1'/>");
}

/* A stranger's names stand in texts and titles: there nothing is touched. */
static void texts_are_not_touched(void **state)
{
    (void)state;
    static const char text[] = "<title>a d='M1.00,2.00 ' rgb(1,2,3) color=\"black\"</title>";
    assert_becomes(text, text);
    assert_becomes("<text> 0</text>", "<text> 0</text>");
}

static void defaults_move_to_the_root(void **state)
{
    (void)state;
    assert_becomes("<svg \n width=\"8\"><g color=\"black\" stroke-linecap=\"butt\" x='1'>"
                   "<text font-family=\"sans-serif\">a</text></g></svg>",
                   "<svg style=\"color:#000;font-family:sans-serif\" \n width=\"8\"><g x='1'>"
                   "<text>a</text></g></svg>");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_path_keeps_its_corners_to_a_tenth),
        cmocka_unit_test(a_polygon_becomes_a_path),
        cmocka_unit_test(what_draws_nothing_is_left_out),
        cmocka_unit_test(texts_are_not_touched),
        cmocka_unit_test(defaults_move_to_the_root),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
