#include "base/sha256.h"

#include "base/alloc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* FIPS 180-2, appendix B, and the empty message. */
static const struct known {
    const char *text;
    const char *hex;
} known[] = {
    {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
    {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
    {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
     "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
};
#define MILLION_A "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"

static void memory_matches_known_answers(void **state)
{
    (void)state;
    char hex[FB_SHA256_HEX];
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        fb_sha256_memory(known[i].text, strlen(known[i].text), hex);
        assert_string_equal(hex, known[i].hex);
    }
}

/* A file longer than one read, of 1,000,000 times 'a'. */
static void file_of_a_million_letters(void **state)
{
    (void)state;
    enum { SIZE = 1000000 };
    char path[] = "/tmp/fragbench-sha256-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    char *letters = fb_alloc(SIZE, 1);
    memset(letters, 'a', SIZE);
    assert_int_equal(write(fd, letters, SIZE), SIZE);
    free(letters);

    char hex[FB_SHA256_HEX];
    struct fb_error err = {0};
    assert_int_equal(fb_sha256_file(path, hex, &err), 0);
    assert_string_equal(hex, MILLION_A);

    assert_int_equal(lseek(fd, 17, SEEK_SET), 17);
    assert_int_equal(fb_sha256_fd(fd, hex, &err), 0);
    assert_string_equal(hex, MILLION_A);
    assert_int_equal(lseek(fd, 0, SEEK_CUR), 17); /* the offset stays */
    assert_int_equal(close(fd), 0);
    assert_int_equal(unlink(path), 0);
}

static void missing_file_is_an_io_error_that_names_it(void **state)
{
    (void)state;
    char hex[FB_SHA256_HEX];
    struct fb_error err = {0};
    assert_int_equal(fb_sha256_file("/nonexistent/file", hex, &err), -1);
    assert_int_equal(err.kind, FB_ERROR_IO);
    assert_non_null(strstr(err.text, "/nonexistent/file"));
}

static void a_directory_is_an_io_error(void **state)
{
    (void)state;
    char hex[FB_SHA256_HEX];
    struct fb_error err = {0};
    assert_int_equal(fb_sha256_file("/", hex, &err), -1);
    assert_int_equal(err.kind, FB_ERROR_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_matches_known_answers),
        cmocka_unit_test(file_of_a_million_letters),
        cmocka_unit_test(missing_file_is_an_io_error_that_names_it),
        cmocka_unit_test(a_directory_is_an_io_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
