/* Names of call sites: from this test's own symbols and lines, and where there are none. */
#include "harness/spool_sites.h"

#include "harness/symbols.h"
#include "tape.h"

#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static uintptr_t here; /* an address within known_function() */
static int line;

__attribute__((noinline)) static void note_caller(void)
{
    here = (uintptr_t)__builtin_return_address(0);
}

static inline __attribute__((always_inline)) void inlined_function(void)
{
    line = __LINE__ + 1;
    note_caller();
    __asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) static void known_function(void)
{
    inlined_function(); /* stays at line + 6 */
    __asm__ volatile("" ::: "memory");
}

/* What was added to this executable's addresses, and where it ends. */
static int note_bias(struct dl_phdr_info *object, size_t size, void *bias)
{
    (void)size;
    *(uintptr_t *)bias = object->dlpi_addr;
    return 1; /* the first is the executable */
}

static uintptr_t own_bias(void)
{
    uintptr_t bias = 0;
    (void)dl_iterate_phdr(note_bias, &bias);
    return bias;
}

static const char *own_path(void)
{
    static char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    assert_true(length > 0);
    return path;
}

static void an_inlined_call_has_a_line_of_its_own(void **state)
{
    (void)state;
    struct fb_buf text;
    char expected[256];
    known_function();
    struct fb_symbols *symbols = fb_symbols_open(own_path(), own_bias());
    assert_non_null(symbols);
    fb_buf_init(&text, 4096);
    fb_symbols_add(symbols, here - 1, &text);
    (void)snprintf(expected, sizeof expected,
                   "inlined_function, spool_sites_test.c:%d\n"
                   "known_function, spool_sites_test.c:%d\n",
                   line, line + 6);
    assert_string_equal(text.text, expected);
    fb_buf_deinit(&text);
    fb_symbols_close(symbols);
}

static void what_is_no_program_has_no_symbols(void **state)
{
    (void)state;
    assert_null(fb_symbols_open("", 0));
    assert_null(fb_symbols_open("/nowhere/at/all", 0));
    assert_null(fb_symbols_open("/dev/null", 0));
    assert_null(fb_symbols_open("/etc/passwd", 0));
    fb_symbols_close(NULL);
}

/* A MODULE record as the recorder writes it. */
static void add_module(struct fb_spool_sites *sites, uint64_t begin, uint64_t end, uint64_t bias,
                       const char *path)
{
    uint64_t record[4 + FB_SPOOL_PATH_WORDS_MAX] = {0, begin, end, bias};
    size_t words = strlen(path) / sizeof(uint64_t) + 1;
    memcpy(record + 4, path, strlen(path));
    fb_spool_sites_module(sites, record, (unsigned)words);
}

static struct fb_recording *written(const struct fb_spool_sites *sites)
{
    struct tape tape = tape_begin();
    fb_spool_sites_write(sites, tape.writer);
    return tape_read(&tape);
}

static void frames_are_named_by_the_object_that_was_there(void **state)
{
    (void)state;
    struct fb_spool_sites sites = {0};
    static const uint64_t first[] = {0x1011, 0x5001}, second[] = {0x1011};
    add_module(&sites, 0x1000, 0x2000, 0x400, "/gone/libservice.so");
    fb_spool_sites_frames(&sites, 3, first, 2);
    add_module(&sites, 0x1000, 0x2000, 0x1000, "/gone/libother.so"); /* in the same place, later */
    fb_spool_sites_frames(&sites, 1, second, 1);
    fb_spool_sites_frames(&sites, 0, second, 1); /* no number of a site */
    fb_spool_sites_frames(&sites, FB_RECORDING_SITES_MAX, second, 1);
    struct fb_recording *recording = written(&sites);
    assert_int_equal(fb_recording_site_count(recording), 3);
    assert_string_equal(fb_recording_site(recording, 1), "libother.so+0x10");
    assert_string_equal(fb_recording_site(recording, 2), ""); /* never told */
    assert_string_equal(fb_recording_site(recording, 3),
                        "libservice.so+0xc10\n(code outside of any file)");
    fb_recording_close(recording);
    fb_spool_sites_deinit(&sites);
}

static void a_path_without_an_end_is_none(void **state)
{
    (void)state;
    struct fb_spool_sites sites = {0};
    static const uint64_t frame[] = {0x1011};
    uint64_t record[4 + FB_SPOOL_PATH_WORDS_MAX] = {0, 0x1000, 0x2000, 0x1000};
    memset(record + 4, 'x', FB_SPOOL_PATH_WORDS_MAX * sizeof(uint64_t));
    fb_spool_sites_module(&sites, record, FB_SPOOL_PATH_WORDS_MAX);
    fb_spool_sites_frames(&sites, 1, frame, 1);
    struct fb_recording *recording = written(&sites);
    assert_string_equal(fb_recording_site(recording, 1), "(unknown file)+0x10");
    fb_recording_close(recording);
    fb_spool_sites_deinit(&sites);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_inlined_call_has_a_line_of_its_own),
        cmocka_unit_test(what_is_no_program_has_no_symbols),
        cmocka_unit_test(frames_are_named_by_the_object_that_was_there),
        cmocka_unit_test(a_path_without_an_end_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
