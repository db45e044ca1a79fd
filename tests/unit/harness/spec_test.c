/* The grammar of -a, braces and suggestions. */
#include "harness/spec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

/* All labels, each followed by a space. */
static void labels_of(const struct fb_specs *specs, char *out, size_t size)
{
    out[0] = '\0';
    for (size_t i = 0; i < specs->count; i++) {
        strncat(out, specs->items[i].label, size - strlen(out) - 1);
        strncat(out, " ", size - strlen(out) - 1);
    }
}

static void accepted_forms_give_their_labels(void **state)
{
    (void)state;
    static const struct {
        const char *value, *labels;
    } rows[] = {
        {"jemalloc", "jemalloc "},
        {"glibc", "ptmalloc2 "},
        {"jemalloc,tcmalloc,null", "jemalloc tcmalloc null "},
        {"jemalloc,jemalloc", "jemalloc "},
        {"all", "ptmalloc2 jemalloc tcmalloc mimalloc scudo tbbmalloc budgeted tensor-arena "
                "request-arena "},
        {"budgeted+jemalloc", "budgeted+jemalloc "},
        {"budgeted:budget=512MiB+jemalloc", "budgeted:budget=512MiB+jemalloc "},
        {"budgeted:budget={1MiB,2MiB}+glibc",
         "budgeted:budget=1MiB+glibc budgeted:budget=2MiB+glibc "},
        {"jemalloc:dirty_decay_ms=0", "jemalloc:dirty_decay_ms=0 "},
        {"glibc:arena_max=1,mxfast=0", "ptmalloc2:arena_max=1,mxfast=0 "},
        {"jemalloc:dirty_decay_ms={0,1000}",
         "jemalloc:dirty_decay_ms=0 jemalloc:dirty_decay_ms=1000 "},
        {"{jemalloc,mimalloc}", "jemalloc mimalloc "},
        {"old=/opt/a.so", "old "},
        {"/opt/lib/liba.so.2", "liba.so.2 "},
        {"./liba.so", "liba.so "},
        {"v=../x:y/a.so", "v "},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct fb_specs specs = {0};
        struct fb_error err = {0};
        char labels[512];
        if (fb_specs_parse(&rows[i].value, 1, &specs, &err) != 0)
            fail_msg("%s: %s", rows[i].value, err.text);
        labels_of(&specs, labels, sizeof labels);
        assert_string_equal(labels, rows[i].labels);
        fb_specs_deinit(&specs);
    }
}

static void wrong_forms_say_what_is_wrong(void **state)
{
    (void)state;
    static const struct {
        const char *value, *part;
    } rows[] = {
        {"jemaloc", "did you mean \"jemalloc\"?"},
        {"tcmaloc:release_rate=1", "did you mean \"tcmalloc\"?"},
        {"snmalloc-from-the-moon", "fragbench list allocators"},
        {"", "empty name"},
        {"jemalloc,", "empty name"},
        {"jemalloc:", "a tunable is key=value"},
        {"jemalloc:narenas", "a tunable is key=value"},
        {"jemalloc:narenas=", "a tunable is key=value"},
        {"jemalloc:=1", "a tunable is key=value"},
        {"jemalloc:narenas=1,narenas=2", "sets narenas twice"},
        {"null:x=1", "null has no tunables"},
        {"jemalloc+tcmalloc", "jemalloc wraps no other allocator"},
        {"budgeted+budgeted", "budgeted cannot be wrapped"},
        {"budgeted+null", "null cannot be wrapped"},
        {"budgeted+jemaloc", "did you mean \"jemalloc\"?"},
        {"jemaloc+tcmalloc", "did you mean \"jemalloc\"?"},
        {"tcmalloc,jemalloc:narenas=1", "give -a more than once"},
        {"old=a.so", "with a slash"},
        {"a b=/x.so", "is no name for a library"},
        {"=/x.so", "is no name for a library"},
        {"/opt/folder/", "is no name for a library"},
        {"jemalloc:narenas={1,2", "brace without its partner"},
        {"jemalloc}{", "brace without its partner"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct fb_specs specs = {0};
        struct fb_error err = {0};
        assert_int_equal(fb_specs_parse(&rows[i].value, 1, &specs, &err), -1);
        assert_int_equal(err.kind, FB_ERROR_INPUT);
        if (strstr(err.text, rows[i].part) == NULL)
            fail_msg("%s: \"%s\" lacks \"%s\"", rows[i].value, err.text, rows[i].part);
        assert_null(specs.items);
    }
}

static void one_label_for_two_libraries_is_refused(void **state)
{
    (void)state;
    static const char *const values[] = {"/a/lib.so", "/b/lib.so"};
    struct fb_specs specs = {0};
    struct fb_error err = {0};
    assert_int_equal(fb_specs_parse(values, 2, &specs, &err), -1);
    assert_non_null(strstr(err.text, "two contenders are called \"lib.so\""));
}

static void no_value_means_the_default_contenders(void **state)
{
    (void)state;
    struct fb_specs specs;
    struct fb_error err = {0};
    char labels[256];
    assert_int_equal(fb_specs_parse(NULL, 0, &specs, &err), 0);
    labels_of(&specs, labels, sizeof labels);
    assert_string_equal(labels, "ptmalloc2 jemalloc tcmalloc mimalloc ");
    fb_specs_deinit(&specs);
}

static void settings_keep_key_and_value_as_written(void **state)
{
    (void)state;
    static const char *const value = "ptmalloc2:mmap_threshold=1MiB,arena_max=2";
    struct fb_specs specs;
    struct fb_error err = {0};
    assert_int_equal(fb_specs_parse(&value, 1, &specs, &err), 0);
    assert_int_equal(specs.items[0].setting_count, 2);
    assert_string_equal(specs.items[0].settings[0].key, "mmap_threshold");
    assert_string_equal(specs.items[0].settings[0].value, "1MiB");
    assert_string_equal(specs.items[0].settings[1].key, "arena_max");
    assert_string_equal(specs.items[0].text, value);
    fb_specs_deinit(&specs);
}

static void expect_expansion(const char *text, const char *joined)
{
    char **items;
    size_t count;
    char found[256] = "";
    assert_int_equal(fb_brace_expand(text, &items, &count, NULL), 0);
    for (size_t i = 0; i < count; i++) {
        strncat(found, items[i], sizeof found - strlen(found) - 1);
        strncat(found, "|", sizeof found - strlen(found) - 1);
        free(items[i]);
    }
    free(items);
    assert_string_equal(found, joined);
}

static void braces_expand_as_in_a_shell(void **state)
{
    (void)state;
    expect_expansion("plain", "plain|");
    expect_expansion("a{1,2}b", "a1b|a2b|");
    expect_expansion("{a,b}{1,2}", "a1|a2|b1|b2|");
    expect_expansion("x{a,{b,c}d}y", "xay|xbdy|xcdy|");
    expect_expansion("x{,y}", "x|xy|");
    expect_expansion("x{y}", "xy|");
}

static void a_thousand_expansions_are_the_limit(void **state)
{
    (void)state;
    char **items;
    size_t count;
    struct fb_error err = {0};
    const char *ten = "{0,1,2,3,4,5,6,7,8,9}";
    char thousand[80] = "", more[80] = "";
    for (int i = 0; i < 3; i++)
        strcat(thousand, ten);
    assert_int_equal(fb_brace_expand(thousand, &items, &count, &err), 0);
    assert_int_equal(count, 1000);
    for (size_t i = 0; i < count; i++)
        free(items[i]);
    free(items);
    strcat(strcat(more, thousand), "{a,b}");
    assert_int_equal(fb_brace_expand(more, &items, &count, &err), -1);
    assert_non_null(strstr(err.text, "more than 1000"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepted_forms_give_their_labels),
        cmocka_unit_test(wrong_forms_say_what_is_wrong),
        cmocka_unit_test(one_label_for_two_libraries_is_refused),
        cmocka_unit_test(no_value_means_the_default_contenders),
        cmocka_unit_test(settings_keep_key_and_value_as_written),
        cmocka_unit_test(braces_expand_as_in_a_shell),
        cmocka_unit_test(a_thousand_expansions_are_the_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
