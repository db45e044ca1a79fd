#include "base/io.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void what_comes_in_pieces_is_read_whole(void **state)
{
    (void)state;
    int ends[2];
    char text[16] = {0};
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        bool sent =
            write(ends[1], "one ", 4) == 4 && usleep(20000) == 0 && write(ends[1], "two", 3) == 3;
        _exit(sent ? 0 : 1);
    }
    assert_int_equal(close(ends[1]), 0);
    assert_int_equal(fb_io_read_all(ends[0], text, sizeof text), 7);
    assert_string_equal(text, "one two");
    assert_int_equal(close(ends[0]), 0);
}

static void a_full_buffer_ends_it(void **state)
{
    (void)state;
    int ends[2];
    char text[3];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "12345", 5), 5);
    assert_int_equal(fb_io_read_all(ends[0], text, sizeof text), 3);
    assert_memory_equal(text, "123", 3);
    assert_int_equal(close(ends[0]) + close(ends[1]), 0);
}

static void a_bad_descriptor_is_an_error(void **state)
{
    (void)state;
    char text[3];
    errno = 0;
    assert_int_equal(fb_io_read_all(-1, text, sizeof text), -1);
    assert_int_equal(errno, EBADF);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_comes_in_pieces_is_read_whole),
        cmocka_unit_test(a_full_buffer_ends_it),
        cmocka_unit_test(a_bad_descriptor_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
