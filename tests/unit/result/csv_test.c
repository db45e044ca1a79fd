#include "result/csv.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void plain_fields_stay_plain(void **state)
{
    (void)state;
    struct fb_buf buf;
    fb_buf_init(&buf, 100);
    fb_csv_add(&buf, "serve-1");
    assert_string_equal(buf.text, "serve-1");
    fb_buf_deinit(&buf);
}

static void special_fields_are_quoted(void **state)
{
    (void)state;
    struct fb_buf buf;
    fb_buf_init(&buf, 100);
    fb_csv_add(&buf, "say \"a,b\"\n");
    assert_string_equal(buf.text, "\"say \"\"a,b\"\"\n\"");
    fb_buf_deinit(&buf);
}

static void split_undoes_add(void **state)
{
    (void)state;
    char *fields[4];
    char line[] = "1,\"say \"\"a,b\"\"\",,last";
    assert_int_equal(fb_csv_split(line, fields, 4), 4);
    assert_string_equal(fields[0], "1");
    assert_string_equal(fields[1], "say \"a,b\"");
    assert_string_equal(fields[2], "");
    assert_string_equal(fields[3], "last");
}

static void split_refuses_damage(void **state)
{
    (void)state;
    char *fields[2];
    char open[] = "1,\"open", after[] = "\"a\"b,2", many[] = "1,2,3";
    assert_int_equal(fb_csv_split(open, fields, 2), -1);
    assert_int_equal(fb_csv_split(after, fields, 2), -1);
    assert_int_equal(fb_csv_split(many, fields, 2), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_fields_stay_plain),
        cmocka_unit_test(special_fields_are_quoted),
        cmocka_unit_test(split_undoes_add),
        cmocka_unit_test(split_refuses_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
