/* The backend table: lookups, and rules that a new row must keep. */
#include "allocators/backends.h"
#include "trace/shared.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

static void name_and_alias_find_the_same_row(void **state)
{
    (void)state;
    const struct fb_backend *glibc = fb_backend_find("glibc");
    assert_non_null(glibc);
    assert_string_equal(glibc->name, "ptmalloc2");
    assert_ptr_equal(glibc, fb_backend_find("ptmalloc2"));
    assert_ptr_equal(fb_backend_find("gperftools"), fb_backend_find("tcmalloc"));
}

static void unknown_names_and_keys_find_nothing(void **state)
{
    (void)state;
    assert_null(fb_backend_find("jemaloc"));
    assert_null(fb_backend_find(""));
    assert_null(fb_backend_tunable(fb_backend_find("jemalloc"), "decay"));
    assert_null(fb_backend_tunable(fb_backend_find("null"), "anything"));
}

static void no_name_is_used_twice(void **state)
{
    (void)state;
    for (size_t i = 0; i < fb_backend_count; i++)
        for (size_t j = 0; j < fb_backend_count; j++) {
            if (i != j)
                assert_string_not_equal(fb_backends[i].name, fb_backends[j].name);
            if (fb_backends[j].alias != NULL)
                assert_string_not_equal(fb_backends[i].name, fb_backends[j].alias);
        }
}

static void every_row_with_tunables_says_where_they_go(void **state)
{
    (void)state;
    for (size_t i = 0; i < fb_backend_count; i++) {
        const struct fb_backend *backend = &fb_backends[i];
        bool list = backend->style == FB_TUNABLES_LIST || backend->style == FB_TUNABLES_GLIBC;
        assert_true((backend->tunable_count == 0) == (backend->style == FB_TUNABLES_NONE));
        assert_true((backend->variable != NULL) == (backend->style != FB_TUNABLES_NONE));
        assert_true((backend->separator != '\0') == list);
        assert_true((backend->assign != '\0') == list);
        assert_non_null(backend->libraries);
        assert_non_null(backend->help);
    }
}

static void no_key_stands_twice_in_a_row(void **state)
{
    (void)state;
    for (size_t i = 0; i < fb_backend_count; i++)
        for (size_t j = 0; j < fb_backends[i].tunable_count; j++) {
            const struct fb_tunable *tunable = &fb_backends[i].tunables[j];
            assert_ptr_equal(fb_backend_tunable(&fb_backends[i], tunable->key), tunable);
            assert_non_null(tunable->since);
            assert_non_null(tunable->until);
            assert_true(strlen(tunable->help) > 0);
        }
}

static void only_ptmalloc_is_read_back_through_the_linker(void **state)
{
    (void)state;
    for (size_t i = 0; i < fb_backend_count; i++)
        for (size_t j = 0; j < fb_backends[i].tunable_count; j++) {
            bool libc = (fb_backends[i].flags & FB_BACKEND_LIBC) != 0;
            assert_int_equal(fb_backends[i].tunables[j].readback == FB_READBACK_LDSO, libc);
        }
}

static void purge_kinds_have_the_shared_blocks_numbers(void **state)
{
    (void)state;
    assert_int_equal(FB_BACKEND_PURGE_DETECT, FB_PURGE_DETECT);
    assert_int_equal(FB_BACKEND_PURGE_NONE, FB_PURGE_NONE);
    assert_int_equal(FB_BACKEND_PURGE_GLIBC, FB_PURGE_GLIBC);
    assert_int_equal(FB_BACKEND_PURGE_JEMALLOC, FB_PURGE_JEMALLOC);
    assert_int_equal(FB_BACKEND_PURGE_TCMALLOC, FB_PURGE_TCMALLOC);
    assert_int_equal(FB_BACKEND_PURGE_MIMALLOC, FB_PURGE_MIMALLOC);
    assert_int_equal(FB_BACKEND_PURGE_SCUDO, FB_PURGE_SCUDO);
    assert_int_equal(FB_BACKEND_PURGE_TBB, FB_PURGE_TBB);
    assert_int_equal(FB_BACKEND_PURGE_OWN, FB_PURGE_OWN);
}

static void the_default_contenders_are_the_four(void **state)
{
    (void)state;
    static const char *const expected[] = {"ptmalloc2", "jemalloc", "tcmalloc", "mimalloc"};
    size_t found = 0;
    for (size_t i = 0; i < fb_backend_count; i++)
        if ((fb_backends[i].flags & FB_BACKEND_DEFAULT) != 0)
            assert_string_equal(fb_backends[i].name, expected[found++]);
    assert_int_equal(found, 4);
}

static void null_makes_no_call_and_is_never_a_default(void **state)
{
    (void)state;
    const struct fb_backend *null = fb_backend_find("null");
    assert_non_null(null);
    assert_int_equal(null->flags, FB_BACKEND_NULL);
    assert_int_equal(null->purge, FB_BACKEND_PURGE_NONE);
    assert_null(null->libraries[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(name_and_alias_find_the_same_row),
        cmocka_unit_test(unknown_names_and_keys_find_nothing),
        cmocka_unit_test(no_name_is_used_twice),
        cmocka_unit_test(every_row_with_tunables_says_where_they_go),
        cmocka_unit_test(no_key_stands_twice_in_a_row),
        cmocka_unit_test(only_ptmalloc_is_read_back_through_the_linker),
        cmocka_unit_test(purge_kinds_have_the_shared_blocks_numbers),
        cmocka_unit_test(the_default_contenders_are_the_four),
        cmocka_unit_test(null_makes_no_call_and_is_never_a_default),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
