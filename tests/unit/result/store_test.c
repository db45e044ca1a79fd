#include "result/store.h"

#include "base/alloc.h"
#include "sample.h"
#include "scratch.h"

#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static void written_result_reads_back_to_the_same_bytes(void **state)
{
    const char *dir = *state;
    struct fb_error err = {0};
    struct fb_result sample, read;
    sample_result_init(&sample);
    assert_int_equal(fb_store_write_result(dir, &sample, &err), 0);
    char *first = scratch_read(dir, "result.json");
    assert_int_equal(fb_store_read_result(dir, &read, &err), 0);
    assert_int_equal(fb_store_write_result(dir, &read, &err), 0);
    char *second = scratch_read(dir, "result.json");
    assert_string_equal(first, second);
    free(first);
    free(second);
    fb_result_deinit(&sample);
    fb_result_deinit(&read);
}

static void members_survive_the_round_trip(void **state)
{
    const char *dir = *state;
    struct fb_error err = {0};
    struct fb_result sample, read;
    sample_result_init(&sample);
    assert_int_equal(fb_store_write_result(dir, &sample, &err), 0);
    fb_result_deinit(&sample);
    assert_int_equal(fb_store_read_result(dir, &read, &err), 0);
    const struct fb_cell *cell = &read.cells[SAMPLE_JEMALLOC];
    const struct fb_repetition *repetition = &cell->repetitions[2];
    assert_int_equal(read.cell_count, SAMPLES);
    assert_null(read.finished);
    assert_string_equal(cell->workload.params[0].value, "256");
    assert_string_equal(cell->allocator.env[0].name, "MALLOC_CONF");
    assert_true(repetition->seed == UINT64_MAX - 1);
    assert_true(repetition->values[FB_METRIC_PEAK_FOOTPRINT_BYTES] == 340.0 * (double)MIB);
    assert_true(isnan(repetition->values[FB_METRIC_DRIFT]));
    assert_string_equal(repetition->na[FB_METRIC_DRIFT], "fewer than 40 iterations");
    assert_string_equal(repetition->na[FB_METRIC_NS_PER_OP], "not measured");
    assert_int_equal(repetition->checkpoints[0].phase, -1);
    assert_int_equal(repetition->checkpoints[2].phase, 1);
    assert_string_equal(repetition->checkpoints[3].kind, "idle_0s");
    const struct fb_attribution *whole = repetition->checkpoints[1].attribution;
    const struct fb_attribution *split = repetition->checkpoints[2].attribution;
    assert_null(repetition->checkpoints[0].attribution);
    assert_false(whole->is_split);
    assert_int_equal(whole->mismatch_bytes, -4096);
    assert_false(whole->account_known);
    assert_true(split->is_split);
    assert_int_equal(split->parts[FB_PART_STUCK], 5 * MIB);
    assert_true(split->account[FB_ACCOUNT_ACTIVE] == FB_ACCOUNT_NA);
    assert_string_equal(split->hostages[0].class_name, "metadata");
    assert_int_equal(split->hostages[0].histogram[9], 4);
    assert_int_equal(split->holders[0].age_ns, 5000000000U);
    assert_string_equal(split->heat_file, "heat/kv_jemalloc.phase_end.1.csv");
    assert_true(repetition->phases[1].peak_t_ns == 1000000000U);
    assert_int_equal(cell->limit_count, 2);
    assert_int_equal(cell->limits[0].metric, FB_METRIC_RATIO_PEAK);
    assert_true(cell->limits[0].max == 1.05);
    assert_int_equal(cell->limits[1].line, 13);
    assert_true(isnan(repetition->phases[1].ratio));
    assert_int_equal(cell->summary[FB_METRIC_DRIFT].n, 0);
    assert_int_equal(read.cells[SAMPLE_HUNG].status, FB_STATUS_TIMEOUT);
    fb_result_deinit(&read);
}

/* Written before shards, boot ids and allocators' own counters were recorded. */
static void results_of_earlier_releases_are_read(void **state)
{
    struct fb_error err = {0};
    struct fb_result read;
    (void)state;
    if (fb_store_read_result(FB_SOURCE_DIR "/results/reference/threads/free.json", &read, &err) !=
        0)
        fail_msg("%s", err.text);
    assert_int_equal(read.shard.count, 0);
    assert_null(read.host.boot);
    assert_int_equal(read.part_count, 0);
    assert_true(read.cell_count > 0);
    fb_result_deinit(&read);
}

static void foreign_bytes_do_not_lose_the_file(void **state)
{
    const char *dir = *state;
    struct fb_error err = {0};
    struct fb_result sample, read;
    sample_result_init(&sample);
    free(sample.argv[2]);
    sample.argv[2] = fb_strdup("caf\xe9.yaml");
    assert_int_equal(fb_store_write_result(dir, &sample, &err), 0);
    fb_result_deinit(&sample);
    assert_int_equal(fb_store_read_result(dir, &read, &err), 0);
    assert_string_equal(read.argv[2], "caf\xef\xbf\xbd.yaml");
    fb_result_deinit(&read);
}

/* A published file, from before cells had limits and phases the time of their peak. */
static void files_of_older_versions_are_read(void **state)
{
    (void)state;
    struct fb_error err = {0};
    struct fb_result read;
    const char *folder = FB_SOURCE_DIR "/results/reference/determinism";
    assert_int_equal(fb_store_read_result(folder, &read, &err), 0);
    assert_true(read.cell_count > 0);
    assert_int_equal(read.cells[0].limit_count, 0);
    assert_true(read.cells[0].repetitions[0].phases[0].peak_t_ns == 0);
    fb_result_deinit(&read);
}

/* Replaces the first `from` of a good document by `to`; reading must fail saying `says`. */
static void refuses(const char *dir, const char *from, const char *to, const char *says)
{
    struct fb_error err = {0};
    struct fb_result sample, read = {.argc = 77};
    sample_result_init(&sample);
    char *good = fb_store_text(&sample);
    fb_result_deinit(&sample);
    const char *at = strstr(good, from);
    assert_non_null(at);
    char *bad = fb_format("%.*s%s%s", (int)(at - good), good, to, at + strlen(from));
    scratch_write(dir, "result.json", bad);
    assert_int_equal(fb_store_read_result(dir, &read, &err), -1);
    assert_int_equal(err.kind, FB_ERROR_INPUT);
    if (strstr(err.text, says) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", err.text, says);
    assert_int_equal(read.argc, 77);
    free(bad);
    free(good);
}

static void damaged_documents_are_refused_with_the_place(void **state)
{
    const char *dir = *state;
    refuses(dir, "\"fragbench-result/1\"", "\"fragbench-result/2\"", "update fragbench");
    refuses(dir, "\"fragbench-result/1\"", "\"other/1\"", "no fragbench result");
    refuses(dir, "\"host\"", "\"hosts\"", "host: missing");
    refuses(dir, "\"ncpu\": 4", "\"ncpu\": \"four\"", "host.ncpu: expected a whole number");
    refuses(dir, "\"ncpu\": 4", "\"ncpu\": -4", "host.ncpu: expected a whole number");
    refuses(dir, "\"ncpu\": 4", "\"ncpu\": 5000000000", "host.ncpu: out of range");
    refuses(dir, "\"statm_exact\": true", "\"statm_exact\": 1", "expected true or false");
    refuses(dir, "\"status\": \"ok\"", "\"status\": \"fine\"",
            "cells[0].status: unknown status \"fine\"");
    refuses(dir, "\"sequences\": \"256\"", "\"sequences\": 256",
            "cells[0].workload.params.sequences: expected a string, found a number");
    refuses(dir, "\"phase\": \"load\"", "\"phase\": \"lead\"",
            "checkpoints[1].phase: no phase is named \"lead\"");
    refuses(dir, "\"kind\": \"start\"", "\"kind\": \"a_name_that_is_too_long\"", "longer than 15");
    refuses(dir, "\"drift\": \"fewer", "\"kept_bytes\": \"fewer",
            "na.kept_bytes: a reason of n/a for a metric that has a value");
    refuses(dir, "\"metric\": \"ratio_peak\"", "\"metric\": \"ratio\"",
            "cells[0].limits[0].metric: unknown metric \"ratio\"");
    refuses(dir, "\"argv\"", "\"started\"", "duplicate");
    refuses(dir, "\"argv\": [", "\"argv\": [,", "result.json:6:");
}

static void missing_and_empty_files_are_refused(void **state)
{
    struct fb_error err = {0}, other = {0};
    struct fb_result read;
    assert_int_equal(fb_store_read_result(*state, &read, &err), -1);
    assert_int_equal(err.kind, FB_ERROR_INPUT);
    assert_non_null(strstr(err.text, "give a result folder"));
    scratch_write(*state, "result.json", "");
    assert_int_equal(fb_store_read_result(*state, &read, &other), -1);
    assert_non_null(strstr(other.text, "result.json"));
}

static void unknown_keys_are_left_alone(void **state)
{
    const char *dir = *state;
    struct fb_error err = {0};
    struct fb_result sample, read;
    sample_result_init(&sample);
    json_t *document = fb_store_json(&sample);
    json_object_set_new(document, "later", json_true());
    char *text = json_dumps(document, 0);
    scratch_write(dir, "result.json", text);
    assert_int_equal(fb_store_read_result(dir, &read, &err), 0);
    free(text);
    json_decref(document);
    fb_result_deinit(&sample);
    fb_result_deinit(&read);
}

static void cells_that_never_ran_have_no_zeros(void **state)
{
    (void)state;
    struct fb_cell cell = {.id = NULL};
    struct fb_result result = {.cells = &cell, .cell_count = 1};
    json_t *document = fb_store_json(&result);
    const json_t *written = json_array_get(json_object_get(document, "cells"), 0);
    const json_t *summary = json_object_get(json_object_get(written, "summary"), "ratio_peak");
    assert_true(json_is_null(json_object_get(summary, "median")));
    assert_int_equal(json_integer_value(json_object_get(summary, "n")), 0);
    assert_int_equal(
        json_object_size(json_object_get(json_object_get(written, "timing"), "metrics")), 0);
    json_decref(document);
}

/* With a file-size limit of one kilobyte, as a full disk would. */
static void with_full_disk(const char *dir, const struct fb_result *result, struct fb_error *err)
{
    struct rlimit before, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 1024;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    int status = fb_store_write_result(dir, result, err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    (void)signal(SIGXFSZ, handler);
    assert_int_equal(status, -1);
}

static void full_disk_names_the_file_and_keeps_the_old_one(void **state)
{
    const char *dir = *state;
    struct fb_error err = {0};
    struct fb_result sample;
    sample_result_init(&sample);
    scratch_write(dir, "result.json", "old");
    with_full_disk(dir, &sample, &err);
    assert_int_equal(err.kind, FB_ERROR_IO);
    assert_non_null(strstr(err.text, "result.json: File too large"));
    char *text = scratch_read(dir, "result.json");
    assert_string_equal(text, "old");
    assert_int_equal(scratch_entries(dir), 1);
    free(text);
    fb_result_deinit(&sample);
}

static void devices_are_written_not_replaced(void **state)
{
    (void)state;
    struct fb_error err = {0}, full = {0};
    struct stat status;
    assert_int_equal(fb_store_write_file("/dev/null", "text", 4, &err), 0);
    assert_int_equal(stat("/dev/null", &status), 0);
    assert_true(S_ISCHR(status.st_mode));
    assert_int_equal(fb_store_write_file("/dev/full", "text", 4, &full), -1);
    assert_string_equal(full.text, "cannot write /dev/full: No space left on device");
}

static void links_stay_and_their_targets_change(void **state)
{
    const char *dir = *state;
    struct fb_error err = {0};
    struct stat status;
    char *link = fb_format("%s/link", dir);
    scratch_write(dir, "target", "old");
    assert_int_equal(symlink("target", link), 0);
    assert_int_equal(fb_store_write_file(link, "new", 3, &err), 0);
    assert_int_equal(lstat(link, &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    char *text = scratch_read(dir, "target");
    assert_string_equal(text, "new");
    free(text);
    free(link);
}

int main(void)
{
#define WITH_FOLDER(test) cmocka_unit_test_setup_teardown(test, scratch_setup, scratch_teardown)
    const struct CMUnitTest tests[] = {
        WITH_FOLDER(written_result_reads_back_to_the_same_bytes),
        WITH_FOLDER(members_survive_the_round_trip),
        WITH_FOLDER(results_of_earlier_releases_are_read),
        WITH_FOLDER(files_of_older_versions_are_read),
        WITH_FOLDER(foreign_bytes_do_not_lose_the_file),
        WITH_FOLDER(damaged_documents_are_refused_with_the_place),
        WITH_FOLDER(missing_and_empty_files_are_refused),
        WITH_FOLDER(unknown_keys_are_left_alone),
        cmocka_unit_test(cells_that_never_ran_have_no_zeros),
        WITH_FOLDER(full_disk_names_the_file_and_keeps_the_old_one),
        cmocka_unit_test(devices_are_written_not_replaced),
        WITH_FOLDER(links_stay_and_their_targets_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
