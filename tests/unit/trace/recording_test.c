/* Recordings: what is written is read, and a file that was changed, cut or made up is refused. */
#include "trace/recording.h"

#include "base/alloc.h"
#include "base/rng.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

enum { RANDOM_EVENTS = 400000, OBJECTS_MAX = 1000 };

struct file {
    unsigned char *data;
    size_t size;
};

static struct fb_recording_writer *open_writer(int *fd)
{
    struct fb_recording_writer *writer = NULL;
    struct fb_error err = {0};
    *fd = memfd_create("recording", MFD_CLOEXEC);
    assert_true(*fd >= 0);
    assert_int_equal(fb_recording_writer_open(&writer, *fd, &err), 0);
    return writer;
}

static struct file close_writer(struct fb_recording_writer *writer, int fd)
{
    const struct fb_recording_totals totals = {
        .foreign_frees = 3, .missed_frees = 4, .reason = FB_RECORDING_LIMIT};
    struct fb_error err = {0};
    assert_int_equal(fb_recording_writer_close(writer, &totals, &err), 0);
    struct file file = {.size = (size_t)lseek(fd, 0, SEEK_END)};
    file.data = fb_alloc(file.size, 1);
    assert_int_equal(pread(fd, file.data, file.size, 0), (ssize_t)file.size);
    assert_int_equal(close(fd), 0);
    return file;
}

/* One of each kind, on two threads. */
static struct file small_file(void)
{
    int fd = -1;
    struct fb_recording_writer *writer = open_writer(&fd);
    fb_recording_writer_at(writer, 0, 1000);
    uint64_t first = fb_recording_writer_birth(writer, FB_RECORDING_MALLOC, 100, 0);
    uint64_t second = fb_recording_writer_birth(writer, FB_RECORDING_CALLOC, 1 << 20, 0);
    fb_recording_writer_at(writer, 3, 5000000);
    (void)fb_recording_writer_birth(writer, FB_RECORDING_ALIGNED, 0, 12);
    (void)fb_recording_writer_birth(writer, FB_RECORDING_REALLOC_NEW, FB_RECORDING_SIZE_MAX, 0);
    fb_recording_writer_realloc(writer, first, 300);
    fb_recording_writer_share(writer, second, 5);
    fb_recording_writer_free(writer, second);
    fb_recording_writer_exit(writer);
    fb_recording_writer_at(writer, 0, 4000000); /* never backwards */
    fb_recording_writer_free(writer, first);
    return close_writer(writer, fd);
}

static void assert_event(struct fb_recording *recording, const struct fb_recording_event *expected)
{
    struct fb_recording_event event;
    struct fb_error err = {0};
    if (fb_recording_next(recording, &event, &err) != 1)
        fail_msg("%s", err.text);
    assert_int_equal(event.kind, expected->kind);
    assert_int_equal(event.thread, expected->thread);
    assert_int_equal(event.time_ns, expected->time_ns);
    assert_int_equal(event.object, expected->object);
    assert_int_equal(event.size, expected->size);
    assert_int_equal(event.old_size, expected->old_size);
    assert_int_equal(event.align_log2, expected->align_log2);
    assert_int_equal(event.share, expected->share);
}

static void every_kind_of_event_comes_back(void **state)
{
    (void)state;
    static const struct fb_recording_event expected[] = {
        {.kind = FB_RECORDING_MALLOC, .time_ns = 1000, .size = 100},
        {.kind = FB_RECORDING_CALLOC, .time_ns = 1000, .object = 1, .size = 1 << 20},
        {.kind = FB_RECORDING_ALIGNED,
         .thread = 3,
         .time_ns = 5000000,
         .object = 2,
         .align_log2 = 12},
        {.kind = FB_RECORDING_REALLOC_NEW,
         .thread = 3,
         .time_ns = 5000000,
         .object = 3,
         .size = FB_RECORDING_SIZE_MAX},
        {.kind = FB_RECORDING_REALLOC,
         .thread = 3,
         .time_ns = 5000000,
         .size = 300,
         .old_size = 100},
        {.kind = FB_RECORDING_SHARE,
         .thread = 3,
         .time_ns = 5000000,
         .object = 1,
         .size = 1 << 20,
         .old_size = 1 << 20,
         .share = 5},
        {.kind = FB_RECORDING_FREE,
         .thread = 3,
         .time_ns = 5000000,
         .object = 1,
         .size = 1 << 20,
         .old_size = 1 << 20},
        {.kind = FB_RECORDING_EXIT, .thread = 3, .time_ns = 5000000},
        {.kind = FB_RECORDING_FREE, .time_ns = 5000000, .size = 300, .old_size = 300},
    };
    struct file file = small_file();
    struct fb_recording *recording = NULL;
    struct fb_recording_totals totals;
    struct fb_recording_event event;
    struct fb_error err = {0};
    assert_int_equal(fb_recording_open_memory(&recording, "a.fbt", file.data, file.size, &err), 0);
    assert_true(fb_recording_complete(recording, &totals));
    assert_int_equal(totals.events, 9);
    assert_int_equal(totals.objects, 4);
    assert_int_equal(totals.threads, 4);
    assert_int_equal(totals.duration_ns, 5000000);
    assert_int_equal(totals.foreign_frees, 3);
    assert_int_equal(totals.missed_frees, 4);
    assert_int_equal(totals.reason, FB_RECORDING_LIMIT);
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
            assert_event(recording, &expected[i]);
        assert_int_equal(fb_recording_next(recording, &event, &err), 0);
        fb_recording_rewind(recording);
    }
    fb_recording_close(recording);
    free(file.data);
}

/* Reads to the end: the number of events, or -1. */
static long read_all(const struct file *file, bool *complete, struct fb_error *err)
{
    struct fb_recording *recording = NULL;
    struct fb_recording_event event;
    struct fb_recording_totals totals;
    long events = 0;
    int more = 0;
    if (fb_recording_open_memory(&recording, "a.fbt", file->data, file->size, err) != 0)
        return -1;
    *complete = fb_recording_complete(recording, &totals);
    while ((more = fb_recording_next(recording, &event, err)) > 0)
        events++;
    fb_recording_close(recording);
    return more < 0 ? -1 : events;
}

static void a_change_of_any_byte_is_refused_with_a_place(void **state)
{
    (void)state;
    struct file file = small_file();
    for (size_t at = 0; at < file.size; at++) {
        for (unsigned bit = 0; bit < 8; bit++) {
            struct fb_error err = {0};
            bool complete = false;
            file.data[at] ^= (unsigned char)(1U << bit);
            if (read_all(&file, &complete, &err) >= 0)
                fail_msg("byte %zu, bit %u: read as if nothing were wrong", at, bit);
            assert_int_equal(err.kind, FB_ERROR_INPUT);
            assert_non_null(strstr(err.text, "a.fbt"));
            if (at >= 8)
                assert_non_null(strstr(err.text, "byte "));
            file.data[at] ^= (unsigned char)(1U << bit);
        }
    }
    free(file.data);
}

static void a_file_that_was_cut_is_read_up_to_its_last_whole_block(void **state)
{
    (void)state;
    struct file file = small_file();
    size_t whole = file.size;
    for (file.size = 0; file.size <= whole; file.size++) {
        struct fb_error err = {0};
        bool complete = false;
        /* An exact copy, so that a sanitizer sees what is read behind the end. */
        struct file copy = {fb_alloc(file.size + 1, 1), file.size};
        memcpy(copy.data, file.data, file.size);
        copy.data = fb_realloc(copy.data, file.size > 0 ? file.size : 1, 1);
        long events = read_all(&copy, &complete, &err);
        assert_int_equal(complete, file.size == whole);
        if (file.size < sizeof(struct fb_recording_header))
            assert_int_equal(events, -1);
        else
            assert_true(events == 0 || events == 9);
        if (file.size == whole)
            assert_int_equal(events, 9);
        free(copy.data);
    }
    free(file.data);
}

static void bytes_after_the_end_are_refused(void **state)
{
    (void)state;
    struct file file = small_file();
    struct fb_error err = {0};
    bool complete = false;
    file.data = fb_realloc(file.data, file.size + 1, 1);
    file.data[file.size++] = 0;
    assert_int_equal(read_all(&file, &complete, &err), -1);
    assert_non_null(strstr(err.text, "bytes after the end"));
    free(file.data);
}

/* What a writer would never write, with good checksums. */
static void events_about_objects_that_are_not_alive_are_refused(void **state)
{
    (void)state;
    for (int wrong = 0; wrong < 3; wrong++) {
        int fd = -1;
        struct fb_error err = {0};
        bool complete = false;
        struct fb_recording_writer *writer = open_writer(&fd);
        uint64_t object = fb_recording_writer_birth(writer, FB_RECORDING_MALLOC, 10, 0);
        if (wrong == 0)
            fb_recording_writer_free(writer, object + 1); /* not born */
        else
            fb_recording_writer_free(writer, object);
        if (wrong == 1)
            fb_recording_writer_free(writer, object);
        if (wrong == 2)
            fb_recording_writer_realloc(writer, object, 20);
        struct file file = close_writer(writer, fd);
        assert_int_equal(read_all(&file, &complete, &err), -1);
        assert_non_null(strstr(err.text, "not alive"));
        assert_non_null(strstr(err.text, "byte 64, event"));
        free(file.data);
    }
}

static void impossible_sizes_shares_and_alignments_are_refused(void **state)
{
    (void)state;
    for (int wrong = 0; wrong < 3; wrong++) {
        int fd = -1;
        struct fb_error err = {0};
        bool complete = false;
        struct fb_recording_writer *writer = open_writer(&fd);
        uint64_t size = FB_RECORDING_SIZE_MAX + (wrong == 0);
        uint64_t object =
            fb_recording_writer_birth(writer, FB_RECORDING_ALIGNED, size, wrong == 1 ? 60 : 5);
        fb_recording_writer_share(writer, object, wrong == 2 ? 17 : 16);
        struct file file = close_writer(writer, fd);
        assert_int_equal(read_all(&file, &complete, &err), -1);
        assert_non_null(strstr(err.text, "beyond its range"));
        free(file.data);
    }
}

/* Gives the header another version. */
static void set_version(struct file *file, uint32_t version)
{
    struct fb_recording_header header;
    memcpy(&header, file->data, sizeof header);
    header.version = version;
    header.checksum =
        fb_recording_checksum(&header, offsetof(struct fb_recording_header, checksum));
    memcpy(file->data, &header, sizeof header);
}

static struct file measured_file(const struct fb_recording_memory *memories, size_t count)
{
    int fd = -1;
    struct fb_recording_writer *writer = open_writer(&fd);
    for (size_t i = 0; i < count; i++) {
        (void)fb_recording_writer_birth(writer, FB_RECORDING_MALLOC, 10, 0);
        fb_recording_writer_memory(writer, &memories[i]);
    }
    return close_writer(writer, fd);
}

static void memory_is_that_of_the_highest_measurement(void **state)
{
    (void)state;
    static const struct fb_recording_memory given[] = {
        {40960, 4096, 2048, 20480}, {81920, 8192, 1024, 10240}, {81919, 0, 0, 0}};
    struct file file = measured_file(given, 3);
    struct fb_recording *recording = NULL;
    struct fb_recording_memories memories;
    struct fb_recording_event event;
    struct fb_error err = {0};
    uint64_t events = 0;
    assert_int_equal(fb_recording_open_memory(&recording, "a.fbt", file.data, file.size, &err), 0);
    for (int round = 0; round < 2; round++) {
        while (fb_recording_next(recording, &event, &err) > 0)
            events++;
        fb_recording_memories(recording, &memories);
        assert_int_equal(memories.count, 3);
        assert_memory_equal(&memories.peak, &given[1], sizeof given[1]);
        fb_recording_rewind(recording);
    }
    assert_int_equal(events, 6); /* measurements are no events */
    fb_recording_memories(recording, &memories);
    assert_int_equal(memories.count, 0);
    fb_recording_close(recording);
    free(file.data);
}

static void parts_of_memory_beyond_the_whole_are_refused(void **state)
{
    (void)state;
    static const struct fb_recording_memory wrong = {4096, 2048, 2048, 1024};
    struct file file = measured_file(&wrong, 1);
    struct fb_error err = {0};
    bool complete = false;
    assert_int_equal(read_all(&file, &complete, &err), -1);
    assert_non_null(strstr(err.text, "more than all of it"));
    free(file.data);
}

static void files_of_earlier_versions_have_what_was_there(void **state)
{
    (void)state;
    static const struct fb_recording_memory memory = {4096, 0, 0, 0};
    bool complete = false;
    struct fb_error err = {0};
    struct file old = small_file();
    set_version(&old, 1);
    assert_int_equal(read_all(&old, &complete, &err), 9);
    assert_true(complete);
    free(old.data);
    struct file impossible = measured_file(&memory, 1);
    set_version(&impossible, 1);
    assert_int_equal(read_all(&impossible, &complete, &err), -1);
    assert_non_null(strstr(err.text, "an unknown event"));
    free(impossible.data);
    int fd = -1;
    struct fb_recording_writer *writer = open_writer(&fd);
    fb_recording_writer_site(writer, 1);
    (void)fb_recording_writer_birth(writer, FB_RECORDING_MALLOC, 10, 0);
    struct file too_new = close_writer(writer, fd);
    set_version(&too_new, 2);
    assert_int_equal(read_all(&too_new, &complete, &(struct fb_error){0}), -1);
    set_version(&too_new, 3);
    assert_int_equal(read_all(&too_new, &complete, &err), 1);
    free(too_new.data);
    struct file later = small_file();
    struct fb_error refused = {0};
    set_version(&later, FB_RECORDING_VERSION + 1);
    assert_int_equal(read_all(&later, &complete, &refused), -1);
    assert_non_null(
        strstr(refused.text, "a recording of version 4, this fragbench reads versions 1 to 3"));
    free(later.data);
}

/* Many blocks: every object's death finds its own size. */
static void a_long_recording_keeps_every_object_apart(void **state)
{
    (void)state;
    static uint64_t objects[OBJECTS_MAX], sizes[OBJECTS_MAX];
    struct fb_rng rng;
    int fd = -1;
    size_t alive = 0;
    uint64_t sum = 0, found = 0;
    struct fb_recording_writer *writer = open_writer(&fd);
    fb_rng_seed_named(&rng, 1, "recording");
    for (uint64_t i = 0; i < RANDOM_EVENTS; i++) {
        fb_recording_writer_at(writer, (uint32_t)fb_rng_below(&rng, 5), i * 100);
        if (alive < OBJECTS_MAX && (alive == 0 || fb_rng_below(&rng, 2) == 0)) {
            sizes[alive] = fb_rng_below(&rng, 100000);
            objects[alive] =
                fb_recording_writer_birth(writer, FB_RECORDING_MALLOC, sizes[alive], 0);
            alive++;
        } else {
            size_t victim = fb_rng_below(&rng, alive);
            sum += sizes[victim] * (objects[victim] + 1);
            fb_recording_writer_free(writer, objects[victim]);
            objects[victim] = objects[--alive];
            sizes[victim] = sizes[alive];
        }
    }
    struct file file = close_writer(writer, fd);
    struct fb_recording *recording = NULL;
    struct fb_recording_event event = {0};
    struct fb_error err = {0};
    uint32_t handles = 0;
    assert_int_equal(fb_recording_open_memory(&recording, "a.fbt", file.data, file.size, &err), 0);
    while (fb_recording_next(recording, &event, &err) > 0) {
        if (event.handle >= handles)
            handles = event.handle + 1;
        if (event.kind == FB_RECORDING_FREE)
            found += event.size * (event.object + 1);
    }
    assert_string_equal(err.text, "");
    assert_int_equal(found, sum);
    assert_in_range(handles, 1, OBJECTS_MAX + 1024); /* used again */
    assert_true(file.size < RANDOM_EVENTS * 5);      /* random sizes, references and threads */
    fb_recording_close(recording);
    free(file.data);
}

static void a_full_disk_is_an_error(void **state)
{
    (void)state;
    struct fb_recording_writer *writer = NULL;
    struct fb_error err = {0};
    int fd = open("/dev/full", O_RDWR | O_CLOEXEC);
    if (fd < 0)
        skip();
    assert_int_equal(fb_recording_writer_open(&writer, fd, &err), -1);
    assert_int_equal(err.kind, FB_ERROR_IO);
    assert_int_equal(close(fd), 0);
}

/* The file may not grow after its header, as on a disk that fills up; the program goes on. */
static void events_after_a_failure_do_not_pile_up(void **state)
{
    (void)state;
    struct fb_recording_writer *writer = NULL;
    const struct fb_recording_totals totals = {0};
    struct fb_error err = {0};
    int fd = memfd_create("recording", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    assert_int_equal(fb_recording_writer_open(&writer, fd, &err), 0);
    assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_GROW), 0);
    for (unsigned i = 0; i < 2000000; i++)
        (void)fb_recording_writer_birth(writer, FB_RECORDING_MALLOC, i, 0);
    assert_int_equal(fb_recording_writer_flush(writer, &err), -1);
    assert_int_equal(fb_recording_writer_close(writer, &totals, &err), -1);
    assert_int_equal(close(fd), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_event_comes_back),
        cmocka_unit_test(a_change_of_any_byte_is_refused_with_a_place),
        cmocka_unit_test(a_file_that_was_cut_is_read_up_to_its_last_whole_block),
        cmocka_unit_test(bytes_after_the_end_are_refused),
        cmocka_unit_test(events_about_objects_that_are_not_alive_are_refused),
        cmocka_unit_test(impossible_sizes_shares_and_alignments_are_refused),
        cmocka_unit_test(memory_is_that_of_the_highest_measurement),
        cmocka_unit_test(parts_of_memory_beyond_the_whole_are_refused),
        cmocka_unit_test(files_of_earlier_versions_have_what_was_there),
        cmocka_unit_test(a_long_recording_keeps_every_object_apart),
        cmocka_unit_test(a_full_disk_is_an_error),
        cmocka_unit_test(events_after_a_failure_do_not_pile_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
