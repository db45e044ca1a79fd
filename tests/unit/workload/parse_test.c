#include "parsing.h"

#include "base/alloc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define KIB UINT64_C(1024)
#define MIB (KIB * KIB)
#define WHOLE (UINT64_C(1) << 32)
#define HEAD "fragbench: 1\nname: test\n"

static const char complete[] =
    "fragbench: 1\n"
    "name: inference-service\n"
    "description: costs $5 per hour\n"
    "source: a public report\n"
    "seed: 7\n"
    "params: {requests: 100, weights: 300MiB}\n"
    "objects:\n"
    "  weights:  {size: $weights, lifetime: run, touch: 50%}\n"
    "  buffer:   {size: 50MiB, lifetime: iteration, call: calloc, touch: none}\n"
    "  metadata: {size: {lognormal: {median: 64, p99: 0.5KiB}},\n"
    "             lifetime: {iterations: {geometric: 20}}, touch: all}\n"
    "  kv:       {size: 16KiB, grow: {by: 16KiB, to: 2MiB, how: copy},\n"
    "             lifetime: {time: {uniform: [1s, 2min]}}}\n"
    "  tensor:   {size: 1MiB, lifetime: {ops: 100}, align: 64}\n"
    "  vector:   {size: 8, lifetime: phase, grow: {factor: 1.5, to: 1MiB}, call: realloc}\n"
    "  kept:     {size: 128, lifetime: manual}\n"
    "phases:\n"
    "  - {name: load, allocate: {weights: 1, kept: 1000}, mix: sequential}\n"
    "  - name: serve\n"
    "    iterations: $requests\n"
    "    every: 600ms\n"
    "    hold: 20ms\n"
    "    allocate: {metadata: 2000, buffer: 1, kv: {exponential: 3}, tensor: 2, vector: 1}\n"
    "    free: {kept: 1%}\n"
    "    free_order: random\n"
    "    on_refusal: fail\n"
    "  - {name: drop, free: {kept: all}, free_order: lifo}\n"
    "  - {name: idle, for: 15s}\n";

static void the_head_is_read(void **state)
{
    (void)state;
    struct fb_workload *workload = parse_well(complete, NULL, 0);
    assert_string_equal(workload->file, "test.yaml");
    assert_string_equal(workload->name, "inference-service");
    assert_string_equal(workload->description, "costs $5 per hour");
    assert_string_equal(workload->source, "a public report");
    assert_int_equal(workload->seed, 7);
    assert_int_equal(strlen(workload->sha256), 64);
    assert_int_equal(workload->param_count, 2);
    assert_string_equal(workload->params[1].name, "weights");
    assert_string_equal(workload->params[1].value, "300MiB");
    fb_workload_free(workload);
}

static void objects_are_read(void **state)
{
    (void)state;
    struct fb_workload *workload = parse_well(complete, NULL, 0);
    const struct fb_object_class *classes = workload->classes;
    assert_int_equal(workload->class_count, 7);
    assert_string_equal(classes[0].name, "weights");
    assert_true(classes[0].size.a == (double)(300 * MIB));
    assert_int_equal(classes[0].lifetime, FB_LIFETIME_RUN);
    assert_int_equal(classes[0].touch, FB_TOUCH_SHARE);
    assert_int_equal(classes[0].touch_share, WHOLE / 2);
    assert_int_equal(classes[1].lifetime, FB_LIFETIME_ITERATION);
    assert_int_equal(classes[1].call, FB_CALL_CALLOC);
    assert_int_equal(classes[1].touch, FB_TOUCH_NONE);
    assert_int_equal(classes[2].size.kind, FB_DISTRIBUTION_LOGNORMAL);
    assert_true(classes[2].size.a == 64.0 && classes[2].size.b == 512.0);
    assert_int_equal(classes[2].lifetime, FB_LIFETIME_ITERATIONS);
    assert_int_equal(classes[2].life.kind, FB_DISTRIBUTION_GEOMETRIC);
    assert_true(classes[2].life.a == 20.0);
    assert_int_equal(classes[2].touch, FB_TOUCH_ALL);
    assert_int_equal(classes[3].lifetime, FB_LIFETIME_TIME);
    assert_true(classes[3].life.a == 1e9 && classes[3].life.b == 120e9);
    fb_workload_free(workload);
}

static void calls_alignment_and_growth_are_read(void **state)
{
    (void)state;
    struct fb_workload *workload = parse_well(complete, NULL, 0);
    const struct fb_object_class *kv = &workload->classes[3], *tensor = &workload->classes[4];
    const struct fb_object_class *vector = &workload->classes[5];
    assert_int_equal(kv->grow, FB_GROW_COPY);
    assert_int_equal(kv->grow_by_bytes, 16 * KIB);
    assert_int_equal(kv->grow_to_bytes, 2 * MIB);
    assert_int_equal(kv->touch, FB_TOUCH_PAGES);
    assert_int_equal(tensor->call, FB_CALL_ALIGNED);
    assert_int_equal(tensor->align, 64);
    assert_int_equal(tensor->lifetime, FB_LIFETIME_OPS);
    assert_int_equal(tensor->grow, FB_GROW_NONE);
    assert_int_equal(vector->call, FB_CALL_REALLOC);
    assert_int_equal(vector->grow, FB_GROW_REALLOC);
    assert_int_equal(vector->grow_by_bytes, 0);
    assert_true(vector->grow_factor == 1.5);
    assert_int_equal(workload->classes[6].lifetime, FB_LIFETIME_MANUAL);
    fb_workload_free(workload);
}

static void phases_are_read(void **state)
{
    (void)state;
    struct fb_workload *workload = parse_well(complete, NULL, 0);
    const struct fb_phase *phases = workload->phases;
    assert_int_equal(workload->phase_count, 4);
    assert_false(phases[0].has_iterations);
    assert_int_equal(phases[0].mix, FB_MIX_SEQUENTIAL);
    assert_string_equal(phases[1].name, "serve");
    assert_true(phases[1].has_iterations);
    assert_int_equal(phases[1].iterations, 100);
    assert_int_equal(phases[1].every_ns, 600000000);
    assert_int_equal(phases[1].hold_ns, 20000000);
    assert_int_equal(phases[1].allocate_count, 5);
    assert_int_equal(phases[1].allocate[0].class_index, 2);
    assert_true(phases[1].allocate[0].count.a == 2000.0);
    assert_int_equal(phases[1].allocate[2].count.kind, FB_DISTRIBUTION_EXPONENTIAL);
    assert_int_equal(phases[1].free_count, 1);
    assert_int_equal(phases[1].free[0].share, 42949673); /* 1 % of 2^32 */
    assert_int_equal(phases[1].free_order, FB_FREE_RANDOM);
    assert_int_equal(phases[1].mix, FB_MIX_INTERLEAVED);
    assert_true(phases[1].fail_on_refusal);
    assert_int_equal(phases[2].free[0].class_index, 6);
    assert_int_equal(phases[2].free[0].share, WHOLE);
    assert_int_equal(phases[2].free_order, FB_FREE_LIFO);
    assert_false(phases[2].fail_on_refusal);
    assert_int_equal(phases[3].for_ns, 15000000000);
    fb_workload_free(workload);
}

static const char threaded[] =
    HEAD "pools: {workers: 8, reaper: 1}\n"
         "objects:\n"
         "  frame: {size: 6MiB, lifetime: iteration, freed_by: reaper}\n"
         "  next:  {size: 64, lifetime: iteration, freed_by: other}\n"
         "  own:   {size: 64, lifetime: iteration, freed_by: same}\n"
         "  token: {size: 64, lifetime: scope}\n"
         "  note:  {size: 64, lifetime: inner_scope}\n"
         "phases:\n"
         "  - {name: main, thread: main, iterations: 1, allocate: {own: 1}}\n"
         "  - {name: single, thread: own, iterations: 1, take_turns: false, allocate: {frame: 1}}\n"
         "  - {name: crowd, threads: 256, iterations: 9, allocate: {next: 1}, thread_life: phase}\n"
         "  - {name: churn, threads: 2, iterations: 9, thread_life: iteration, take_turns: true}\n"
         "  - {name: renew, threads: 2, iterations: 9, thread_life: {iterations: 3}}\n"
         "  - {name: pooled, pool: workers, iterations: 9, allocate: {next: 1}}\n"
         "  - {name: scoped, scope: request, iterations: 9, inner_scopes: 4,\n"
         "     allocate: {token: 1, note: 1}}\n";

static void pools_and_freers_are_read(void **state)
{
    (void)state;
    struct fb_workload *workload = parse_well(threaded, NULL, 0);
    assert_int_equal(workload->pool_count, 2);
    assert_string_equal(workload->pools[0].name, "workers");
    assert_int_equal(workload->pools[0].threads, 8);
    assert_int_equal(workload->pools[1].threads, 1);
    assert_int_equal(workload->classes[0].freed_by, FB_FREED_BY_POOL);
    assert_ptr_equal(workload->classes[0].freed_by_pool, &workload->pools[1]);
    assert_int_equal(workload->classes[1].freed_by, FB_FREED_BY_OTHER);
    assert_int_equal(workload->classes[2].freed_by, FB_FREED_BY_SAME);
    assert_int_equal(workload->classes[3].lifetime, FB_LIFETIME_SCOPE);
    assert_int_equal(workload->classes[4].lifetime, FB_LIFETIME_INNER_SCOPE);
    fb_workload_free(workload);
}

static void threads_and_scopes_of_phases_are_read(void **state)
{
    (void)state;
    struct fb_workload *workload = parse_well(threaded, NULL, 0);
    static const struct {
        uint32_t threads, inner_scopes;
        uint64_t life;
        bool turns, scope, pooled;
    } rows[] = {{0, 0, 0, 0, 0, 0}, {1, 0, 0, 0, 0, 0}, {256, 0, 0, 0, 0, 0}, {2, 0, 1, 1, 0, 0},
                {2, 0, 3, 0, 0, 0}, {0, 0, 0, 0, 0, 1}, {0, 4, 0, 0, 1, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct fb_phase *phase = &workload->phases[i];
        assert_int_equal(phase->threads, rows[i].threads);
        assert_int_equal(phase->inner_scopes, rows[i].inner_scopes);
        assert_int_equal(phase->thread_life, rows[i].life);
        assert_int_equal(phase->take_turns, rows[i].turns);
        assert_int_equal(phase->scope, rows[i].scope);
        assert_ptr_equal(phase->pool, rows[i].pooled ? &workload->pools[0] : NULL);
    }
    fb_workload_free(workload);
}

static void counts_of_threads_may_be_parameters(void **state)
{
    (void)state;
    static const char text[] = HEAD
        "params: {n: 4, who: reaper}\n"
        "pools: {reaper: $n}\n"
        "objects: {a: {size: 1, lifetime: phase, freed_by: $who}}\n"
        "phases: [{name: a, threads: $n, inner_scopes: $n, scope: request, allocate: {a: 1}}]\n";
    struct fb_override six = {.name = "n", .value = "6"};
    struct fb_workload *workload = parse_well(text, &six, 1);
    assert_int_equal(workload->pools[0].threads, 6);
    assert_int_equal(workload->phases[0].threads, 6);
    assert_int_equal(workload->phases[0].inner_scopes, 6);
    assert_ptr_equal(workload->classes[0].freed_by_pool, &workload->pools[0]);
    fb_workload_free(workload);
}

static void what_is_left_out_has_its_default(void **state)
{
    (void)state;
    struct fb_workload *workload = parse_well(HEAD "objects: {a: {size: 1, lifetime: run}}\n"
                                                   "phases: [{name: load, allocate: {a: 1}}]\n",
                                              NULL, 0);
    assert_string_equal(workload->description, "");
    assert_string_equal(workload->source, "");
    assert_int_equal(workload->seed, 42);
    assert_int_equal(workload->param_count, 0);
    assert_int_equal(workload->classes[0].call, FB_CALL_MALLOC);
    assert_int_equal(workload->classes[0].touch, FB_TOUCH_PAGES);
    assert_int_equal(workload->phases[0].free_order, FB_FREE_FIFO);
    assert_int_equal(workload->pool_count, 0);
    assert_int_equal(workload->classes[0].freed_by, FB_FREED_BY_SAME);
    assert_int_equal(workload->phases[0].threads, 0);
    assert_null(workload->phases[0].pool);
    assert_false(workload->phases[0].scope || workload->phases[0].take_turns);
    fb_workload_free(workload);
}

static struct fb_workload *with_sizes(const char *size)
{
    char text[512];
    (void)snprintf(text, sizeof text,
                   HEAD "objects: {a: {size: %s, lifetime: run}}\n"
                        "phases: [{name: load, allocate: {a: 1}}]\n",
                   size);
    return parse_well(text, NULL, 0);
}

static void choice_weights_are_cumulative(void **state)
{
    (void)state;
    struct fb_workload *workload = with_sizes("{choice: [[64, 9], [4KiB, 0.5], [1MiB, 0.5]]}");
    const struct fb_distribution *size = &workload->classes[0].size;
    assert_int_equal(size->kind, FB_DISTRIBUTION_CHOICE);
    assert_int_equal(size->count, 3);
    assert_true(size->values[1] == 4096.0);
    assert_true(size->weights[0] == 9.0 && size->weights[1] == 9.5 && size->weights[2] == 10.0);
    fb_workload_free(workload);
}

static void histogram_counts_are_cumulative_and_one_fewer_than_edges(void **state)
{
    (void)state;
    struct fb_workload *workload =
        with_sizes("{histogram: {edges: [1, 64, 1KiB], counts: [30, 12]}}");
    const struct fb_distribution *size = &workload->classes[0].size;
    assert_int_equal(size->kind, FB_DISTRIBUTION_HISTOGRAM);
    assert_int_equal(size->count, 2);
    assert_true(size->values[0] == 1.0 && size->values[2] == 1024.0);
    assert_true(size->weights[0] == 30.0 && size->weights[1] == 42.0);
    fb_workload_free(workload);
}

static void the_other_shapes_keep_their_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum fb_distribution_kind kind;
        double a, b;
    } rows[] = {
        {"{uniform: [64, 4KiB]}", FB_DISTRIBUTION_UNIFORM, 64, 4096},
        {"{normal: {mean: 1.5, sd: 0.25}}", FB_DISTRIBUTION_NORMAL, 1.5, 0.25},
        {"{exponential: 2.5KiB}", FB_DISTRIBUTION_EXPONENTIAL, 2560, 0},
        {"{pareto: {min: 64, shape: 1.16}}", FB_DISTRIBUTION_PARETO, 64, 1.16},
        {"{geometric: 12.5}", FB_DISTRIBUTION_GEOMETRIC, 12.5, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct fb_workload *workload = with_sizes(rows[i].text);
        const struct fb_distribution *size = &workload->classes[0].size;
        assert_int_equal(size->kind, rows[i].kind);
        assert_true(size->a == rows[i].a && size->b == rows[i].b);
        fb_workload_free(workload);
    }
    struct fb_workload *workload = with_sizes("{cycle: [128KiB, 192KiB]}");
    assert_int_equal(workload->classes[0].size.count, 2);
    assert_true(workload->classes[0].size.values[1] == (double)(192 * KIB));
    fb_workload_free(workload);
}

static void anchors_aliases_and_merge_keys_work(void **state)
{
    (void)state;
    struct fb_workload *workload =
        parse_well(HEAD "params: {unused: &common {lifetime: run, touch: all}}\n"
                        "objects:\n"
                        "  a: &a {<<: *common, size: 64}\n"
                        "  b: {<<: [{touch: none}, *a], size: 128}\n"
                        "  c: *a\n"
                        "phases: [{name: load, allocate: {a: 1, b: 1, c: 1}}]\n",
                   NULL, 0);
    assert_true(workload->classes[0].size.a == 64.0);
    assert_int_equal(workload->classes[0].touch, FB_TOUCH_ALL);
    assert_true(workload->classes[1].size.a == 128.0);
    assert_int_equal(workload->classes[1].touch, FB_TOUCH_NONE);
    assert_int_equal(workload->classes[1].lifetime, FB_LIFETIME_RUN);
    assert_true(workload->classes[2].size.a == 64.0);
    fb_workload_free(workload);
}

static void a_class_may_be_freed_in_the_phase_that_allocates_it(void **state)
{
    (void)state;
    struct fb_workload *workload =
        parse_well(HEAD "objects: {a: {size: 64, lifetime: manual}}\n"
                        "phases: [{name: turn, iterations: 5, allocate: {a: 9}, free: {a: 0.5}}]\n",
                   NULL, 0);
    assert_int_equal(workload->phases[0].free[0].share, WHOLE / 2);
    fb_workload_free(workload);
}

static void a_byte_order_mark_is_no_part_of_the_text(void **state)
{
    (void)state;
    struct fb_workload *workload =
        parse_well("\xEF\xBB\xBF" HEAD "objects: {a: {size: 1, lifetime: run}}\n"
                   "phases: [{name: load, allocate: {a: 1}}]\n",
                   NULL, 0);
    fb_workload_free(workload);
    char *faults = parse_badly("\xEF\xBB\xBF"
                               "fragbench: x\n",
                               NULL, 0);
    assert_non_null(
        strstr(faults, "test.yaml:1:12: fragbench of the workload: \"x\" is no number"));
    assert_non_null(strstr(faults, "   1 | fragbench: x\n     |            ^\n"));
    free(faults);
}

static void the_digest_is_of_the_file_s_bytes(void **state)
{
    (void)state;
    struct fb_workload *one = parse_well(complete, NULL, 0);
    char *changed = fb_format("%s# more\n", complete);
    struct fb_workload *other = parse_well(changed, NULL, 0);
    assert_string_not_equal(one->sha256, other->sha256);
    fb_workload_free(one);
    fb_workload_free(other);
    free(changed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_head_is_read),
        cmocka_unit_test(objects_are_read),
        cmocka_unit_test(calls_alignment_and_growth_are_read),
        cmocka_unit_test(phases_are_read),
        cmocka_unit_test(pools_and_freers_are_read),
        cmocka_unit_test(threads_and_scopes_of_phases_are_read),
        cmocka_unit_test(counts_of_threads_may_be_parameters),
        cmocka_unit_test(what_is_left_out_has_its_default),
        cmocka_unit_test(choice_weights_are_cumulative),
        cmocka_unit_test(histogram_counts_are_cumulative_and_one_fewer_than_edges),
        cmocka_unit_test(the_other_shapes_keep_their_numbers),
        cmocka_unit_test(anchors_aliases_and_merge_keys_work),
        cmocka_unit_test(a_class_may_be_freed_in_the_phase_that_allocates_it),
        cmocka_unit_test(a_byte_order_mark_is_no_part_of_the_text),
        cmocka_unit_test(the_digest_is_of_the_file_s_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
