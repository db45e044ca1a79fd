#include "workload/diagnostic.h"

#include "base/alloc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct fb_diagnostics diagnostics;

static int begin(void **state)
{
    (void)state;
    fb_diagnostics_init(&diagnostics);
    diagnostics.file = fb_strdup("kv.yaml");
    return 0;
}

static int end(void **state)
{
    (void)state;
    fb_diagnostics_deinit(&diagnostics);
    return 0;
}

static void give_source(const char *source)
{
    diagnostics.source = fb_strdup(source);
    diagnostics.source_size = strlen(source);
}

static void expect(const char *expected)
{
    struct fb_buf buf;
    fb_buf_init(&buf, (size_t)1 << 16);
    fb_diagnostics_render(&diagnostics, &buf);
    assert_string_equal(buf.text, expected);
    fb_buf_deinit(&buf);
}

static void a_fault_shows_its_line_and_a_caret(void **state)
{
    (void)state;
    give_source("one\n    alocate: {metadata: 2000}\n");
    fb_diagnostics_add(&diagnostics, 2, 5, 7, "unknown-key", "unknown key \"%s\"", "alocate");
    expect("fragbench: kv.yaml:2:5: unknown key \"alocate\" [unknown-key]\n"
           "   2 |     alocate: {metadata: 2000}\n"
           "     |     ^~~~~~~\n");
}

static void faults_come_in_file_order(void **state)
{
    (void)state;
    fb_diagnostics_add(&diagnostics, 9, 1, 1, "c", "third");
    fb_diagnostics_add(&diagnostics, 2, 8, 1, "b", "second");
    fb_diagnostics_add(&diagnostics, 0, 0, 1, "whole", "about the file");
    fb_diagnostics_add(&diagnostics, 2, 3, 1, "a", "first");
    expect("fragbench: kv.yaml: about the file [whole]\n"
           "fragbench: kv.yaml:2:3: first [a]\n"
           "fragbench: kv.yaml:2:8: second [b]\n"
           "fragbench: kv.yaml:9:1: third [c]\n");
}

static void the_same_fault_twice_is_one(void **state)
{
    (void)state;
    fb_diagnostics_add(&diagnostics, 2, 3, 1, "a", "an alias repeats it");
    fb_diagnostics_add(&diagnostics, 2, 3, 1, "a", "an alias repeats it");
    assert_int_equal(diagnostics.count, 1);
    fb_diagnostics_add(&diagnostics, 2, 4, 1, "a", "an alias repeats it");
    assert_int_equal(diagnostics.count, 2);
}

static void the_rest_is_counted(void **state)
{
    (void)state;
    for (size_t i = 1; i <= FB_DIAGNOSTIC_MAX + 3; i++)
        fb_diagnostics_add(&diagnostics, i, 1, 1, "a", "fault");
    assert_int_equal(diagnostics.count, FB_DIAGNOSTIC_MAX);
    assert_int_equal(diagnostics.dropped, 3);
    struct fb_buf buf;
    fb_buf_init(&buf, (size_t)1 << 16);
    fb_diagnostics_render(&diagnostics, &buf);
    assert_non_null(strstr(buf.text, "fragbench: kv.yaml: 3 more faults are not shown"));
    fb_buf_deinit(&buf);
}

static void carets_stand_below_tabs_and_wide_text(void **state)
{
    (void)state;
    give_source("\tgröße: x\r\nend");
    fb_diagnostics_add(&diagnostics, 1, 9, 1, "a", "fault");
    fb_diagnostics_add(&diagnostics, 2, 1, SIZE_MAX, "b", "all of it");
    fb_diagnostics_add(&diagnostics, 2, 90, 5, "c", "behind the end");
    expect("fragbench: kv.yaml:1:9: fault [a]\n"
           "   1 | \tgröße: x\n"
           "     | \t       ^\n"
           "fragbench: kv.yaml:2:1: all of it [b]\n"
           "   2 | end\n"
           "     | ^~~\n"
           "fragbench: kv.yaml:2:90: behind the end [c]\n"
           "   2 | end\n"
           "     |    ^\n");
}

static void a_line_that_is_not_there_is_not_shown(void **state)
{
    (void)state;
    give_source("one\n");
    fb_diagnostics_add(&diagnostics, 7, 1, 1, "a", "fault");
    expect("fragbench: kv.yaml:7:1: fault [a]\n");
}

static void nothing_that_moves_a_terminal_comes_out(void **state)
{
    (void)state;
    fb_diagnostics_add(&diagnostics, 0, 0, 1, "a", "%s", "a\x1b[31mb\xC2\x9B\x7F\n");
    assert_string_equal(diagnostics.items[0].text, "a?[31mb????");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_fault_shows_its_line_and_a_caret, begin, end),
        cmocka_unit_test_setup_teardown(faults_come_in_file_order, begin, end),
        cmocka_unit_test_setup_teardown(the_same_fault_twice_is_one, begin, end),
        cmocka_unit_test_setup_teardown(the_rest_is_counted, begin, end),
        cmocka_unit_test_setup_teardown(carets_stand_below_tabs_and_wide_text, begin, end),
        cmocka_unit_test_setup_teardown(a_line_that_is_not_there_is_not_shown, begin, end),
        cmocka_unit_test_setup_teardown(nothing_that_moves_a_terminal_comes_out, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
