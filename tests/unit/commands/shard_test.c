/* --shard: what is accepted, which cells a shard has, and what makes another plan. */
#include "commands/shard.h"

// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on

#include <stdlib.h>
#include <string.h>

static void good_text_is_read(void **state)
{
    (void)state;
    struct fb_shard_option shard = {0};
    struct fb_error err = {0};
    assert_int_equal(fb_shard_parse("3/12", &shard, &err), 0);
    assert_int_equal(shard.index, 3);
    assert_int_equal(shard.count, 12);
    assert_int_equal(fb_shard_parse("100000/100000", &shard, &err), 0);
}

static void bad_text_is_refused_and_changes_nothing(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        "1",
        "/",
        "1/",
        "/2",
        "0/2",
        "3/2",
        "1/0",
        "1/2x",
        "-1/2",
        "+1/2",
        " 1/2",
        "1 /2",
        "1/ 2",
        "1.0/2",
        "1/2/3",
        "a/b",
        "1/100001",
        "1/99999999999999999999",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct fb_shard_option shard = {7, 8};
        struct fb_error err = {0};
        assert_int_equal(fb_shard_parse(bad[i], &shard, &err), -1);
        assert_int_equal(err.kind, FB_ERROR_INPUT);
        assert_non_null(strstr(err.text, "--shard"));
        assert_int_equal(shard.index, 7);
    }
}

/* Every cell in one shard, the places without gaps, the sizes adding up. */
static void shards_share_the_cells_out(void **state)
{
    (void)state;
    for (unsigned count = 1; count <= 9; count++) {
        for (size_t total = 0; total <= 20; total++) {
            size_t seen = 0;
            for (unsigned index = 1; index <= count; index++) {
                const struct fb_shard_option shard = {index, count};
                size_t next = 0;
                for (size_t cell = 0; cell < total; cell++) {
                    if (fb_shard_has(&shard, cell))
                        assert_int_equal(fb_shard_place(&shard, cell), next++);
                }
                assert_int_equal(fb_shard_size(&shard, total), next);
                seen += next;
            }
            assert_int_equal(seen, total);
        }
    }
}

/* Two units under two contenders. */
struct bench {
    char names[2][8], labels[2][8];
    struct fb_workload workloads[2];
    struct fb_plan_unit units[2];
    struct fb_contender contenders[2];
    struct fb_run_options options;
};

static void bench_init(struct bench *bench)
{
    static char none[] = "";
    *bench = (struct bench){
        .names = {"first", "second"},
        .labels = {"x", "y"},
        .options = {.layouts = 3,
                    .seeds = 1,
                    .repeats = 1,
                    .scale = 1,
                    .timing = true,
                    .thp = "advised",
                    .shard = {1, 2}},
    };
    for (size_t i = 0; i < 2; i++) {
        bench->workloads[i] = (struct fb_workload){.name = bench->names[i], .seed = i};
        bench->workloads[i].sha256[0] = 'a';
        bench->contenders[i] = (struct fb_contender){.label = bench->labels[i]};
        bench->units[i] = (struct fb_plan_unit){&bench->workloads[i], none, NULL, 1, 1, false};
    }
}

static void fingerprint(struct bench *bench, struct fb_shard *out)
{
    const struct fb_plan plan = {bench->units, 2};
    const struct fb_contenders contenders = {bench->contenders, 2};
    fb_shard_record(&plan, &contenders, &bench->options, out);
}

static void change_layouts(struct bench *bench)
{
    bench->options.layouts = 5;
}

static void change_timing(struct bench *bench)
{
    bench->options.timing = false;
}

static void change_contender(struct bench *bench)
{
    bench->contenders[1].label[0] = 'z';
}

static void change_seed(struct bench *bench)
{
    bench->workloads[1].seed = 3;
}

static void change_file(struct bench *bench)
{
    bench->workloads[0].sha256[0] = 'c';
}

static void change_scale(struct bench *bench)
{
    bench->units[0].scale = 0.5;
}

static void change_clock(struct bench *bench)
{
    bench->options.clock = FB_CLOCK_REAL;
}

static void change_nothing_that_matters(struct bench *bench)
{
    bench->options.jobs = 7;
    bench->options.output = "elsewhere";
    bench->options.force = true;
    bench->options.shard = (struct fb_shard_option){2, 2};
    bench->workloads[0].file = "/another/checkout/first.yaml";
}

static void plans_are_told_apart_by_what_matters(void **state)
{
    static const struct {
        void (*change)(struct bench *bench);
        bool same;
    } cases[] = {
        {change_layouts, false},   {change_timing, false},
        {change_contender, false}, {change_seed, false},
        {change_file, false},      {change_scale, false},
        {change_clock, false},     {change_nothing_that_matters, true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct bench bench;
        struct fb_shard before = {0}, after = {0};
        bench_init(&bench);
        fingerprint(&bench, &before);
        cases[i].change(&bench);
        fingerprint(&bench, &after);
        assert_int_equal(before.cells_total, 4);
        assert_int_equal(strlen(before.plan), 64);
        assert_int_equal(strcmp(before.plan, after.plan) == 0, cases[i].same);
        free(before.plan);
        free(after.plan);
    }
}

static void units_without_a_cell_are_elsewhere(void **state)
{
    (void)state;
    struct bench bench;
    bench_init(&bench);
    struct fb_plan plan = {bench.units, 2};
    fb_shard_mark(&(struct fb_shard_option){3, 4}, &plan, 2);
    assert_true(plan.units[0].elsewhere);
    assert_false(plan.units[1].elsewhere);
    fb_shard_mark(&(struct fb_shard_option){1, 1}, &plan, 2);
    assert_false(plan.units[0].elsewhere);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_text_is_read),
        cmocka_unit_test(bad_text_is_refused_and_changes_nothing),
        cmocka_unit_test(shards_share_the_cells_out),
        cmocka_unit_test(plans_are_told_apart_by_what_matters),
        cmocka_unit_test(units_without_a_cell_are_elsewhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
