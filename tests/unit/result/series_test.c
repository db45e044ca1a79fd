#include "result/store.h"

#include "base/alloc.h"
#include "sample.h"
#include "scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define FIRST_FILE "series/kv-cache-growth_jemalloc_dirty_decay_ms_0_sequences_256.0.csv"
#define HEADER "t_ns,footprint_bytes,live_bytes,touched_bytes,volume_bytes,iteration,phase,reason\n"

static void folder_is_made_with_its_parents(void **state)
{
    struct fb_error err = {0};
    char *dir = fb_format("%s/a/b/c", (const char *)*state);
    assert_int_equal(fb_store_create(dir, false, &err), 0);
    assert_true(scratch_exists(dir, "series"));
    free(dir);
}

static void used_folder_is_refused_without_force(void **state)
{
    struct fb_error err = {0};
    scratch_write(*state, "notes.txt", "mine");
    assert_int_equal(fb_store_create(*state, false, &err), -1);
    assert_int_equal(err.kind, FB_ERROR_INPUT);
    assert_non_null(strstr(err.text, "-f"));
    assert_int_equal(scratch_entries(*state), 1);
}

static void force_removes_an_earlier_run_and_nothing_else(void **state)
{
    struct fb_error err = {0};
    assert_int_equal(fb_store_create(*state, false, &err), 0);
    scratch_write(*state, "result.json", "{}");
    scratch_write(*state, "notes.txt", "mine");
    scratch_write(*state, "series/old.0.csv", "");
    scratch_write(*state, "series/notes.txt", "mine");
    assert_int_equal(fb_store_create(*state, true, &err), 0);
    assert_false(scratch_exists(*state, "result.json"));
    assert_false(scratch_exists(*state, "series/old.0.csv"));
    assert_true(scratch_exists(*state, "notes.txt"));
    assert_true(scratch_exists(*state, "series/notes.txt"));
}

static void file_in_the_way_is_refused(void **state)
{
    struct fb_error err = {0};
    char *path = fb_format("%s/taken", (const char *)*state);
    scratch_write(*state, "taken", "");
    assert_int_equal(fb_store_create(path, true, &err), -1);
    assert_int_equal(err.kind, FB_ERROR_INPUT);
    free(path);
}

static struct fb_repetition *write_sample(const char *dir, struct fb_result *sample)
{
    struct fb_error err = {0};
    sample_result_init(sample);
    struct fb_cell *cell = &sample->cells[SAMPLE_JEMALLOC];
    assert_int_equal(fb_store_create(dir, true, &err), 0);
    assert_int_equal(fb_store_write_series(dir, cell, &cell->repetitions[0], &err), 0);
    return &cell->repetitions[0];
}

static void series_is_written_with_names(void **state)
{
    struct fb_result sample;
    const struct fb_repetition *repetition = write_sample(*state, &sample);
    assert_string_equal(repetition->series_file, FIRST_FILE);
    char *text = scratch_read(*state, FIRST_FILE);
    assert_string_equal(text, HEADER "0,1048576,0,0,0,0,,start\n"
                                     "500,2097152,1048576,4096,2097152,1,load,iteration\n"
                                     "1000,3145728,2097152,8192,4194304,2,serve,peak\n");
    free(text);
    fb_result_deinit(&sample);
}

static void series_reads_back(void **state)
{
    struct fb_error err = {0};
    struct fb_result sample;
    struct fb_series series;
    const struct fb_repetition *repetition = write_sample(*state, &sample);
    assert_int_equal(fb_store_read_series(*state, repetition, &series, &err), 0);
    assert_int_equal(series.count, 3);
    assert_memory_equal(series.points, repetition->series.points, 3 * sizeof *series.points);
    free(series.points);
    fb_result_deinit(&sample);
}

static void damaged_series_is_refused_with_its_line(void **state)
{
    static const char *const cases[][2] = {
        {HEADER "1,2,3,4,5,6,load\n", ".csv:2: expected 8 fields"},
        {HEADER "1,2,3,4,5,6,load,peak\n1,2,-3,4,5,6,load,peak\n", ".csv:3: expected a whole"},
        {HEADER "1,2,3,4,5,6,lead,peak\n", ".csv:2: the phase"},
        {HEADER "1,2,3,4,5,6,load,pique\n", ".csv:2: unknown reason"},
        {"time,rss\n", ".csv:1: no fragbench series"},
        {"", "the file is empty"},
    };
    struct fb_result sample;
    const struct fb_repetition *repetition = write_sample(*state, &sample);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fb_error err = {0};
        struct fb_series series;
        scratch_write(*state, FIRST_FILE, cases[i][0]);
        assert_int_equal(fb_store_read_series(*state, repetition, &series, &err), -1);
        if (strstr(err.text, cases[i][1]) == NULL)
            fail_msg("\"%s\" does not say \"%s\"", err.text, cases[i][1]);
    }
    fb_result_deinit(&sample);
}

static void series_outside_the_folder_is_refused(void **state)
{
    static const char *const paths[] = {"/etc/passwd", "series/../../secret.csv"};
    for (size_t i = 0; i < 2; i++) {
        struct fb_error err = {0};
        struct fb_series series;
        char path[64];
        (void)strcpy(path, paths[i]);
        const struct fb_repetition repetition = {.series_file = path};
        assert_int_equal(fb_store_read_series(*state, &repetition, &series, &err), -1);
        assert_non_null(strstr(err.text, "outside"));
    }
}

int main(void)
{
#define WITH_FOLDER(test) cmocka_unit_test_setup_teardown(test, scratch_setup, scratch_teardown)
    const struct CMUnitTest tests[] = {
        WITH_FOLDER(folder_is_made_with_its_parents),
        WITH_FOLDER(used_folder_is_refused_without_force),
        WITH_FOLDER(force_removes_an_earlier_run_and_nothing_else),
        WITH_FOLDER(file_in_the_way_is_refused),
        WITH_FOLDER(series_is_written_with_names),
        WITH_FOLDER(series_reads_back),
        WITH_FOLDER(damaged_series_is_refused_with_its_line),
        WITH_FOLDER(series_outside_the_folder_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
