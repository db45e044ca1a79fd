/* Call sites in recordings: births name theirs, the frames come back, and what cannot be is
 * refused. */
#include "trace/recording_sites.h"

#include "tape.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "trace/recording.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { MANY = 20000, DEEP = 40 };

static const uint32_t of_births[] = {2, 2, 0, 1, 3, 3};
enum { BIRTHS = sizeof of_births / sizeof of_births[0] };

/* The births, each freed at once, with the frames of so many sites. */
static struct tape write_births(const char *const *frames, uint32_t count)
{
    struct tape tape = tape_begin();
    for (int i = 0; i < BIRTHS; i++) {
        fb_recording_writer_site(tape.writer, of_births[i]);
        uint64_t object = fb_recording_writer_birth(tape.writer, FB_RECORDING_MALLOC, 100, 0);
        fb_recording_writer_free(tape.writer, object);
    }
    if (count > 0)
        fb_recording_writer_sites(tape.writer, frames, count);
    return tape;
}

static struct fb_recording *recorded(const char *const *frames, uint32_t count)
{
    struct tape tape = write_births(frames, count);
    return tape_read(&tape);
}

static void births_name_their_sites(void **state)
{
    (void)state;
    static const char *const frames[] = {"one, a.c:1", "two, a.c:2\nmain, a.c:9", ""};
    struct fb_recording *recording = recorded(frames, 3);
    struct fb_recording_totals totals;
    struct fb_recording_event event;
    struct fb_error err = {0};
    assert_true(fb_recording_complete(recording, &totals));
    assert_int_equal(totals.events, 2 * BIRTHS); /* sites are no events */
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < BIRTHS; i++) {
            assert_int_equal(fb_recording_next(recording, &event, &err), 1);
            assert_int_equal(event.kind, FB_RECORDING_MALLOC);
            assert_int_equal(event.site, of_births[i]);
            assert_int_equal(fb_recording_next(recording, &event, &err), 1);
            assert_int_equal(event.kind, FB_RECORDING_FREE);
        }
        assert_int_equal(fb_recording_next(recording, &event, &err), 0);
        fb_recording_rewind(recording);
    }
    fb_recording_close(recording);
}

static void frames_come_back(void **state)
{
    (void)state;
    char longer[FB_RECORDING_FRAME_MAX + 100], cut[FB_RECORDING_FRAME_MAX + 1];
    memset(longer, 'x', sizeof longer);
    memcpy(longer + FB_RECORDING_FRAME_MAX - 1, "\xc3\xa4", 2); /* cut in the middle of an ä */
    longer[sizeof longer - 1] = '\0';
    memset(cut, 'x', sizeof cut);
    cut[FB_RECORDING_FRAME_MAX - 1] = '\0';
    const char *const frames[] = {"one, a.c:1", "two, a.c:2\nmain, a.c:9\n", "", longer,
                                  "tab\there\x7f"};
    struct fb_recording *recording = recorded(frames, 5);
    assert_int_equal(fb_recording_site_count(recording), 5);
    assert_string_equal(fb_recording_site(recording, 1), "one, a.c:1");
    assert_string_equal(fb_recording_site(recording, 2), "two, a.c:2\nmain, a.c:9");
    assert_string_equal(fb_recording_site(recording, 3), "");
    assert_string_equal(fb_recording_site(recording, 4), cut);
    assert_string_equal(fb_recording_site(recording, 5), "tab?here?");
    assert_string_equal(fb_recording_site(recording, 0), "");
    assert_string_equal(fb_recording_site(recording, 6), "");
    fb_recording_close(recording);
}

static void a_recording_without_frames_has_none(void **state)
{
    (void)state;
    struct fb_recording *recording = recorded(NULL, 0);
    assert_int_equal(fb_recording_site_count(recording), 0);
    assert_string_equal(fb_recording_site(recording, 2), "");
    fb_recording_close(recording);
}

/* Some megabytes: many blocks. */
static void every_one_of_many_sites_comes_back(void **state)
{
    (void)state;
    char **frames = fb_alloc(MANY, sizeof *frames);
    for (uint32_t i = 0; i < MANY; i++) {
        struct fb_buf text;
        fb_buf_init(&text, 1 << 16);
        for (uint32_t line = 0; line <= i % DEEP; line++)
            fb_buf_addf(&text, "%sfunction_%u_%u, file.c:%u", line > 0 ? "\n" : "", i, line, line);
        frames[i] = fb_strdup(text.text);
        fb_buf_deinit(&text);
    }
    struct fb_recording *recording = recorded((const char *const *)frames, MANY);
    assert_int_equal(fb_recording_site_count(recording), MANY);
    for (uint32_t i = 0; i < MANY; i++) {
        assert_string_equal(fb_recording_site(recording, i + 1), frames[i]);
        free(frames[i]);
    }
    free(frames);
    fb_recording_close(recording);
}

static void content_that_cannot_be_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *content;
        uint32_t count;
        const char *wrong; /* NULL: nothing */
    } cases[] = {
        {"", 0, NULL},
        {"a\n\n", 1, NULL},
        {"\n", 1, NULL},
        {"a\n\n\nb\nc\n\n", 3, NULL},
        {"a\n\n", 2, "fewer call sites than it says"},
        {"a\n", 1, "fewer call sites than it says"},
        {"", 1, "fewer call sites than it says"},
        {"a\n\nb\n\n", 1, "more frames than it says"},
        {"a\tb\n\n", 1, "frames that are no text"},
        {"\x7f\n\n", 1, "frames that are no text"},
        {"a\n\n", FB_RECORDING_SITES_MAX, "more call sites than there may be"},
        {"a\n\n", UINT32_MAX, "more call sites than there may be"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fb_recording_sites sites = {0};
        const char *wrong = fb_recording_sites_add(&sites, (const unsigned char *)cases[i].content,
                                                   strlen(cases[i].content), cases[i].count);
        if (cases[i].wrong == NULL)
            assert_null(wrong);
        else
            assert_string_equal(wrong, cases[i].wrong);
        fb_recording_sites_deinit(&sites);
    }
}

/* The file's bytes, changed by one bit, or called of an older version. */
static void a_damaged_file_and_an_older_version_are_refused(void **state)
{
    (void)state;
    static const char *const frames[] = {"one, a.c:1", "two, a.c:2\nmain, a.c:9", ""};
    struct tape tape = write_births(frames, 3);
    tape_end(&tape);
    size_t size = (size_t)lseek(tape.fd, 0, SEEK_END);
    unsigned char *data = fb_alloc(size, 1);
    struct fb_recording *recording = NULL;
    assert_int_equal(pread(tape.fd, data, size, 0), (ssize_t)size);
    assert_int_equal(close(tape.fd), 0);
    for (size_t at = 0; at < size; at++) {
        struct fb_error err = {0};
        data[at] ^= 0x10U;
        assert_int_equal(fb_recording_open_memory(&recording, "a.fbt", data, size, &err), -1);
        assert_int_equal(err.kind, FB_ERROR_INPUT);
        data[at] ^= 0x10U;
    }
    struct fb_recording_header header;
    struct fb_error err = {0};
    memcpy(&header, data, sizeof header);
    header.version = FB_RECORDING_VERSION_MEMORY;
    header.checksum =
        fb_recording_checksum(&header, offsetof(struct fb_recording_header, checksum));
    memcpy(data, &header, sizeof header);
    assert_int_equal(fb_recording_open_memory(&recording, "a.fbt", data, size, &err), -1);
    assert_non_null(strstr(err.text, "a block of an unknown kind"));
    free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(births_name_their_sites),
        cmocka_unit_test(frames_come_back),
        cmocka_unit_test(a_recording_without_frames_has_none),
        cmocka_unit_test(every_one_of_many_sites_comes_back),
        cmocka_unit_test(content_that_cannot_be_is_refused),
        cmocka_unit_test(a_damaged_file_and_an_older_version_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
