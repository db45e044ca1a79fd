#include "result/record.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void statuses_have_the_documented_names(void **state)
{
    static const char *const names[] = {"ok",          "refused",       "crashed",
                                        "timeout",     "oom-killed",    "over-memory-limit",
                                        "corrupted",   "not-preloaded", "bad-tunable",
                                        "unsupported", "not-installed", "interrupted"};
    (void)state;
    for (int i = 0; i < FB_STATUS_COUNT; i++) {
        assert_string_equal(fb_status_name((enum fb_status)i), names[i]);
        assert_int_equal(fb_status_find(names[i]), i);
    }
    assert_int_equal(fb_status_find("fine"), FB_STATUS_COUNT);
}

static void statuses_are_done_skipped_or_failed(void **state)
{
    (void)state;
    int done = 0, skipped = 0;
    for (int i = 0; i < FB_STATUS_COUNT; i++) {
        done += fb_status_done((enum fb_status)i);
        skipped += fb_status_skipped((enum fb_status)i);
        assert_false(fb_status_done((enum fb_status)i) && fb_status_skipped((enum fb_status)i));
    }
    assert_int_equal(done, 2);
    assert_int_equal(skipped, 2);
    assert_true(fb_status_done(FB_STATUS_REFUSED));
    assert_true(fb_status_skipped(FB_STATUS_UNSUPPORTED));
    assert_false(fb_status_done(FB_STATUS_TIMEOUT));
}

static void new_repetition_measures_nothing(void **state)
{
    (void)state;
    struct fb_repetition repetition;
    fb_repetition_init(&repetition);
    for (int i = 0; i < FB_METRIC_COUNT; i++)
        assert_true(isnan(repetition.values[i]));
    assert_int_equal(repetition.phase_count, 0);
    fb_repetition_deinit(&repetition);
}

static void file_names_keep_safe_characters_only(void **state)
{
    (void)state;
    char *name = fb_cell_file_name("kv/jemalloc:dirty_decay_ms=0/x=../..\xc3\xa9");
    assert_string_equal(name, "kv_jemalloc_dirty_decay_ms_0_x_.._..__");
    free(name);
}

static void long_file_names_stay_short_and_apart(void **state)
{
    char id[401], other[401];
    (void)state;
    memset(id, 'a', 400);
    id[400] = '\0';
    memcpy(other, id, sizeof id);
    other[399] = 'b';
    char *left = fb_cell_file_name(id), *right = fb_cell_file_name(other);
    assert_int_equal(strlen(left), 200);
    assert_int_equal(strlen(right), 200);
    assert_string_not_equal(left, right);
    free(left);
    free(right);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statuses_have_the_documented_names),
        cmocka_unit_test(statuses_are_done_skipped_or_failed),
        cmocka_unit_test(new_repetition_measures_nothing),
        cmocka_unit_test(file_names_keep_safe_characters_only),
        cmocka_unit_test(long_file_names_stay_short_and_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
