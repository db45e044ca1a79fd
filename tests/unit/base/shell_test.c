#include "base/shell.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void word_is(const char *text, const char *expected)
{
    struct fb_buf line;
    fb_buf_init(&line, 1000);
    fb_shell_add(&line, text);
    assert_string_equal(line.text, expected);
    fb_buf_deinit(&line);
}

static void plain_words_stay_and_others_are_quoted(void **state)
{
    (void)state;
    word_is("jemalloc:dirty_decay_ms=0", "jemalloc:dirty_decay_ms=0");
    word_is("a b", "'a b'");
    word_is("it's $HOME; `id`", "'it'\\''s $HOME; `id`'");
    word_is("{a,b}", "'{a,b}'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(plain_words_stay_and_others_are_quoted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
