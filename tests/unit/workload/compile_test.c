/* What the compiler makes of each key of the language, op by op. */
#include "compiled.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct fb_phase_allocate one_each[] = {{0, CONSTANT(1)}, {1, CONSTANT(1)}};
static struct fb_phase_allocate two_of_first[] = {{0, CONSTANT(2)}};
static struct fb_phase_allocate one_of_first[] = {{0, CONSTANT(1)}};

static void a_phase_without_iterations_runs_once(void **state)
{
    (void)state;
    struct fb_object_class classes[] = {class_of("a", 100, FB_LIFETIME_RUN),
                                        class_of("b", 50, FB_LIFETIME_PHASE)};
    struct fb_phase phases[] = {
        {.name = "load", .allocate = one_each, .allocate_count = 2, .mix = FB_MIX_SEQUENTIAL}};
    struct fb_workload workload = WORKLOAD(classes, phases);
    expect_ops(&workload, "<0 +a0:100 +b1:50 -b1 >0");
}

static void iteration_objects_go_at_its_end_in_birth_order(void **state)
{
    (void)state;
    struct fb_object_class classes[] = {class_of("a", 100, FB_LIFETIME_ITERATION)};
    struct fb_phase phases[] = {{.name = "serve",
                                 .has_iterations = true,
                                 .iterations = 2,
                                 .allocate = two_of_first,
                                 .allocate_count = 1}};
    struct fb_workload workload = WORKLOAD(classes, phases);
    /* Slot 1 was freed last, so it is reused first. */
    expect_ops(&workload, "<0 i0 +a0:100 +a1:100 -a0 -a1 i1 +a1:100 +a0:100 -a1 -a0 >0");
}

static void lifo_frees_in_reverse(void **state)
{
    (void)state;
    struct fb_object_class classes[] = {class_of("a", 100, FB_LIFETIME_ITERATION)};
    struct fb_phase phases[] = {{.name = "serve",
                                 .allocate = two_of_first,
                                 .allocate_count = 1,
                                 .free_order = FB_FREE_LIFO}};
    struct fb_workload workload = WORKLOAD(classes, phases);
    expect_ops(&workload, "<0 +a0:100 +a1:100 -a1 -a0 >0");
}

static void a_life_of_two_iterations_ends_with_the_second(void **state)
{
    (void)state;
    struct fb_object_class classes[] = {living("a", 100, FB_LIFETIME_ITERATIONS, 2)};
    struct fb_phase phases[] = {{.name = "serve",
                                 .has_iterations = true,
                                 .iterations = 3,
                                 .allocate = one_of_first,
                                 .allocate_count = 1}};
    struct fb_workload workload = WORKLOAD(classes, phases);
    expect_ops(&workload, "<0 i0 +a0:100 i1 +a1:100 -a0 i2 +a0:100 -a1 -a0 >0");
}

/* Both kinds of one iteration's end are one batch in birth order, whoever holds them. */
static void lives_that_end_together_are_freed_in_birth_order(void **state)
{
    (void)state;
    struct fb_object_class classes[] = {living("a", 10, FB_LIFETIME_ITERATIONS, 1),
                                        class_of("b", 20, FB_LIFETIME_ITERATION)};
    struct fb_phase phases[] = {{.name = "serve",
                                 .has_iterations = true,
                                 .iterations = 1,
                                 .allocate = one_each,
                                 .allocate_count = 2,
                                 .mix = FB_MIX_SEQUENTIAL}};
    struct fb_workload workload = WORKLOAD(classes, phases);
    expect_ops(&workload, "<0 i0 +a0:10 +b1:20 -a0 -b1 >0");
}

static void a_life_of_two_ops_ends_before_the_second_allocation(void **state)
{
    (void)state;
    struct fb_object_class classes[] = {living("a", 10, FB_LIFETIME_OPS, 2)};
    struct fb_phase_allocate four[] = {{0, CONSTANT(4)}};
    struct fb_phase phases[] = {{.name = "serve", .allocate = four, .allocate_count = 1}};
    struct fb_workload workload = WORKLOAD(classes, phases);
    expect_ops(&workload, "<0 +a0:10 +a1:10 -a0 +a0:10 -a1 +a1:10 -a0 -a1 >0");
}

/* 10 touched bytes cost 1 ns: an allocation takes 101 ns, a free 100. The first object is born
 * at 101 and due at 401. */
static void a_timed_life_ends_before_the_next_action(void **state)
{
    (void)state;
    struct fb_object_class classes[] = {living("a", 10, FB_LIFETIME_TIME, 300)};
    struct fb_phase_allocate six[] = {{0, CONSTANT(6)}};
    struct fb_phase phases[] = {{.name = "serve", .allocate = six, .allocate_count = 1}};
    struct fb_workload workload = WORKLOAD(classes, phases);
    /* Before the fifth, at 404, only the first is due; before the sixth, at 605, the second (502)
     * and third (603) are. The slot freed last is reused first. */
    expect_ops(&workload, "<0 +a0:10 +a1:10 +a2:10 +a3:10 -a0 +a0:10 -a1 -a2 +a2:10 "
                          "-a3 -a0 -a2 >0");
}

static void pace_hold_and_for(void **state)
{
    (void)state;
    struct fb_object_class classes[] = {class_of("a", 8000, FB_LIFETIME_ITERATION)};
    struct fb_phase phases[] = {{.name = "serve",
                                 .has_iterations = true,
                                 .iterations = 2,
                                 .every_ns = 5000,
                                 .hold_ns = 700,
                                 .for_ns = 20000,
                                 .allocate = one_of_first,
                                 .allocate_count = 1}};
    struct fb_workload workload = WORKLOAD(classes, phases);
    expect_ops(&workload, "<0 i0 pace(0) +a0:8000 sleep(700) -a0 i1 pace(5000) +a0:8000 sleep(700) "
                          "-a0 pace(20000) >0");
    phases[0].for_ns = 0;
    struct compiled compiled = compile(&workload, 42);
    /* 5000, then an allocation (100 + 1000), a hold and a free (100). */
    assert_int_equal(compiled.trace.header->duration_ns, 5000 + 1100 + 700 + 100);
    assert_int_equal(compiled.totals.phases[0].duration_ns, 6900);
    compiled_free(&compiled);
}

/* `for` is no extra: a phase that took longer already does not wait. */
static void a_pause_counts_from_the_phases_begin(void **state)
{
    (void)state;
    struct fb_object_class classes[] = {class_of("a", 80000, FB_LIFETIME_PHASE)};
    struct fb_phase phases[] = {
        {.name = "load", .allocate = one_of_first, .allocate_count = 1, .for_ns = 9000},
        {.name = "idle", .for_ns = 15000000000}};
    struct fb_workload workload = WORKLOAD(classes, phases);
    struct compiled compiled = compile(&workload, 42);
    assert_int_equal(compiled.totals.phases[0].duration_ns, 100 + 10000 + 100);
    assert_int_equal(compiled.totals.phases[1].duration_ns, 15000000000);
    assert_int_equal(compiled.trace.header->duration_ns, 15000010200);
    compiled_free(&compiled);
}

static struct fb_object_class growing(double size, enum fb_grow_how how, uint64_t by, double factor,
                                      uint64_t to)
{
    struct fb_object_class class = living("a", size, FB_LIFETIME_PHASE, 0);
    class.grow = how;
    class.grow_by_bytes = by;
    class.grow_factor = factor;
    class.grow_to_bytes = to;
    return class;
}

static void expect_growth(struct fb_object_class class, const char *expected)
{
    struct fb_object_class classes[] = {class};
    struct fb_phase_allocate first_only[] = {
        {0, {.kind = FB_DISTRIBUTION_CYCLE, .values = (double[]){1, 0, 0, 0}, .count = 4}}};
    struct fb_phase phases[] = {{.name = "serve",
                                 .has_iterations = true,
                                 .iterations = 4,
                                 .allocate = first_only,
                                 .allocate_count = 1}};
    struct fb_workload workload = WORKLOAD(classes, phases);
    expect_ops(&workload, expected);
}

static void growth_by_realloc_keeps_the_slot(void **state)
{
    (void)state;
    expect_growth(growing(16, FB_GROW_REALLOC, 10, 0, 40),
                  "<0 i0 +a0:16 i1 ~a0:26 i2 ~a0:36 i3 ~a0:40 -a0 >0");
    expect_growth(growing(16, FB_GROW_REALLOC, 100, 0, 40), "<0 i0 +a0:16 i1 ~a0:40 i2 i3 -a0 >0");
}

static void growth_by_copy_frees_the_old_after_the_new(void **state)
{
    (void)state;
    expect_growth(growing(16, FB_GROW_COPY, 16, 0, 48),
                  "<0 i0 +a0:16 i1 +a1:32 -a0 i2 +a0:48 -a1 i3 -a0 >0");
}

static void growth_by_factor_rounds_up(void **state)
{
    (void)state;
    expect_growth(growing(3, FB_GROW_REALLOC, 0, 1.5, 1000),
                  "<0 i0 +a0:3 i1 ~a0:5 i2 ~a0:8 i3 ~a0:12 -a0 >0");
    expect_growth(growing(64, FB_GROW_REALLOC, 0, 2, 64), "<0 i0 +a0:64 i1 i2 i3 -a0 >0");
}

/* The copy counts while both exist: 32 + 48. */
static void a_copy_peaks_with_both_alive(void **state)
{
    (void)state;
    struct fb_object_class classes[] = {growing(16, FB_GROW_COPY, 16, 0, 48)};
    struct fb_phase_allocate first_only[] = {
        {0, {.kind = FB_DISTRIBUTION_CYCLE, .values = (double[]){1, 0, 0, 0}, .count = 4}}};
    struct fb_phase phases[] = {{.name = "serve",
                                 .has_iterations = true,
                                 .iterations = 4,
                                 .allocate = first_only,
                                 .allocate_count = 1}};
    struct fb_workload workload = WORKLOAD(classes, phases);
    struct compiled compiled = compile(&workload, 42);
    assert_int_equal(compiled.trace.header->peak_live_bytes, 80);
    assert_int_equal(compiled.trace.header->slot_count, 2);
    assert_int_equal(compiled.trace.header->alloc_calls, 3);
    assert_int_equal(compiled.trace.header->allocated_bytes, 16 + 32 + 48);
    compiled_free(&compiled);
}

/* A growing object keeps its birth: it is freed before those born after it. */
static void growth_keeps_birth_order_and_life(void **state)
{
    (void)state;
    struct fb_object_class classes[] = {growing(16, FB_GROW_COPY, 16, 0, 48),
                                        class_of("b", 5, FB_LIFETIME_PHASE)};
    classes[0].lifetime = FB_LIFETIME_PHASE;
    struct fb_phase_allocate allocate[] = {
        {0, {.kind = FB_DISTRIBUTION_CYCLE, .values = (double[]){1, 0}, .count = 2}},
        {1, CONSTANT(1)}};
    struct fb_phase phases[] = {{.name = "serve",
                                 .has_iterations = true,
                                 .iterations = 2,
                                 .allocate = allocate,
                                 .allocate_count = 2,
                                 .mix = FB_MIX_SEQUENTIAL}};
    struct fb_workload workload = WORKLOAD(classes, phases);
    expect_ops(&workload, "<0 i0 +a0:16 +b1:5 i1 +a2:32 -a0 +b0:5 -a2 -b1 -b0 >0");
}

/* Due before its own growth step: it goes instead of growing. */
static void a_life_that_ends_before_its_growth_step_ends(void **state)
{
    (void)state;
    struct fb_object_class class = growing(16, FB_GROW_COPY, 16, 0, 480);
    class.lifetime = FB_LIFETIME_OPS;
    class.life.a = 2; /* its own first copy is the first allocation after it */
    expect_growth(class, "<0 i0 +a0:16 i1 +a1:32 -a0 i2 -a1 i3 >0");
}

static void manual_objects_are_freed_by_a_later_phase(void **state)
{
    (void)state;
    struct fb_object_class classes[] = {class_of("a", 10, FB_LIFETIME_MANUAL)};
    struct fb_phase_allocate three[] = {{0, CONSTANT(3)}};
    struct fb_phase_free all[] = {{0, UINT64_C(1) << 32}};
    struct fb_phase phases[] = {
        {.name = "fill", .allocate = three, .allocate_count = 1},
        {.name = "drop", .free = all, .free_count = 1, .free_order = FB_FREE_LIFO}};
    struct fb_workload workload = WORKLOAD(classes, phases);
    expect_ops(&workload, "<0 +a0:10 +a1:10 +a2:10 >0 <1 -a2 -a1 -a0 >1");
}

/* A third of 1000 is 333, chosen by seed and freed in birth order; the rest goes in the tail. */
static void a_share_of_the_manual_objects_is_chosen_at_random(void **state)
{
    (void)state;
    struct fb_object_class classes[] = {class_of("a", 10, FB_LIFETIME_MANUAL)};
    struct fb_phase_allocate thousand[] = {{0, CONSTANT(1000)}};
    struct fb_phase_free third[] = {{0, (UINT64_C(1) << 32) / 3}};
    struct fb_phase phases[] = {{.name = "fill", .allocate = thousand, .allocate_count = 1},
                                {.name = "evict", .free = third, .free_count = 1}};
    struct fb_workload workload = WORKLOAD(classes, phases);
    struct compiled compiled = compile(&workload, 42);
    assert_int_equal(compiled.totals.phases[1].free_calls, 333);
    assert_int_equal(compiled.trace.header->free_calls, 333);
    assert_int_equal(compiled.trace.header->end_live_bytes, 6670);
    uint32_t previous = 0, gaps = 0;
    uint64_t begin = 0, frees = 0;
    for (uint64_t i = 0; i < compiled.trace.header->op_count; i++) {
        const struct fb_op *op = &compiled.trace.ops[i];
        if (op->kind == FB_OP_PHASE_BEGIN)
            begin = i;
        if (op->kind != FB_OP_FREE || begin == 0 || frees++ >= 333)
            continue;
        assert_true(frees == 1 || op->slot > previous);
        gaps += op->slot > previous + 1;
        previous = op->slot;
    }
    assert_in_range(gaps, 150, 300); /* scattered: about two thirds are not neighbours */
    assert_in_range(previous, 970, 999);
    compiled_free(&compiled);
}

static void tail_frees_all_but_run_and_then_looks(void **state)
{
    (void)state;
    struct fb_object_class classes[] = {class_of("a", 10, FB_LIFETIME_MANUAL),
                                        class_of("b", 20, FB_LIFETIME_RUN)};
    struct fb_phase_allocate allocate[] = {{0, CONSTANT(2)}, {1, CONSTANT(1)}};
    struct fb_phase phases[] = {
        {.name = "fill", .allocate = allocate, .allocate_count = 2, .mix = FB_MIX_SEQUENTIAL}};
    struct fb_workload workload = WORKLOAD(classes, phases);
    struct compiled compiled = compile(&workload, 42);
    const struct fb_trace *trace = &compiled.trace;
    uint64_t at = trace->header->op_count;
    while (trace->ops[at - 1].kind != FB_OP_PHASE_END)
        at--;
    const struct fb_op frees[] = {{.kind = FB_OP_FREE, .slot = 0}, {.kind = FB_OP_FREE, .slot = 1}};
    for (size_t i = 0; i < 2; i++)
        assert_memory_equal(&trace->ops[at++], &frees[i], sizeof frees[i]);
    const struct fb_op pauses[] = {
        {.kind = FB_OP_CHECKPOINT, .flags = FB_CHECKPOINT_IDLE_0S},
        {.kind = FB_OP_SLEEP, .arg = 1000000000},
        {.kind = FB_OP_CHECKPOINT, .flags = FB_CHECKPOINT_IDLE_1S},
        {.kind = FB_OP_SLEEP, .arg = 9000000000},
        {.kind = FB_OP_CHECKPOINT, .flags = FB_CHECKPOINT_IDLE_10S},
    };
    for (size_t i = 0; i < COUNT(pauses); i++)
        assert_memory_equal(&trace->ops[at++], &pauses[i], sizeof pauses[i]);
    for (size_t i = 0; i < 10; i++) {
        assert_int_equal(trace->ops[at++].kind, FB_OP_HEARTBEAT);
        assert_int_equal(trace->ops[at].kind, FB_OP_SLEEP);
        assert_int_equal(trace->ops[at++].arg, 1000000000);
    }
    const struct fb_op last[] = {
        {.kind = FB_OP_CHECKPOINT, .flags = FB_CHECKPOINT_ACTIVE_10S},
        {.kind = FB_OP_PURGE},
        {.kind = FB_OP_CHECKPOINT, .flags = FB_CHECKPOINT_PURGED},
        {.kind = FB_OP_END},
    };
    for (size_t i = 0; i < COUNT(last); i++)
        assert_memory_equal(&trace->ops[at++], &last[i], sizeof last[i]);
    assert_int_equal(at, trace->header->op_count);
    assert_int_equal(trace->header->free_calls, 0); /* the tail is in no total */
    assert_int_equal(trace->header->end_live_bytes, 40);
    assert_int_equal(trace->classes[0].kept, 0);
    assert_int_equal(trace->classes[1].kept, 1);
    compiled_free(&compiled);
}

/* START, then around the peak and at the phase's end. */
static void checkpoints_stand_where_they_belong(void **state)
{
    (void)state;
    struct fb_object_class classes[] = {class_of("a", 100000, FB_LIFETIME_ITERATION)};
    struct fb_phase phases[] = {{.name = "serve", .allocate = two_of_first, .allocate_count = 1},
                                {.name = "again", .allocate = two_of_first, .allocate_count = 1}};
    struct fb_workload workload = WORKLOAD(classes, phases);
    struct compiled compiled = compile(&workload, 42);
    static const uint8_t kinds[] = {FB_OP_CHECKPOINT, FB_OP_PHASE_BEGIN, FB_OP_ALLOC, FB_OP_SAMPLE,
                                    FB_OP_ALLOC,      FB_OP_CHECKPOINT,  FB_OP_FREE,  FB_OP_FREE,
                                    FB_OP_CHECKPOINT, FB_OP_PHASE_END};
    const struct fb_op *ops = compiled.trace.ops;
    for (size_t i = 0; i < COUNT(kinds); i++)
        assert_int_equal(ops[i].kind, kinds[i]);
    assert_int_equal(ops[0].flags, FB_CHECKPOINT_START);
    assert_int_equal(ops[3].flags, FB_SAMPLE_VOLUME);
    assert_int_equal(ops[5].flags, FB_CHECKPOINT_PEAK_LIVE); /* the first of the two maxima */
    assert_int_equal(ops[8].flags, FB_CHECKPOINT_PHASE_END);
    assert_int_equal(compiled.trace.header->checkpoint_count, 1 + 1 + 2 + 5);
    compiled_free(&compiled);
}

static void scale_rounds_and_leaves_at_least_one(void **state)
{
    (void)state;
    struct fb_object_class classes[] = {class_of("a", 10, FB_LIFETIME_ITERATION)};
    struct fb_phase phases[] = {{.name = "serve",
                                 .has_iterations = true,
                                 .iterations = 25,
                                 .allocate = one_of_first,
                                 .allocate_count = 1}};
    struct fb_workload workload = WORKLOAD(classes, phases);
    static const struct {
        double scale;
        uint64_t iterations;
    } cases[] = {{0.1, 3}, {0.01, 1}, {1, 25}, {2.5, 63}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct fb_compile_options options = {.seed = 1, .scale = cases[i].scale};
        struct compiled compiled = compile_with(&workload, &options);
        assert_int_equal(compiled.trace.header->alloc_calls, cases[i].iterations);
        assert_int_equal(compiled.trace.phases[0].iterations, cases[i].iterations);
        compiled_free(&compiled);
    }
}

static void tables_carry_the_workloads_words(void **state)
{
    (void)state;
    struct fb_object_class classes[] = {class_of("a", 10000, FB_LIFETIME_RUN),
                                        class_of("b", 10000, FB_LIFETIME_RUN)};
    classes[0].call = FB_CALL_ALIGNED;
    classes[0].align = 64;
    classes[0].touch = FB_TOUCH_SHARE;
    classes[0].touch_share = UINT64_C(1) << 31;
    classes[1].align = 64; /* not for malloc */
    struct fb_phase phases[] = {{.name = "load",
                                 .has_iterations = true,
                                 .iterations = 3,
                                 .every_ns = 600,
                                 .allocate = one_each,
                                 .allocate_count = 2,
                                 .fail_on_refusal = true}};
    struct fb_workload workload = WORKLOAD(classes, phases);
    struct compiled compiled = compile(&workload, 42);
    const struct fb_trace_class *class = compiled.trace.classes;
    assert_string_equal(class[0].name, "a");
    assert_int_equal(class[0].call, FB_CALL_ALIGNED);
    assert_int_equal(class[0].align, 64);
    assert_int_equal(class[0].touch_share, UINT64_C(1) << 31);
    assert_int_equal(class[1].align, 0);
    assert_string_equal(compiled.trace.phases[0].name, "load");
    assert_int_equal(compiled.trace.phases[0].every_ns, 600);
    assert_int_equal(compiled.trace.phases[0].fail_on_refusal, 1);
    assert_int_equal(compiled.trace.header->seed, 42);
    /* Half of 10,000 in whole pages is 8,192; all of the other. */
    assert_int_equal(compiled.trace.header->peak_touched_bytes, 3 * (8192 + 10000));
    compiled_free(&compiled);
}

static char *shuffled_ops(uint64_t seed, enum fb_mix mix)
{
    struct fb_object_class classes[] = {class_of("a", 10, FB_LIFETIME_PHASE),
                                        class_of("b", 20, FB_LIFETIME_PHASE)};
    struct fb_phase_allocate ten_each[] = {{0, CONSTANT(10)}, {1, CONSTANT(10)}};
    struct fb_phase phases[] = {
        {.name = "serve", .allocate = ten_each, .allocate_count = 2, .mix = mix}};
    struct fb_workload workload = WORKLOAD(classes, phases);
    struct compiled compiled = compile(&workload, seed);
    char *text = ops_as_text(&compiled.trace);
    compiled_free(&compiled);
    return text;
}

static void interleaving_mixes_the_classes_by_seed(void **state)
{
    (void)state;
    char *mixed = shuffled_ops(1, FB_MIX_INTERLEAVED), *again = shuffled_ops(1, FB_MIX_INTERLEAVED);
    char *other = shuffled_ops(2, FB_MIX_INTERLEAVED),
         *in_order = shuffled_ops(1, FB_MIX_SEQUENTIAL);
    assert_string_equal(mixed, again);
    assert_string_not_equal(mixed, other);
    assert_string_not_equal(mixed, in_order);
    assert_non_null(strstr(in_order, "+a9:10 +b10:20"));
    free(in_order);
    free(other);
    free(again);
    free(mixed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_phase_without_iterations_runs_once),
        cmocka_unit_test(iteration_objects_go_at_its_end_in_birth_order),
        cmocka_unit_test(lifo_frees_in_reverse),
        cmocka_unit_test(a_life_of_two_iterations_ends_with_the_second),
        cmocka_unit_test(lives_that_end_together_are_freed_in_birth_order),
        cmocka_unit_test(a_life_of_two_ops_ends_before_the_second_allocation),
        cmocka_unit_test(a_timed_life_ends_before_the_next_action),
        cmocka_unit_test(pace_hold_and_for),
        cmocka_unit_test(a_pause_counts_from_the_phases_begin),
        cmocka_unit_test(growth_by_realloc_keeps_the_slot),
        cmocka_unit_test(growth_by_copy_frees_the_old_after_the_new),
        cmocka_unit_test(growth_by_factor_rounds_up),
        cmocka_unit_test(a_copy_peaks_with_both_alive),
        cmocka_unit_test(growth_keeps_birth_order_and_life),
        cmocka_unit_test(a_life_that_ends_before_its_growth_step_ends),
        cmocka_unit_test(manual_objects_are_freed_by_a_later_phase),
        cmocka_unit_test(a_share_of_the_manual_objects_is_chosen_at_random),
        cmocka_unit_test(tail_frees_all_but_run_and_then_looks),
        cmocka_unit_test(checkpoints_stand_where_they_belong),
        cmocka_unit_test(scale_rounds_and_leaves_at_least_one),
        cmocka_unit_test(tables_carry_the_workloads_words),
        cmocka_unit_test(interleaving_mixes_the_classes_by_seed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
