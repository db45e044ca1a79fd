/* Suggestions: near words are found, far ones are not. */
#include "base/suggest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const char *nearest_of(const char *word)
{
    static const char *const known[] = {"dirty_decay_ms", NULL, "narenas", "thp"};
    return fb_suggest(word, known, sizeof known / sizeof known[0]);
}

static void suggestions_are_near_or_absent(void **state)
{
    (void)state;
    assert_string_equal(nearest_of("dirty_decay"), "dirty_decay_ms");
    assert_string_equal(nearest_of("narena"), "narenas");
    assert_string_equal(nearest_of("naerans"), "narenas"); /* two swaps */
    assert_string_equal(nearest_of("NARENAS"), "narenas");
    assert_null(nearest_of("x"));
    assert_null(nearest_of(""));
    assert_null(nearest_of("background_thread"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(suggestions_are_near_or_absent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
