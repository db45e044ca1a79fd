#include "base/buf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void text_is_terminated_from_the_start(void **state)
{
    (void)state;
    struct fb_buf buf;
    fb_buf_init(&buf, 100);
    assert_string_equal(buf.text, "");
    assert_int_equal(buf.length, 0);
    fb_buf_deinit(&buf);
    assert_null(buf.text);
}

static void pieces_are_appended_in_order(void **state)
{
    (void)state;
    struct fb_buf buf;
    fb_buf_init(&buf, 100);
    fb_buf_adds(&buf, "one ");
    fb_buf_addf(&buf, "%d %s ", 2, "three");
    fb_buf_add(&buf, "fourfive", 4);
    assert_string_equal(buf.text, "one 2 three four");
    assert_int_equal(buf.length, strlen(buf.text));
    assert_false(buf.overflow);
    fb_buf_deinit(&buf);
}

static void a_write_past_the_cap_is_dropped_whole(void **state)
{
    (void)state;
    struct fb_buf buf;
    fb_buf_init(&buf, 8);
    fb_buf_adds(&buf, "1234");
    fb_buf_adds(&buf, "5678");
    assert_true(buf.overflow);
    assert_string_equal(buf.text, "1234");
    fb_buf_adds(&buf, "567");
    assert_string_equal(buf.text, "1234567");
    assert_true(buf.overflow);
    fb_buf_deinit(&buf);
}

static void it_grows_up_to_its_cap_and_no_further(void **state)
{
    (void)state;
    struct fb_buf buf;
    fb_buf_init(&buf, 10000);
    for (int i = 0; i < 20000; i++) {
        fb_buf_adds(&buf, "x");
        assert_true(buf.length < buf.capacity && buf.capacity <= buf.cap);
    }
    assert_int_equal(buf.length, 9999);
    assert_true(buf.overflow);
    fb_buf_deinit(&buf);
}

static void sizes_near_the_type_s_end_overflow_cleanly(void **state)
{
    (void)state;
    struct fb_buf buf;
    fb_buf_init(&buf, SIZE_MAX);
    fb_buf_adds(&buf, "x");
    fb_buf_add(&buf, "y", SIZE_MAX);
    assert_true(buf.overflow);
    assert_string_equal(buf.text, "x");
    fb_buf_deinit(&buf);
}

static void a_cap_of_zero_holds_nothing(void **state)
{
    (void)state;
    struct fb_buf buf;
    fb_buf_init(&buf, 0);
    fb_buf_adds(&buf, "x");
    assert_true(buf.overflow);
    assert_string_equal(buf.text, "");
    fb_buf_deinit(&buf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_terminated_from_the_start),
        cmocka_unit_test(pieces_are_appended_in_order),
        cmocka_unit_test(a_write_past_the_cap_is_dropped_whole),
        cmocka_unit_test(it_grows_up_to_its_cap_and_no_further),
        cmocka_unit_test(sizes_near_the_type_s_end_overflow_cleanly),
        cmocka_unit_test(a_cap_of_zero_holds_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
