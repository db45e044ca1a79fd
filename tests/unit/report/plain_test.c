#include "report/plain.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define NONE "\xEF\xBF\xBD"

static void plain_is(const char *text, const char *expected)
{
    char *plain = fb_plain_text(text, FB_PLAIN_ONE_LINE);
    assert_string_equal(plain, expected);
    free(plain);
}

static void well_formed_text_stays(void **state)
{
    (void)state;
    plain_is("größer € 😀", "größer € 😀");
    plain_is("", "");
    plain_is(NULL, "");
}

static void control_characters_become_blanks(void **state)
{
    (void)state;
    plain_is("a\tb\nc\rd\x1b[31m\x7f", "a b c d [31m ");
    plain_is("a\xc2\x85"
             "b\xc2\x9b"
             "c",
             "a b c"); /* C1 */
    plain_is("a\xe2\x80\xa8"
             "b\xe2\x80\xa9"
             "c",
             "a b c"); /* line and paragraph separator */
    plain_is("a\xef\xbf\xbe"
             "b\xef\xbf\xbf"
             "c",
             "a b c"); /* no characters at all */
}

static void broken_bytes_are_replaced_one_by_one(void **state)
{
    (void)state;
    plain_is("a\xff"
             "b",
             "a" NONE "b");
    plain_is("\xc0\x80", NONE NONE);                   /* too long a form of NUL */
    plain_is("\xe0\x80\x80", NONE NONE NONE);          /* likewise */
    plain_is("\xed\xa0\x80", NONE NONE NONE);          /* a surrogate */
    plain_is("\xf4\x90\x80\x80", NONE NONE NONE NONE); /* beyond Unicode */
    plain_is("x\xe2\x82", "x" NONE NONE);              /* cut off in the middle */
    plain_is("\x80", NONE);
}

static void lines_are_kept_where_asked(void **state)
{
    (void)state;
    char *plain = fb_plain_text("a\r\nb\tc", FB_PLAIN_KEEP_LINES);
    assert_string_equal(plain, "a \nb c");
    free(plain);
}

static void escapes_are_applied_once(void **state)
{
    (void)state;
    static const struct fb_plain_escape table[] = {{'&', "&amp;"}, {'<', "&lt;"}, {'\0', ""}};
    struct fb_buf out;
    fb_buf_init(&out, 100);
    fb_plain_add(&out, "<a&b>\n", FB_PLAIN_ONE_LINE, table);
    assert_string_equal(out.text, "&lt;a&amp;b> ");
    fb_buf_deinit(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(well_formed_text_stays),
        cmocka_unit_test(control_characters_become_blanks),
        cmocka_unit_test(broken_bytes_are_replaced_one_by_one),
        cmocka_unit_test(lines_are_kept_where_asked),
        cmocka_unit_test(escapes_are_applied_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
