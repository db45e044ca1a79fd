#include "report/plot.h"

#include "base/alloc.h"
#include "plot_sample.h"
#include "rendering.h"
#include "sample.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define POINTS 300U
#define KEPT FB_TEST_DATA "/plots"

static int setup(void **state)
{
    struct plot_sample *sample = fb_alloc(1, sizeof *sample);
    plot_sample_init(sample, POINTS, true);
    *state = sample;
    return 0;
}

static int teardown(void **state)
{
    plot_sample_deinit(*state);
    free(*state);
    return 0;
}

static char *read_file(const char *path)
{
    FILE *file = fopen(path, "re");
    size_t size = 0;
    char *text = NULL;
    if (file == NULL)
        return fb_strdup("");
    if (getdelim(&text, &size, '\0', file) < 0)
        fail_msg("cannot read %s", path);
    (void)fclose(file);
    return text;
}

/* The data of a kind are those of tests/data/plots, which the templates' tests draw. With
 * FB_UPDATE_KEPT set they are written there instead. */
static void assert_kept(const struct fb_plot_request *request, const char *kind)
{
    struct fb_pictures pictures = plot_sample_make(request, kind);
    assert_true(pictures.count >= 1);
    assert_string_equal(pictures.items[0].kind, kind);
    assert_false(pictures.items[0].data.overflow);
    char *path = fb_format(KEPT "/%s.dat", kind);
    if (getenv("FB_UPDATE_KEPT") != NULL) {
        FILE *file = fopen(path, "we");
        assert_non_null(file);
        (void)fputs(pictures.items[0].data.text, file);
        (void)fclose(file);
    }
    char *kept = read_file(path);
    assert_string_equal(pictures.items[0].data.text, kept);
    free(kept);
    free(path);
    fb_pictures_deinit(&pictures);
}

static void data_of_one_workload_are_as_kept(void **state)
{
    static const char *const kinds[] = {"rss", "ratio", "parts", "heat", "pareto", "decay"};
    const struct fb_plot_request request = plot_sample_request(*state);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        assert_kept(&request, kinds[i]);
}

static void data_of_the_sketch_are_as_kept(void **state)
{
    struct fb_plot_request request = plot_sample_request(*state);
    request.width = 80;
    assert_kept(&request, "sketch");
}

static void data_of_a_change_are_as_kept(void **state)
{
    struct plot_sample *sample = *state;
    struct fb_plot_request request = plot_sample_request(sample);
    struct fb_result base;
    sample_result_init(&base);
    rendering_set(&base.cells[SAMPLE_JEMALLOC], FB_METRIC_PEAK_FOOTPRINT_BYTES, 300.0 * MIB,
                  299.0 * MIB, 301.0 * MIB);
    request.base = &base;
    request.base_name = "results/older";
    assert_kept(&request, "change");
    fb_result_deinit(&base);
}

/* Two results of different workloads, drawn as one. */
static void data_over_workloads_are_as_kept(void **state)
{
    struct plot_sample other;
    plot_sample_init(&other, POINTS, false);
    plot_sample_rename(&other, "chat-sessions");
    rendering_set(&other.result.cells[SAMPLE_PTMALLOC2], FB_METRIC_RATIO_PEAK, 1.1, 1.1, 1.1);
    plot_sample_rename(&other, "chat-sessions");
    const struct plot_sample *sample = *state;
    const struct fb_plot_source both[] = {sample->source, other.source};
    struct fb_plot_request request = plot_sample_request(sample);
    request.sources = both;
    request.source_count = 2;
    assert_kept(&request, "library");
    struct fb_pictures pictures = plot_sample_make(&request, "pareto");
    assert_int_equal(pictures.count, 3); /* one a workload, one over them */
    assert_string_equal(pictures.items[2].name, "pareto");
    assert_non_null(strstr(pictures.items[2].data.text, "is one of 2 workloads"));
    fb_pictures_deinit(&pictures);
    plot_sample_deinit(&other);
}

static void the_same_result_gives_the_same_bytes(void **state)
{
    const struct fb_plot_request request = plot_sample_request(*state);
    for (size_t i = 0; i < fb_plot_kind_count; i++) {
        struct fb_pictures one = plot_sample_make(&request, fb_plot_kinds[i].name);
        struct fb_pictures two = plot_sample_make(&request, fb_plot_kinds[i].name);
        assert_int_equal(one.count, two.count);
        for (size_t k = 0; k < one.count; k++)
            assert_string_equal(one.items[k].data.text, two.items[k].data.text);
        fb_pictures_deinit(&one);
        fb_pictures_deinit(&two);
    }
}

/* jemalloc's layouts peak at 330, 320 and 340 MiB: the first is the median. */
static void the_run_with_the_median_peak_is_drawn(void **state)
{
    const struct plot_sample *sample = *state;
    const struct fb_cell *cell = &sample->result.cells[SAMPLE_JEMALLOC];
    assert_ptr_equal(fb_curves_choose(cell), &cell->repetitions[0]);
    const struct fb_plot_request request = plot_sample_request(sample);
    struct fb_pictures pictures = plot_sample_make(&request, "rss");
    assert_says(pictures.items[0].data.text, "jemalloc:dirty_decay_ms=0: peak 330 MiB, end 60 MiB");
    assert_says(pictures.items[0].data.text, "median peak");
    fb_pictures_deinit(&pictures);
}

static void cells_that_are_not_drawn_are_named_with_their_reason(void **state)
{
    const struct fb_plot_request request = plot_sample_request(*state);
    struct fb_pictures pictures = plot_sample_make(&request, "rss");
    assert_says(pictures.items[0].data.text, "hung (timeout)");
    assert_says(pictures.items[0].data.text, "mimalloc (not-installed)");
    assert_says(pictures.items[0].data.text, "Refused part of the work: budgeted");
    assert_says(pictures.items[0].data.text, "virtual time (s)");
    fb_pictures_deinit(&pictures);
}

static void names_of_strangers_stay_in_their_field(void **state)
{
    plot_sample_rename_contender(*state, SAMPLE_PTMALLOC2, "x\"\n\n\n# line 1\n`id` &#x0; \\ \xff");
    const struct fb_plot_request request = plot_sample_request(*state);
    struct fb_pictures pictures = plot_sample_make(&request, "rss");
    assert_says(pictures.items[0].data.text, "x'   # line 1 `id` & #x0; \\\\ ?: peak 900 MiB");
    fb_pictures_deinit(&pictures);
}

static void lack_of_data_says_what_collects_them(void **state)
{
    (void)state;
    struct plot_sample plain;
    plot_sample_init(&plain, POINTS, false);
    for (size_t i = 0; i < plain.result.cell_count; i++)
        plain.result.cells[i].summary[FB_METRIC_NS_PER_OP].n = 0;
    plot_sample_rename(&plain, "kv-cache-growth");
    const struct fb_plot_request request = plot_sample_request(&plain);
    static const char *const lacks[][2] = {
        {"parts", "parts: no attribution data; `fragbench run --explain` collects them"},
        {"heat", "heat: no page maps; `fragbench run --explain` makes them"},
        {"pareto", "pareto: no time was measured; run without --no-timing"},
        {"change", "change: nothing to compare with; name an older result with --base"},
    };
    for (size_t i = 0; i < sizeof lacks / sizeof lacks[0]; i++) {
        struct fb_pictures pictures = plot_sample_make(&request, lacks[i][0]);
        assert_int_equal(pictures.count, 0);
        assert_int_equal(pictures.absent_count, 1);
        assert_string_equal(pictures.absent[0], lacks[i][1]);
        fb_pictures_deinit(&pictures);
    }
    plot_sample_deinit(&plain);
}

/* The data of the first picture of parts. */
static char *parts_data(const struct plot_sample *sample)
{
    const struct fb_plot_request request = plot_sample_request(sample);
    struct fb_pictures pictures = plot_sample_make(&request, "parts");
    assert_int_equal(pictures.count, 1);
    char *text = fb_strdup(pictures.items[0].data.text);
    fb_pictures_deinit(&pictures);
    return text;
}

static void free_pages_that_were_not_split_are_one_part(void **state)
{
    struct plot_sample *sample = *state;
    for (size_t i = 0; i < 2; i++) {
        struct fb_checkpoint *checkpoints = sample->result.cells[i].repetitions[0].checkpoints;
        for (size_t k = 1; k < 4; k++) {
            struct fb_attribution *parts = checkpoints[k].attribution;
            parts->is_split = false;
            parts->parts[FB_PART_CACHED] = parts->parts[FB_PART_STUCK] = 0;
        }
    }
    char *data = parts_data(sample);
    assert_says(data, "free pages, cached or stuck");
    assert_null(strstr(data, "cached: "));
    assert_null(strstr(data, "stuck: "));
    assert_says(data, "143.75\t\"ptmalloc2, end\""); /* the total is the split one's */
    free(data);
}

/* It was stopped in the middle: its last phase's end is not the others'. */
static void a_cell_that_was_stopped_has_no_bar(void **state)
{
    const struct plot_sample *sample = *state;
    const struct fb_cell *hung = &sample->result.cells[SAMPLE_HUNG];
    assert_non_null(hung->repetitions[0].checkpoints[2].attribution);
    char *data = parts_data(sample);
    assert_says(data, "hung (timeout)");
    assert_null(strstr(data, "hung, end"));
    free(data);
}

static void a_missing_series_is_said_and_the_others_are_drawn(void **state)
{
    struct plot_sample *sample = *state;
    const struct fb_repetition *drawn = fb_curves_choose(&sample->result.cells[SAMPLE_PTMALLOC2]);
    char *path = fb_format("%s/%s", sample->dir, drawn->series_file);
    assert_int_equal(remove(path), 0);
    free(path);
    plot_sample_rename(sample, "kv-cache-growth");
    const struct fb_plot_request request = plot_sample_request(sample);
    struct fb_pictures pictures = plot_sample_make(&request, "rss");
    assert_int_equal(pictures.count, 1);
    assert_says(pictures.items[0].data.text, "ptmalloc2 (cannot read");
    fb_pictures_deinit(&pictures);
}

static void a_damaged_page_map_is_said_with_its_line(void **state)
{
    struct plot_sample *sample = *state;
    char *path = fb_format("%s/heat/0.csv", sample->dir);
    FILE *file = fopen(path, "ae");
    assert_non_null(file);
    (void)fputs("0,anonymous,many,65536\n", file);
    (void)fclose(file);
    free(path);
    const struct fb_plot_request request = plot_sample_request(sample);
    struct fb_pictures pictures = plot_sample_make(&request, "heat");
    assert_int_equal(pictures.count, 1); /* the other allocator's */
    assert_int_equal(pictures.absent_count, 1);
    assert_says(pictures.absent[0], "heat/0.csv:272: expected a whole number");
    fb_pictures_deinit(&pictures);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(data_of_one_workload_are_as_kept, setup, teardown),
        cmocka_unit_test_setup_teardown(data_of_the_sketch_are_as_kept, setup, teardown),
        cmocka_unit_test_setup_teardown(data_of_a_change_are_as_kept, setup, teardown),
        cmocka_unit_test_setup_teardown(data_over_workloads_are_as_kept, setup, teardown),
        cmocka_unit_test_setup_teardown(the_same_result_gives_the_same_bytes, setup, teardown),
        cmocka_unit_test_setup_teardown(the_run_with_the_median_peak_is_drawn, setup, teardown),
        cmocka_unit_test_setup_teardown(cells_that_are_not_drawn_are_named_with_their_reason, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(names_of_strangers_stay_in_their_field, setup, teardown),
        cmocka_unit_test_setup_teardown(free_pages_that_were_not_split_are_one_part, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_cell_that_was_stopped_has_no_bar, setup, teardown),
        cmocka_unit_test(lack_of_data_says_what_collects_them),
        cmocka_unit_test_setup_teardown(a_missing_series_is_said_and_the_others_are_drawn, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_damaged_page_map_is_said_with_its_line, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
