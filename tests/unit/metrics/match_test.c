#include "metrics/match.h"

#include "base/alloc.h"
#include "sets.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct fb_result a, b;
static struct fb_cell *left, *right;

static int setup(void **state)
{
    (void)state;
    sets_init(&a);
    sets_init(&b);
    left = sets_add(&a, "jemalloc", 3);
    right = sets_add(&b, "jemalloc", 3);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    fb_result_deinit(&a);
    fb_result_deinit(&b);
    return 0;
}

static unsigned differences(void)
{
    return fb_match_differences(&a.host, left, &b.host, right);
}

static void assert_only(enum fb_match field)
{
    if (differences() != FB_MATCH_BIT(field))
        fail_msg("differ in 0x%x, expected %s", differences(), fb_matches[field].name);
}

static void same_conditions_differ_in_nothing(void **state)
{
    (void)state;
    assert_int_equal(differences(), 0);
    sets_text(&b.host.kernel, "Linux 7.0");
    sets_text(&b.version, "9.9.9");
    assert_int_equal(differences(), 0); /* shown, not refused */
}

static void each_text_of_the_key_is_seen(void **state)
{
    (void)state;
    const struct {
        enum fb_match field;
        char **text;
    } texts[] = {
        {FB_MATCH_WORKLOAD, &right->workload.name},
        {FB_MATCH_TRACE, &right->workload.trace_sha256},
        {FB_MATCH_ALLOCATOR, &right->allocator.name},
        {FB_MATCH_VERSION, &right->allocator.version},
        {FB_MATCH_SHA256, &right->allocator.sha256},
        {FB_MATCH_LIBC, &b.host.libc},
        {FB_MATCH_MACHINE, &b.host.machine},
        {FB_MATCH_THP, &right->thp},
        {FB_MATCH_CLOCK, &right->clock},
        {FB_MATCH_ORDER, &right->order},
        {FB_MATCH_LAYOUTS, &right->layout},
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char *before = fb_strdup(*texts[i].text);
        sets_text(texts[i].text, "else");
        assert_only(texts[i].field);
        sets_text(texts[i].text, before);
        free(before);
    }
}

static void each_number_of_the_key_is_seen(void **state)
{
    (void)state;
    b.host.page_bytes = 16384;
    assert_only(FB_MATCH_PAGE_SIZE);
    b.host.page_bytes = 4096;
    b.host.cpus_allowed = 2;
    assert_only(FB_MATCH_CPUS);
    b.host.cpus_allowed = 4;
    right->workload.scale = 0.5;
    assert_only(FB_MATCH_SCALE);
    right->workload.scale = 1;
    right->repetitions[1].seed = 9;
    assert_only(FB_MATCH_SEED);
    right->repetitions[1].seed = 7;
    right->repetitions[2].layout = 5;
    assert_only(FB_MATCH_LAYOUTS);
    right->repetitions[2].layout = 2;
    sets_text(&b.host.thp, "never");
    assert_only(FB_MATCH_THP);
    sets_text(&b.host.thp, "always"); /* brought down to advised for workers */
    assert_int_equal(differences(), 0);
}

static void recordings_are_the_same_by_their_name(void **state)
{
    (void)state;
    sets_text(&left->workload.file, "base/service.fbt");
    sets_text(&right->workload.file, "new/service.fbt");
    sets_text(&right->workload.trace_sha256, "else");
    assert_int_equal(differences(), 0);
    sets_text(&right->workload.file, "service.fbt.yaml"); /* a workload is none */
    assert_only(FB_MATCH_TRACE);
    sets_text(&right->workload.file, "new/service.fbt");
    sets_text(&right->workload.name, "other");
    assert_only(FB_MATCH_WORKLOAD);
}

static void only_a_program_may_hold_other_data_on_either_side(void **state)
{
    (void)state;
    sets_text(&right->workload.trace_sha256, "else");
    assert_false(fb_match_data_may_differ(left, right)); /* a workload: --by trace was said */
    sets_text(&left->workload.file, "base/service.fbt");
    sets_text(&right->workload.file, "new/service.fbt");
    assert_true(fb_match_data_may_differ(left, right));
    sets_text(&right->workload.trace_sha256, left->workload.trace_sha256);
    assert_false(fb_match_data_may_differ(left, right));
    sets_text(&right->workload.command, "./server");
    assert_true(fb_match_data_may_differ(left, right));
}

static void the_build_of_fragbench_is_no_part_of_the_key(void **state)
{
    (void)state;
    for (struct fb_cell *cell = left;; cell = right) {
        sets_text(&cell->allocator.backend, "tensor-arena");
        sets_text(&cell->allocator.path, "build/bin/libfragbench-tensor-arena.so");
        if (cell == right)
            break;
    }
    sets_text(&right->allocator.version, "0.2.0");
    sets_text(&right->allocator.sha256, "else");
    assert_int_equal(differences(), 0);
    sets_text(&left->allocator.backend, ""); /* named by path: contenders like any other */
    sets_text(&right->allocator.backend, "");
    assert_int_equal(differences(), FB_MATCH_BIT(FB_MATCH_VERSION) | FB_MATCH_BIT(FB_MATCH_SHA256));
    sets_text(&left->allocator.backend, "jemalloc");
    sets_text(&right->allocator.backend, "jemalloc");
    sets_text(&left->allocator.path, "/usr/lib/libjemalloc.so.2");
    sets_text(&right->allocator.path, "/usr/lib/libjemalloc.so.2");
    assert_int_equal(differences(), FB_MATCH_BIT(FB_MATCH_VERSION) | FB_MATCH_BIT(FB_MATCH_SHA256));
}

static void heads_are_what_no_other_implies(void **state)
{
    (void)state;
    unsigned fields = FB_MATCH_BIT(FB_MATCH_VERSION) | FB_MATCH_BIT(FB_MATCH_SHA256) |
                      FB_MATCH_BIT(FB_MATCH_LIBC);
    assert_int_equal(fb_match_heads(fields),
                     FB_MATCH_BIT(FB_MATCH_VERSION) | FB_MATCH_BIT(FB_MATCH_LIBC));
    assert_int_equal(fb_match_heads(0), 0);
}

static void texts_are_for_people(void **state)
{
    (void)state;
    static const struct {
        enum fb_match field;
        const char *text;
    } expected[] = {
        {FB_MATCH_PARAMS, "none"},
        {FB_MATCH_SEED, "7"},
        {FB_MATCH_TRACE, "0123456789ab"},
        {FB_MATCH_LAYOUTS, "fixed 0, 1, 2"},
        {FB_MATCH_CPUS, "4 online, 4 allowed"},
        {FB_MATCH_SCALE, "1"},
    };
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        char *text = fb_match_text(expected[i].field, &a.host, left);
        assert_string_equal(text, expected[i].text);
        free(text);
    }
}

static void names_are_found_and_closures_reach_the_end(void **state)
{
    (void)state;
    for (size_t i = 0; i < FB_MATCH_COUNT; i++)
        assert_int_equal(fb_match_find(fb_matches[i].name), i);
    assert_int_equal(fb_match_find("libk"), FB_MATCH_COUNT);
    unsigned workload = fb_match_closure(FB_MATCH_BIT(FB_MATCH_WORKLOAD));
    assert_true((workload & FB_MATCH_BIT(FB_MATCH_TRACE)) != 0);
    assert_true(
        (fb_match_closure(FB_MATCH_BIT(FB_MATCH_ALLOCATOR)) & FB_MATCH_BIT(FB_MATCH_SHA256)) != 0);
    assert_int_equal(fb_match_closure(FB_MATCH_BIT(FB_MATCH_LIBC)), FB_MATCH_BIT(FB_MATCH_LIBC));
}

static void assert_identity(unsigned by, const char *expected)
{
    char *identity = fb_match_identity(left, by);
    assert_string_equal(identity, expected);
    free(identity);
}

static void identities_leave_out_what_is_meant_to_differ(void **state)
{
    (void)state;
    sets_text(&left->allocator.name, "budgeted:budget=1GiB+jemalloc");
    sets_text(&left->id, "w/budgeted:budget=1GiB+jemalloc/count=100,size=2");
    left->allocator.tunables = fb_alloc(1, sizeof *left->allocator.tunables);
    left->allocator.tunable_count = 1;
    left->allocator.tunables[0] = (struct fb_name_value){fb_strdup("budget"), fb_strdup("1GiB")};
    assert_string_equal(fb_match_varied(left), "count=100,size=2");
    assert_identity(0, "w\nbudgeted:budget=1GiB+jemalloc\ncount=100,size=2");
    assert_identity(FB_MATCH_BIT(FB_MATCH_ALLOCATOR), "w\n\ncount=100,size=2");
    assert_identity(FB_MATCH_BIT(FB_MATCH_TUNABLES), "w\nbudgeted+jemalloc\ncount=100,size=2");
    assert_identity(FB_MATCH_BIT(FB_MATCH_PARAMS), "w\nbudgeted:budget=1GiB+jemalloc\n");
    char *contender = fb_match_text(FB_MATCH_ALLOCATOR, &a.host, left);
    assert_string_equal(contender, "budgeted+jemalloc"); /* the tunables are a field of their own */
    free(contender);
    sets_text(&left->id, "foreign");
    assert_string_equal(fb_match_varied(left), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(same_conditions_differ_in_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(each_text_of_the_key_is_seen, setup, teardown),
        cmocka_unit_test_setup_teardown(each_number_of_the_key_is_seen, setup, teardown),
        cmocka_unit_test_setup_teardown(recordings_are_the_same_by_their_name, setup, teardown),
        cmocka_unit_test_setup_teardown(only_a_program_may_hold_other_data_on_either_side, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(the_build_of_fragbench_is_no_part_of_the_key, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(heads_are_what_no_other_implies, setup, teardown),
        cmocka_unit_test_setup_teardown(texts_are_for_people, setup, teardown),
        cmocka_unit_test_setup_teardown(names_are_found_and_closures_reach_the_end, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(identities_leave_out_what_is_meant_to_differ, setup,
                                        teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
