#include "result/merge.h"

#include "base/alloc.h"
#include "result/store.h"
#include "sample.h"
#include "scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#define SHARDS 3U

static char *ids[SAMPLES]; /* of the whole, in order */

/* The sample's cells shared out over three results. */
struct bench {
    struct fb_merge_input inputs[SHARDS + 1];
    struct fb_error err;
};

static void keep_cells_of(struct fb_result *result, unsigned index)
{
    size_t kept = 0;
    for (size_t i = 0; i < result->cell_count; i++) {
        if (i % SHARDS == index - 1)
            result->cells[kept++] = result->cells[i];
        else
            fb_cell_deinit(&result->cells[i]);
    }
    result->cell_count = kept;
}

static void read_shard(struct fb_merge_input *input, unsigned index)
{
    static const char *const paths[] = {"a", "b", "c"};
    input->path = paths[index - 1];
    sample_result_init(&input->result);
    input->result.finished = fb_format("2025-01-02T03:0%u:00Z", 5 + index);
    keep_cells_of(&input->result, index);
    input->result.shard.index = index;
    input->result.shard.count = SHARDS;
}

static int setup(void **state)
{
    struct bench *bench = fb_alloc(1, sizeof *bench);
    struct fb_result whole;
    sample_result_init(&whole);
    for (size_t i = 0; i < SAMPLES; i++)
        ids[i] = fb_strdup(whole.cells[i].id);
    fb_result_deinit(&whole);
    for (unsigned i = 0; i < SHARDS; i++)
        read_shard(&bench->inputs[i], SHARDS - i); /* not in order */
    *state = bench;
    return 0;
}

static int teardown(void **state)
{
    struct bench *bench = *state;
    for (size_t i = 0; i <= SHARDS; i++)
        fb_result_deinit(&bench->inputs[i].result);
    for (size_t i = 0; i < SAMPLES; i++)
        free(ids[i]);
    free(bench);
    return 0;
}

static void assert_refused(struct bench *bench, size_t count, const char *says)
{
    assert_int_equal(fb_merge_check(bench->inputs, count, false, &bench->err), -1);
    assert_int_equal(bench->err.kind, FB_ERROR_INPUT);
    if (strstr(bench->err.text, says) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", bench->err.text, says);
}

static void replace(char **text, const char *value)
{
    free(*text);
    *text = fb_strdup(value);
}

static void cells_come_back_in_the_order_of_the_whole(void **state)
{
    struct bench *bench = *state;
    struct fb_result merged;
    assert_int_equal(fb_merge_check(bench->inputs, SHARDS, false, &bench->err), 0);
    assert_null(fb_merge_missing(bench->inputs, SHARDS));
    fb_merge_take(bench->inputs, SHARDS, &merged);
    assert_int_equal(merged.cell_count, SAMPLES);
    for (size_t i = 0; i < SAMPLES; i++) {
        assert_string_equal(merged.cells[i].id, ids[i]);
        assert_int_equal(merged.cells[i].part, i % SHARDS);
    }
    assert_int_equal(merged.part_count, SHARDS);
    assert_string_equal(merged.parts[2].folder, "c");
    assert_int_equal(merged.parts[2].shard, 3);
    assert_int_equal(merged.shard.index, 0);
    assert_string_equal(merged.shard.plan, SAMPLE_PLAN);
    assert_string_equal(merged.started, "2025-01-02T03:04:05Z");
    assert_string_equal(merged.finished, "2025-01-02T03:08:00Z");
    assert_false(merged.interrupted);
    fb_result_deinit(&merged);
}

static void merged_results_read_back_to_the_same_bytes(void **state)
{
    struct bench *bench = *state;
    struct fb_result merged, read;
    char *dir = NULL;
    assert_int_equal(scratch_setup((void **)&dir), 0);
    assert_int_equal(fb_merge_check(bench->inputs, SHARDS, false, &bench->err), 0);
    fb_merge_take(bench->inputs, SHARDS, &merged);
    assert_int_equal(fb_store_write_result(dir, &merged, &bench->err), 0);
    assert_int_equal(fb_store_read_result(dir, &read, &bench->err), 0);
    char *first = fb_store_text(&merged), *second = fb_store_text(&read);
    assert_string_equal(first, second);
    assert_non_null(strstr(first, "\"folder\": \"b\""));
    free(first);
    free(second);
    fb_result_deinit(&merged);
    fb_result_deinit(&read);
    assert_int_equal(scratch_teardown((void **)&dir), 0);
}

static void missing_shards_are_named(void **state)
{
    struct bench *bench = *state;
    assert_refused(bench, 1, "of 3 shards these are missing: 1, 2");
    struct fb_error err = {0};
    assert_int_equal(fb_merge_check(bench->inputs, 1, true, &err), 0);
    struct fb_result merged;
    fb_merge_take(bench->inputs, 1, &merged);
    assert_int_equal(merged.cell_count, 1);
    assert_string_equal(merged.cells[0].id, ids[2]);
    fb_result_deinit(&merged);
}

static void missing_ranges_are_short(void **state)
{
    struct fb_merge_input inputs[3] = {
        {"a", {.shard = {2, 100, 0, NULL}}},
        {"b", {.shard = {5, 100, 0, NULL}}},
        {"c", {.shard = {9, 100, 0, NULL}}},
    };
    (void)state;
    char *missing = fb_merge_missing(inputs, 3);
    assert_string_equal(missing, "1, 3, 4, 6 to 8, 10 to 100");
    free(missing);
}

static void a_shard_given_twice_is_refused(void **state)
{
    struct bench *bench = *state;
    read_shard(&bench->inputs[SHARDS], 2);
    bench->inputs[SHARDS].path = "b-again";
    assert_refused(bench, SHARDS + 1, "shard 2/3 is there twice: b and b-again");
}

static void another_plan_is_refused_with_both_command_lines(void **state)
{
    struct bench *bench = *state;
    replace(&bench->inputs[1].result.shard.plan,
            "0000086d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00");
    assert_refused(bench, SHARDS,
                   "b: shard 2/3 of 5 cells, plan 0000086d0818, from `fragbench "
                   "run kv-cache-growth.yaml`");
}

static void whole_merged_and_old_results_are_no_shards(void **state)
{
    struct bench *bench = *state;
    bench->inputs[0].result.shard.index = 0;
    assert_refused(bench, SHARDS, "c: is merged already");
    bench->err = (struct fb_error){0};
    bench->inputs[0].result.shard.count = 0;
    assert_refused(bench, SHARDS, "c: does not say which shard it is");
}

static void a_shard_that_lost_a_cell_is_refused(void **state)
{
    struct bench *bench = *state;
    struct fb_result *last = &bench->inputs[1].result;
    fb_cell_deinit(&last->cells[--last->cell_count]);
    assert_refused(bench, SHARDS, "b: holds 1 cells, but shard 2/3 of 5 cells should hold 2");
}

static void differing_facts_are_refused_with_both_values(void **state)
{
    struct bench *bench = *state;
    struct fb_result *other = &bench->inputs[1].result;
    replace(&other->version, "0.2.0");
    assert_refused(bench, SHARDS, "fragbench differs: 0.1.0 in a, 0.2.0 in b");
    replace(&other->version, "0.1.0");
    replace(&other->host.libc, "glibc 2.41");
    bench->err = (struct fb_error){0};
    assert_refused(bench, SHARDS, "libc differs: glibc 2.36 in a, glibc 2.41 in b");
    replace(&other->host.libc, "glibc 2.36");
    other->host.cpus_online = 64;
    bench->err = (struct fb_error){0};
    assert_refused(bench, SHARDS, "number of CPUs differs: 4 in a, 64 in b");
}

/* Cell 0 is jemalloc, in shard 1; cell 4, in shard 2, is made another jemalloc. */
static void another_build_of_an_allocator_is_refused(void **state)
{
    struct bench *bench = *state;
    struct fb_cell *other = &bench->inputs[1].result.cells[1];
    replace(&other->allocator.backend, "jemalloc");
    replace(&other->allocator.version, "5.2.1");
    replace(&other->allocator.sha256, "0123456789abcdef");
    other->status = FB_STATUS_OK;
    assert_refused(bench, SHARDS,
                   "jemalloc differs: version 5.3.0-1 (sha256 none) in a, version 5.2.1 "
                   "(sha256 0123456789ab) in b");
    other->status = FB_STATUS_NOT_INSTALLED; /* then it says nothing about versions */
    bench->err = (struct fb_error){0};
    assert_int_equal(fb_merge_check(bench->inputs, SHARDS, false, &bench->err), 0);
}

static void another_trace_is_refused(void **state)
{
    struct bench *bench = *state;
    replace(&bench->inputs[1].result.cells[0].workload.trace_sha256, "ffffffffffffffff");
    assert_refused(bench, SHARDS,
                   "the trace of kv-cache-growth differs: sha256 ba7816bf8f01 in a, "
                   "ffffffffffff in b");
}

static void machines_may_differ_and_are_noted(void **state)
{
    struct bench *bench = *state;
    struct fb_buf notes;
    replace(&bench->inputs[1].result.host.cpu, "Another CPU");
    free(bench->inputs[2].result.finished);
    bench->inputs[2].result.finished = NULL;
    assert_int_equal(fb_merge_check(bench->inputs, SHARDS, false, &bench->err), 0);
    fb_buf_init(&notes, 65536);
    fb_merge_notes(bench->inputs, SHARDS, &notes);
    assert_non_null(strstr(notes.text, "b ran on 6.1.0-18-amd64, Another CPU; a on 6.1.0-18-amd64, "
                                       "A CPU"));
    assert_non_null(strstr(notes.text, "a did not come to its end"));
    fb_buf_deinit(&notes);
    struct fb_result merged;
    fb_merge_take(bench->inputs, SHARDS, &merged);
    assert_string_equal(merged.parts[1].host.cpu, "Another CPU");
    assert_string_equal(merged.host.cpu, "A CPU");
    assert_true(merged.interrupted);
    fb_result_deinit(&merged);
}

static void write_page_maps(const char *dir, const struct fb_result *result)
{
    char *folder = fb_format("%s/heat", dir);
    assert_int_equal(mkdir(folder, 0777), 0);
    free(folder);
    for (size_t c = 0; c < result->cell_count; c++)
        for (size_t r = 0; r < result->cells[c].repetition_count; r++) {
            const struct fb_repetition *repetition = &result->cells[c].repetitions[r];
            for (size_t i = 0; i < repetition->checkpoint_count; i++) {
                const struct fb_attribution *found = repetition->checkpoints[i].attribution;
                if (found != NULL && found->heat_file != NULL)
                    scratch_write(dir, found->heat_file, "a page map");
            }
        }
}

static void series_are_copied_byte_for_byte(void **state)
{
    struct fb_result sample;
    struct fb_error err = {0};
    char *dir = NULL;
    (void)state;
    assert_int_equal(scratch_setup((void **)&dir), 0);
    char *from = fb_format("%s/from", dir), *to = fb_format("%s/to", dir);
    sample_result_init(&sample);
    struct fb_cell *cell = &sample.cells[0];
    assert_int_equal(fb_store_create(from, false, &err), 0);
    assert_int_equal(fb_store_create(to, false, &err), 0);
    for (size_t i = 0; i < cell->repetition_count; i++)
        assert_int_equal(fb_store_write_series(from, cell, &cell->repetitions[i], &err), 0);
    /* What a result names and lacks is missed before anything is copied. */
    assert_int_equal(fb_store_check_series(from, &sample, &err), -1);
    assert_non_null(strstr(err.text, "heat/"));
    write_page_maps(from, &sample);
    err = (struct fb_error){0};
    assert_int_equal(fb_store_check_series(from, &sample, &err), 0);
    assert_int_equal(fb_store_copy_series(from, &sample, to, &err), 0);
    char *before = scratch_read(from, cell->repetitions[2].series_file);
    char *after = scratch_read(to, cell->repetitions[2].series_file);
    assert_string_equal(before, after);
    free(before);
    free(after);
    char *map = scratch_read(to, "heat/kv_jemalloc.phase_end.1.csv");
    assert_string_equal(map, "a page map");
    free(map);
    replace(&cell->repetitions[2].series_file, "series/gone.csv");
    assert_int_equal(fb_store_check_series(from, &sample, &err), -1);
    assert_non_null(strstr(err.text, "series/gone.csv"));
    replace(&cell->repetitions[2].series_file, "series/../../../etc/passwd");
    err = (struct fb_error){0};
    assert_int_equal(fb_store_check_series(from, &sample, &err), -1);
    assert_non_null(strstr(err.text, "leads outside"));
    fb_result_deinit(&sample);
    free(from);
    free(to);
    assert_int_equal(scratch_teardown((void **)&dir), 0);
}

#define WITH_BENCH(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_BENCH(cells_come_back_in_the_order_of_the_whole),
        WITH_BENCH(merged_results_read_back_to_the_same_bytes),
        WITH_BENCH(missing_shards_are_named),
        cmocka_unit_test(missing_ranges_are_short),
        WITH_BENCH(a_shard_given_twice_is_refused),
        WITH_BENCH(another_plan_is_refused_with_both_command_lines),
        WITH_BENCH(whole_merged_and_old_results_are_no_shards),
        WITH_BENCH(a_shard_that_lost_a_cell_is_refused),
        WITH_BENCH(differing_facts_are_refused_with_both_values),
        WITH_BENCH(another_build_of_an_allocator_is_refused),
        WITH_BENCH(another_trace_is_refused),
        WITH_BENCH(machines_may_differ_and_are_noted),
        cmocka_unit_test(series_are_copied_byte_for_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
