/* Fitted workloads: the language takes them, and their peak is near the recording's. */
#include "workload/fit.h"

#include "base/alloc.h"
#include "base/rng.h"
#include "trace/recording.h"
#include "workload/compile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

enum { KEPT_MAX = 4000 };

static struct fb_workload *load(struct fb_recording_writer *writer, int fd)
{
    const struct fb_recording_totals totals = {0};
    struct fb_diagnostics diagnostics;
    struct fb_workload *workload = NULL;
    struct fb_error err = {0};
    char *path = fb_format("/proc/self/fd/%d", fd);
    assert_int_equal(fb_recording_writer_close(writer, &totals, &err), 0);
    fb_diagnostics_init(&diagnostics);
    if (fb_workload_load(path, NULL, 0, &workload, &diagnostics) != 0)
        fail_msg("%s", diagnostics.items[0].text);
    fb_diagnostics_deinit(&diagnostics);
    free(path);
    assert_int_equal(close(fd), 0);
    return workload;
}

static struct fb_recording_writer *begin(int *fd)
{
    struct fb_recording_writer *writer = NULL;
    struct fb_error err = {0};
    *fd = memfd_create("recording", MFD_CLOEXEC);
    assert_int_equal(fb_recording_writer_open(&writer, *fd, &err), 0);
    return writer;
}

/* The text, and the peak of what it compiles to. */
static char *fit(struct fb_workload *recording, const char *name, struct fb_fit_report *report)
{
    struct fb_buf text;
    struct fb_error err = {0};
    struct fb_diagnostics diagnostics;
    struct fb_workload *fitted = NULL;
    fb_buf_init(&text, (size_t)1 << 21);
    if (fb_fit_make(recording, name, &text, report, &err) != 0)
        fail_msg("%s", err.text);
    fb_diagnostics_init(&diagnostics);
    assert_int_equal(
        fb_workload_parse("fitted.yaml", text.text, text.length, NULL, 0, &fitted, &diagnostics),
        0);
    fb_diagnostics_deinit(&diagnostics);
    struct fb_totals totals;
    const struct fb_compile_options options = {.seed = fitted->seed, .scale = 1};
    assert_int_equal(fb_compile_totals(fitted, &options, &totals, &err), 0);
    assert_int_equal(totals.header.peak_live_bytes, report->peak_bytes);
    fb_totals_deinit(&totals);
    fb_workload_free(fitted);
    char *copy = fb_strdup(text.text);
    fb_buf_deinit(&text);
    fb_workload_free(recording);
    return copy;
}

static void assert_near(const struct fb_fit_report *report)
{
    assert_in_range(report->peak_bytes, report->recorded_peak_bytes * 9 / 10,
                    report->recorded_peak_bytes * 11 / 10);
}

/* Weights that stay, requests with buffers, and a cache that grows and is dropped, on `threads`. */
static struct fb_workload *service(uint32_t threads)
{
    static uint64_t kept[KEPT_MAX];
    struct fb_rng rng;
    int fd = -1;
    struct fb_recording_writer *writer = begin(&fd);
    fb_rng_seed_named(&rng, threads, "service");
    for (int i = 0; i < 20; i++)
        (void)fb_recording_writer_birth(writer, FB_RECORDING_MALLOC, 500000 + (uint64_t)i, 0);
    size_t count = 0;
    for (uint64_t request = 0; request < 3000; request++) {
        fb_recording_writer_at(writer, (uint32_t)(request % threads) + (threads > 1),
                               request * 1000000);
        uint64_t buffer = fb_recording_writer_birth(writer, FB_RECORDING_MALLOC,
                                                    10000 + fb_rng_below(&rng, 100000), 0);
        for (int i = 0; i < 5; i++) {
            uint64_t small = fb_recording_writer_birth(writer, FB_RECORDING_CALLOC,
                                                       16 + fb_rng_below(&rng, 200), 0);
            fb_recording_writer_free(writer, small);
        }
        kept[count++] = fb_recording_writer_birth(writer, FB_RECORDING_MALLOC,
                                                  1000 + fb_rng_below(&rng, 9000), 0);
        fb_recording_writer_free(writer, buffer);
        while (request == 2000 && count > 0)
            fb_recording_writer_free(writer, kept[--count]);
    }
    return load(writer, fd);
}

static void a_service_on_one_thread_is_met(void **state)
{
    (void)state;
    struct fb_fit_report report;
    char *text = fit(service(1), "my service", &report);
    assert_near(&report);
    assert_non_null(strstr(text, "name: my_service\n"));
    assert_non_null(strstr(text, "lifetime: run"));
    assert_non_null(strstr(text, "lifetime: manual"));
    assert_non_null(strstr(text, "call: calloc"));
    assert_null(strstr(text, "pools:"));
    free(text);
}

static void other_threads_become_a_pool(void **state)
{
    (void)state;
    struct fb_fit_report report;
    char *text = fit(service(4), "pooled", &report);
    assert_near(&report);
    assert_non_null(strstr(text, "pools: {workers: 4}"));
    assert_non_null(strstr(text, "pool: workers"));
    free(text);
}

static void large_blocks_are_where_they_were(void **state)
{
    (void)state;
    int fd = -1;
    struct fb_recording_writer *writer = begin(&fd);
    struct fb_fit_report report;
    uint64_t first[10];
    for (uint64_t i = 0; i < 10; i++)
        first[i] = fb_recording_writer_birth(writer, FB_RECORDING_MALLOC, (i + 1) << 20, 0);
    fb_recording_writer_at(writer, 0, 1000000000);
    for (uint64_t i = 0; i < 10; i++)
        fb_recording_writer_free(writer, first[i]);
    fb_recording_writer_at(writer, 0, 2000000000);
    (void)fb_recording_writer_birth(writer, FB_RECORDING_ALIGNED, 50 << 20, 12);
    char *text = fit(load(writer, fd), "large", &report);
    assert_int_equal(report.recorded_peak_bytes, 55 << 20);
    assert_near(&report);
    assert_non_null(strstr(text, "align: 4096"));
    free(text);
}

/* The largest size that is not large, kept over different phases: one class, not two of a name. */
static void sizes_at_the_edge_of_a_range_make_one_class(void **state)
{
    (void)state;
    int fd = -1;
    struct fb_recording_writer *writer = begin(&fd);
    struct fb_fit_report report;
    uint64_t kept[3];
    for (uint64_t i = 0; i < 3; i++) {
        fb_recording_writer_at(writer, 0, i * 1000000000);
        kept[i] = fb_recording_writer_birth(writer, FB_RECORDING_MALLOC, 65536, 0);
    }
    for (uint64_t i = 0; i < 3; i++) {
        fb_recording_writer_at(writer, 0, (i + 3) * 1000000000);
        fb_recording_writer_free(writer, kept[i]);
    }
    char *text = fit(load(writer, fd), "edge", &report);
    assert_int_equal(report.peak_bytes, 3 * 65536);
    free(text);
}

static void assert_exact(const struct fb_fit_report *report)
{
    assert_in_range(report->peak_bytes, report->recorded_peak_bytes * 99 / 100,
                    report->recorded_peak_bytes * 101 / 100);
}

/* Nine in ten die at half time: they lie among the tenth, and so they are two classes of which each
 * iteration makes some, not one whose first nine tenths are freed. */
static void what_dies_lies_among_what_lives_on(void **state)
{
    (void)state;
    int fd = -1;
    struct fb_recording_writer *writer = begin(&fd);
    struct fb_fit_report report;
    static uint64_t objects[KEPT_MAX];
    for (uint64_t i = 0; i < KEPT_MAX; i++) {
        fb_recording_writer_at(writer, 0, i * 1000000);
        objects[i] = fb_recording_writer_birth(writer, FB_RECORDING_MALLOC, 200, 0);
    }
    for (int round = 0; round < 2; round++) {
        fb_recording_writer_at(writer, 0, (UINT64_C(4) + 4 * (uint64_t)round) * 1000000000);
        for (uint64_t i = 0; i < KEPT_MAX; i++)
            if ((i % 10 == 0) == (round == 1))
                fb_recording_writer_free(writer, objects[i]);
    }
    char *text = fit(load(writer, fd), "scattered", &report);
    assert_int_equal(report.peak_bytes, KEPT_MAX * 200);
    assert_null(strstr(text, "%")); /* no share of a class is freed: all of it is */
    const char *first = strstr(text, "kept_to_256b_p");
    assert_non_null(first);
    const char *second = strstr(first + 14, "kept_to_256b_p");
    assert_non_null(second);
    assert_memory_not_equal(first, second, 17);
    free(text);
}

/* A hump within what would be one phase of equal time. */
static void where_the_live_bytes_turn_there_is_a_cut(void **state)
{
    (void)state;
    int fd = -1;
    struct fb_recording_writer *writer = begin(&fd);
    struct fb_fit_report report;
    static uint64_t objects[1000];
    for (uint64_t hump = 0; hump < 3; hump++) {
        fb_recording_writer_at(writer, 0, hump * 1000000);
        for (uint64_t i = 0; i < 1000; i++)
            objects[i] = fb_recording_writer_birth(writer, FB_RECORDING_MALLOC,
                                                   5000 * (1 + hump % 2) + i, 0);
        for (uint64_t i = 0; i < 1000; i++)
            fb_recording_writer_free(writer, objects[i]);
    }
    fb_recording_writer_at(writer, 0, 60000000000);
    (void)fb_recording_writer_birth(writer, FB_RECORDING_MALLOC, 10, 0);
    char *text = fit(load(writer, fd), "humps", &report);
    assert_in_range(report.peak_bytes, report.recorded_peak_bytes * 97 / 100,
                    report.recorded_peak_bytes * 103 / 100);
    free(text);
}

/* Most objects have one of two sizes, which stand at the ends of a histogram's parts. */
static void a_size_that_many_objects_have_is_kept(void **state)
{
    (void)state;
    int fd = -1;
    struct fb_recording_writer *writer = begin(&fd);
    struct fb_rng rng;
    struct fb_fit_report report;
    fb_rng_seed_named(&rng, 1, "sizes");
    for (uint64_t i = 0; i < 20000; i++) {
        uint64_t size = i % 10 == 0 ? 300 + fb_rng_below(&rng, 700) : i % 3 == 0 ? 352 : 640;
        (void)fb_recording_writer_birth(writer, FB_RECORDING_MALLOC, size, 0);
    }
    char *text = fit(load(writer, fd), "sizes", &report);
    assert_non_null(strstr(text, "351, 352"));
    assert_non_null(strstr(text, "639, 640"));
    assert_exact(&report);
    free(text);
}

/* Main makes what another thread frees: there is no thread beside main to free it. */
static void what_main_hands_over_is_fitted_too(void **state)
{
    (void)state;
    int fd = -1;
    struct fb_recording_writer *writer = begin(&fd);
    struct fb_fit_report report;
    for (uint64_t i = 0; i < 1000; i++) {
        fb_recording_writer_at(writer, 0, i * 1000000);
        uint64_t object = fb_recording_writer_birth(writer, FB_RECORDING_MALLOC, 100 + i, 0);
        (void)fb_recording_writer_birth(writer, FB_RECORDING_MALLOC, 50, 0);
        fb_recording_writer_at(writer, 1, i * 1000000);
        fb_recording_writer_free(writer, object);
    }
    char *text = fit(load(writer, fd), "handed", &report);
    assert_non_null(strstr(text, "_handed"));
    assert_null(strstr(text, "freed_by"));
    assert_near(&report);
    free(text);
}

/* A buffer that doubles leaves holes of its smaller sizes. */
static void a_block_that_grows_is_fitted_as_several(void **state)
{
    (void)state;
    int fd = -1;
    struct fb_recording_writer *writer = begin(&fd);
    struct fb_fit_report report;
    for (uint64_t i = 0; i < 100; i++) {
        uint64_t object = fb_recording_writer_birth(writer, FB_RECORDING_MALLOC, 1000, 0);
        fb_recording_writer_realloc(writer, object, 1100); /* hardly: it stays */
        fb_recording_writer_realloc(writer, object, 300000);
        fb_recording_writer_free(writer, object);
        (void)fb_recording_writer_birth(writer, FB_RECORDING_MALLOC, 50, 0);
    }
    char *text = fit(load(writer, fd), "growing", &report);
    assert_non_null(strstr(text, "temp_to_4k: {size: 1100"));
    assert_non_null(strstr(text, "temp_to_512k: {size: 300000"));
    free(text);
}

/* Over weights, 20 large blocks that live for ten births each, on threads that take turns. */
static char *fit_lives(uint32_t threads)
{
    int fd = -1;
    struct fb_recording_writer *writer = begin(&fd);
    struct fb_fit_report report;
    (void)fb_recording_writer_birth(writer, FB_RECORDING_MALLOC, 100 << 20, 0);
    for (uint64_t i = 0; i < 20; i++) {
        uint32_t thread = threads > 1 ? 1 + (uint32_t)i % threads : 0;
        fb_recording_writer_at(writer, thread, i * 1000000);
        uint64_t large = fb_recording_writer_birth(writer, FB_RECORDING_MALLOC, (1 << 20) + i, 0);
        for (int k = 0; k < 9; k++)
            fb_recording_writer_free(
                writer, fb_recording_writer_birth(writer, FB_RECORDING_MALLOC, 100, 0));
        fb_recording_writer_free(writer, large);
    }
    char *text = fit(load(writer, fd), "lives", &report);
    assert_near(&report);
    return text;
}

/* Each its own, not one drawn between 8 and 16; and where a pool's workers share the births, what a
 * thread of it makes meanwhile. */
static void few_objects_have_lives_of_their_own(void **state)
{
    (void)state;
    char *text = fit_lives(1);
    assert_non_null(strstr(text, "lifetime: {ops: {cycle: [10, 10, 10"));
    free(text);
    text = fit_lives(4);
    assert_non_null(strstr(text, "pools: {workers: 4}"));
    assert_non_null(strstr(text, "lifetime: {ops: {cycle: [2, 2, 2"));
    free(text);
}

/* What is written of a class is a part of its bytes: 31 of 48 MiB here, not one block of two. */
static void what_is_written_is_a_part_of_the_bytes(void **state)
{
    (void)state;
    int fd = -1;
    struct fb_recording_writer *writer = begin(&fd);
    struct fb_fit_report report;
    uint64_t empty = fb_recording_writer_birth(writer, FB_RECORDING_MALLOC, 17 << 20, 0);
    (void)fb_recording_writer_birth(writer, FB_RECORDING_MALLOC, 31 << 20, 0);
    fb_recording_writer_share(writer, empty, 0);
    char *text = fit(load(writer, fd), "written", &report);
    assert_non_null(strstr(text, "lifetime: run, touch: 64%}"));
    free(text);
}

static void a_single_call_is_a_workload(void **state)
{
    (void)state;
    int fd = -1;
    struct fb_recording_writer *writer = begin(&fd);
    struct fb_fit_report report;
    (void)fb_recording_writer_birth(writer, FB_RECORDING_MALLOC, 0, 0);
    char *text = fit(load(writer, fd), "", &report);
    assert_int_equal(report.peak_bytes, 1);
    free(text);
}

static void an_idle_hour_stays_one(void **state)
{
    (void)state;
    int fd = -1;
    struct fb_recording_writer *writer = begin(&fd);
    struct fb_fit_report report;
    uint64_t object = fb_recording_writer_birth(writer, FB_RECORDING_MALLOC, 1000, 0);
    fb_recording_writer_at(writer, 0, UINT64_C(3600000000000));
    fb_recording_writer_free(writer, object);
    char *text = fit(load(writer, fd), "idle", &report);
    assert_int_equal(report.peak_bytes, 1000);
    assert_non_null(strstr(text, "for: 3600000000000ns"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_service_on_one_thread_is_met),
        cmocka_unit_test(other_threads_become_a_pool),
        cmocka_unit_test(large_blocks_are_where_they_were),
        cmocka_unit_test(sizes_at_the_edge_of_a_range_make_one_class),
        cmocka_unit_test(what_dies_lies_among_what_lives_on),
        cmocka_unit_test(where_the_live_bytes_turn_there_is_a_cut),
        cmocka_unit_test(a_size_that_many_objects_have_is_kept),
        cmocka_unit_test(what_main_hands_over_is_fitted_too),
        cmocka_unit_test(a_block_that_grows_is_fitted_as_several),
        cmocka_unit_test(few_objects_have_lives_of_their_own),
        cmocka_unit_test(what_is_written_is_a_part_of_the_bytes),
        cmocka_unit_test(a_single_call_is_a_workload),
        cmocka_unit_test(an_idle_hour_stays_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
