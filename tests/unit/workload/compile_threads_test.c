/* What the compiler makes of the threads of one phase, op by op in lockstep order. */
#include "compiled.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct fb_phase_allocate one_of_first[] = {{0, CONSTANT(1)}};
static struct fb_phase_allocate two_of_first[] = {{0, CONSTANT(2)}};
static struct fb_phase_allocate one_each[] = {{0, CONSTANT(1)}, {1, CONSTANT(1)}};

/* Two threads of a phase that lives from iterations of one object. */
static struct fb_phase two_threads(uint64_t iterations)
{
    return (struct fb_phase){.name = "serve",
                             .has_iterations = iterations > 0,
                             .iterations = iterations,
                             .allocate = one_of_first,
                             .allocate_count = 1,
                             .threads = 2};
}

static void a_wave_is_under_way_on_all_lanes_at_once(void **state)
{
    (void)state;
    struct fb_object_class classes[] = {class_of("a", 8, FB_LIFETIME_ITERATION)};
    struct fb_phase phases[] = {two_threads(4)};
    struct fb_workload workload = WORKLOAD(classes, phases);
    expect_ops(&workload, "<0 start1 start2 "
                          "@1 i0 +a0:8 @2 i1 +a1:8 @1 -a0 @2 -a1 "
                          "@1 i2 +a0:8 @2 i3 +a1:8 @1 -a0 @2 -a1 "
                          "@1 park @2 park @0 await1 await2 "
                          "resume1 resume2 join1 end join2 end >0");
}

static void a_last_wave_may_leave_lanes_idle(void **state)
{
    (void)state;
    struct fb_object_class classes[] = {class_of("a", 8, FB_LIFETIME_ITERATION)};
    struct fb_phase phases[] = {two_threads(3)};
    struct fb_workload workload = WORKLOAD(classes, phases);
    expect_ops(&workload, "<0 start1 start2 "
                          "@1 i0 +a0:8 @2 i1 +a1:8 @1 -a0 @2 -a1 "
                          "@1 i2 +a0:8 -a0 park @2 park @0 await1 await2 "
                          "resume1 resume2 join1 end join2 end >0");
}

/* The main thread's phase and one own thread's differ in who runs them only. */
static void one_own_thread_has_nobody_to_pass_its_turn_to(void **state)
{
    (void)state;
    struct fb_object_class classes[] = {class_of("a", 8, FB_LIFETIME_ITERATION)};
    struct fb_phase phases[] = {two_threads(2)};
    phases[0].threads = 1;
    phases[0].hold_ns = 500;
    struct fb_workload workload = WORKLOAD(classes, phases);
    expect_ops(&workload, "<0 start1 @1 i0 +a0:8 sleep(500) -a0 i1 +a0:8 sleep(500) -a0 park @0 "
                          "await1 resume1 join1 end >0");
}

static void a_body_without_iterations_is_dealt_object_by_object(void **state)
{
    (void)state;
    struct fb_object_class classes[] = {class_of("a", 8, FB_LIFETIME_PHASE),
                                        class_of("b", 9, FB_LIFETIME_PHASE)};
    struct fb_phase_allocate allocate[] = {{0, CONSTANT(3)}, {1, CONSTANT(2)}};
    struct fb_phase phases[] = {{.name = "burst",
                                 .allocate = allocate,
                                 .allocate_count = 2,
                                 .mix = FB_MIX_SEQUENTIAL,
                                 .threads = 2,
                                 .for_ns = 70000}};
    struct fb_workload workload = WORKLOAD(classes, phases);
    expect_ops(&workload, "<0 start1 start2 @1 +a0:8 +a1:8 +b2:9 @2 +a3:8 +b4:9 "
                          "@1 park @2 park @0 await1 await2 pace(70000) "
                          "resume1 resume2 @1 -a0 -a1 -b2 @2 -a3 -b4 @0 join1 end join2 end >0");
}

static void each_lane_frees_its_leftovers_in_the_order_asked_for(void **state)
{
    (void)state;
    struct fb_object_class classes[] = {class_of("a", 8, FB_LIFETIME_PHASE)};
    struct fb_phase phases[] = {two_threads(4)};
    phases[0].free_order = FB_FREE_LIFO;
    struct fb_workload workload = WORKLOAD(classes, phases);
    expect_ops(&workload, "<0 start1 start2 @1 i0 +a0:8 @2 i1 +a1:8 @1 i2 +a2:8 @2 i3 +a3:8 "
                          "@1 park @2 park @0 await1 await2 "
                          "resume1 resume2 @1 -a2 -a0 @2 -a3 -a1 @0 join1 end join2 end >0");
}

/* Where n calls lie between one hand-over and the next. */
static void count_turn(const struct compiled *compiled, uint64_t *longest, uint64_t *shortest)
{
    const struct fb_trace_stream *stream = &compiled->trace.streams[1];
    uint64_t calls = 0;
    *longest = 0;
    *shortest = UINT64_MAX;
    for (uint64_t i = 0; i < stream->op_count; i++) {
        const struct fb_op *op = &compiled->trace.ops[stream->first_op + i];
        calls += op->kind == FB_OP_ALLOC || op->kind == FB_OP_FREE;
        if (op->kind == FB_OP_PARK)
            return;
        if (op->kind != FB_OP_TURN)
            continue;
        *longest = calls > *longest ? calls : *longest;
        *shortest = calls < *shortest ? calls : *shortest;
        calls = 0;
    }
}

/* 120 objects: turns of 50, 50 and 20 to allocate them, then the same to free them. */
static void a_turn_is_fifty_calls_or_the_end_of_the_actions(void **state)
{
    (void)state;
    struct fb_object_class classes[] = {class_of("a", 8, FB_LIFETIME_ITERATION)};
    struct fb_phase_allocate many[] = {{0, CONSTANT(120)}};
    struct fb_phase phases[] = {two_threads(2)};
    phases[0].allocate = many;
    struct fb_workload workload = WORKLOAD(classes, phases);
    struct compiled compiled = compile(&workload, 42);
    uint64_t longest = 0, shortest = 0;
    count_turn(&compiled, &longest, &shortest);
    assert_int_equal(longest, 50);
    assert_int_equal(shortest, 20);
    assert_int_equal(compiled.trace.header->turn_ops, 50);
    assert_int_equal(compiled.trace.header->peak_objects, 240);
    compiled_free(&compiled);
}

/* An allocation costs 101 ns: lane 1 holds from 101 to 1101, lane 2 from 202 to 1202. */
static void holds_overlap(void **state)
{
    (void)state;
    struct fb_object_class classes[] = {class_of("a", 8, FB_LIFETIME_ITERATION)};
    struct fb_phase phases[] = {two_threads(2)};
    phases[0].hold_ns = 1000;
    struct fb_workload workload = WORKLOAD(classes, phases);
    expect_ops(&workload, "<0 start1 start2 @1 i0 +a0:8 hold @2 i1 +a1:8 hold "
                          "@1 sleep(1000+) -a0 @2 sleep(1000+) -a1 "
                          "@1 park @2 park @0 await1 await2 "
                          "resume1 resume2 join1 end join2 end >0");
    struct compiled compiled = compile(&workload, 42);
    /* Lane 1's free ends at 1201, so lane 2 still waits one ns. */
    assert_int_equal(compiled.trace.header->duration_ns, 1202 + 100);
    compiled_free(&compiled);
}

static void a_wave_begins_for_all_its_lanes_at_once(void **state)
{
    (void)state;
    struct fb_object_class classes[] = {class_of("a", 8, FB_LIFETIME_PHASE)};
    struct fb_phase phases[] = {two_threads(4)};
    phases[0].every_ns = 5000;
    struct fb_workload workload = WORKLOAD(classes, phases);
    expect_ops(&workload, "<0 start1 start2 @1 i0 pace(0) +a0:8 @2 i1 pace(0) +a1:8 "
                          "@1 i2 pace(10000) +a2:8 @2 i3 pace(10000) +a3:8 "
                          "@1 park @2 park @0 await1 await2 "
                          "resume1 resume2 @1 -a0 -a2 @2 -a1 -a3 @0 join1 end join2 end >0");
}

/* The second of the lane's own, not of the phase's. */
static void lives_are_counted_in_the_lanes_own_iterations(void **state)
{
    (void)state;
    struct fb_object_class classes[] = {living("a", 8, FB_LIFETIME_ITERATIONS, 2)};
    struct fb_phase phases[] = {two_threads(6)};
    struct fb_workload workload = WORKLOAD(classes, phases);
    expect_ops(&workload, "<0 start1 start2 @1 i0 +a0:8 @2 i1 +a1:8 "
                          "@1 i2 +a2:8 @2 i3 +a3:8 @1 -a0 @2 -a1 "
                          "@1 i4 +a0:8 @2 i5 +a1:8 @1 -a2 @2 -a3 "
                          "@1 park @2 park @0 await1 await2 "
                          "resume1 resume2 @1 -a0 @2 -a1 @0 join1 end join2 end >0");
}

static void lives_in_ops_are_counted_in_the_lanes_own(void **state)
{
    (void)state;
    struct fb_object_class classes[] = {living("a", 8, FB_LIFETIME_OPS, 2)};
    struct fb_phase phases[] = {two_threads(2)};
    struct fb_phase_allocate three[] = {{0, CONSTANT(3)}};
    phases[0].allocate = three;
    struct fb_workload workload = WORKLOAD(classes, phases);
    expect_ops(&workload, "<0 start1 start2 @1 i0 +a0:8 +a1:8 -a0 +a0:8 "
                          "@2 i1 +a2:8 +a3:8 -a2 +a2:8 @1 park @2 park @0 await1 await2 "
                          "resume1 resume2 @1 -a1 -a0 @2 -a3 -a2 @0 join1 end join2 end >0");
}

/* One iteration after the other, hold and frees and all; every hand-over is strict. */
static void threads_that_take_turns_work_one_at_a_time(void **state)
{
    (void)state;
    struct fb_object_class classes[] = {class_of("a", 8, FB_LIFETIME_ITERATION)};
    struct fb_phase phases[] = {two_threads(3)};
    phases[0].take_turns = true;
    phases[0].hold_ns = 40;
    struct fb_workload workload = WORKLOAD(classes, phases);
    expect_ops(&workload, "<0 start1 start2 @1! i0 +a0:8 sleep(40) -a0 @2! i1 +a1:8 sleep(40) -a1 "
                          "@1! i2 +a0:8 sleep(40) -a0 park @2! park @0! await1 await2 "
                          "resume1 resume2 join1 end join2 end >0");
}

/* Each lane frees at its next turn what the other one is done with; its slot is not used again. */
static void the_thread_beside_it_frees_at_its_next_turn(void **state)
{
    (void)state;
    struct fb_object_class classes[] = {class_of("a", 8, FB_LIFETIME_ITERATION)};
    classes[0].freed_by = FB_FREED_BY_OTHER;
    struct fb_phase phases[] = {two_threads(4)};
    struct fb_workload workload = WORKLOAD(classes, phases);
    expect_ops(&workload, "<0 start1 start2 @1 i0 +a0:8 @2 -a0* i1 +a1:8 "
                          "@1 -a1* i2 +a2:8 @2 -a2* i3 +a3:8 "
                          "@1 park @2 park @0 await1 await2 "
                          "resume1 resume2 @1 -a3* @0 join1 end join2 end >0");
    struct compiled compiled = compile(&workload, 42);
    assert_int_equal(compiled.trace.classes[0].shared, 1);
    assert_int_equal(compiled.trace.header->slot_count, 4);
    assert_int_equal(compiled.trace.header->peak_objects, 1);
    compiled_free(&compiled);
}

/* Three lanes: the next one's thread, and the last one's is the first. */
static void what_is_left_at_the_end_is_freed_beside_too(void **state)
{
    (void)state;
    struct fb_object_class classes[] = {class_of("a", 8, FB_LIFETIME_PHASE)};
    classes[0].freed_by = FB_FREED_BY_OTHER;
    struct fb_phase phases[] = {two_threads(3)};
    phases[0].threads = 3;
    struct fb_workload workload = WORKLOAD(classes, phases);
    expect_ops(&workload, "<0 start1 start2 start3 @1 i0 +a0:8 @2 i1 +a1:8 @3 i2 +a2:8 "
                          "@1 park @2 park @3 park @0 await1 await2 await3 "
                          "resume1 resume2 resume3 @1 -a2* @2 -a0* @3 -a1* @0 "
                          "join1 end join2 end join3 end >0");
}

/* The copy is what the other thread waits for; the old one is the lane's own affair. */
static void copies_are_freed_by_whoever_made_them(void **state)
{
    (void)state;
    struct fb_object_class classes[] = {living("a", 8, FB_LIFETIME_ITERATIONS, 2),
                                        class_of("b", 1, FB_LIFETIME_ITERATION)};
    classes[0].freed_by = FB_FREED_BY_OTHER;
    classes[0].grow = FB_GROW_COPY;
    classes[0].grow_by_bytes = 8;
    classes[0].grow_to_bytes = 64;
    struct fb_phase_allocate first_only[] = {
        {0, {.kind = FB_DISTRIBUTION_CYCLE, .values = (double[]){1, 0, 0, 0}, .count = 4}}};
    struct fb_phase phases[] = {two_threads(4)};
    phases[0].allocate = first_only;
    struct fb_workload workload = WORKLOAD(classes, phases);
    expect_ops(&workload, "<0 start1 start2 @1 i0 +a0:8 @2 i1 @1 i2 +a1:16 -a0 @2 -a1* i3 "
                          "@1 park @2 park @0 await1 await2 "
                          "resume1 resume2 join1 end join2 end >0");
}

/* Of two classes only the one that others free is announced and spares its slots. */
static void what_nobody_else_frees_reuses_its_slots(void **state)
{
    (void)state;
    struct fb_object_class classes[] = {class_of("a", 8, FB_LIFETIME_ITERATION),
                                        class_of("b", 9, FB_LIFETIME_ITERATION)};
    classes[1].freed_by = FB_FREED_BY_OTHER;
    struct fb_phase phases[] = {two_threads(8)};
    phases[0].allocate = one_each;
    phases[0].allocate_count = 2;
    phases[0].mix = FB_MIX_SEQUENTIAL;
    struct fb_workload workload = WORKLOAD(classes, phases);
    struct compiled compiled = compile(&workload, 42);
    assert_int_equal(compiled.trace.classes[0].shared, 0);
    assert_int_equal(compiled.trace.classes[1].shared, 1);
    assert_int_equal(compiled.trace.header->slot_count, 2 + 8);
    compiled_free(&compiled);
}

/* After the phase its slots are anyone's: the same again needs no more. */
static void a_later_phase_reuses_all_slots(void **state)
{
    (void)state;
    struct fb_object_class classes[] = {class_of("a", 8, FB_LIFETIME_ITERATION)};
    classes[0].freed_by = FB_FREED_BY_OTHER;
    struct fb_phase phases[] = {two_threads(8), two_threads(8)};
    struct fb_workload workload = WORKLOAD(classes, phases);
    struct compiled compiled = compile(&workload, 42);
    assert_int_equal(compiled.trace.header->slot_count, 8);
    assert_int_equal(compiled.trace.header->stream_count, 5);
    assert_int_equal(compiled.trace.header->thread_peak, 3);
    compiled_free(&compiled);
}

static void a_single_threaded_trace_says_so(void **state)
{
    (void)state;
    struct fb_object_class classes[] = {class_of("a", 8, FB_LIFETIME_ITERATION)};
    struct fb_phase phases[] = {
        {.name = "serve", .allocate = two_of_first, .allocate_count = 1, .hold_ns = 7}};
    struct fb_workload workload = WORKLOAD(classes, phases);
    expect_ops(&workload, "<0 +a0:8 +a1:8 sleep(7) -a0 -a1 >0");
    struct compiled compiled = compile(&workload, 42);
    assert_int_equal(compiled.trace.header->stream_count, 1);
    assert_int_equal(compiled.trace.header->thread_peak, 1);
    assert_int_equal(compiled.trace.header->turn_ops, 0);
    assert_int_equal(compiled.trace.classes[0].shared, 0);
    compiled_free(&compiled);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wave_is_under_way_on_all_lanes_at_once),
        cmocka_unit_test(a_last_wave_may_leave_lanes_idle),
        cmocka_unit_test(one_own_thread_has_nobody_to_pass_its_turn_to),
        cmocka_unit_test(a_body_without_iterations_is_dealt_object_by_object),
        cmocka_unit_test(each_lane_frees_its_leftovers_in_the_order_asked_for),
        cmocka_unit_test(a_turn_is_fifty_calls_or_the_end_of_the_actions),
        cmocka_unit_test(holds_overlap),
        cmocka_unit_test(a_wave_begins_for_all_its_lanes_at_once),
        cmocka_unit_test(lives_are_counted_in_the_lanes_own_iterations),
        cmocka_unit_test(lives_in_ops_are_counted_in_the_lanes_own),
        cmocka_unit_test(threads_that_take_turns_work_one_at_a_time),
        cmocka_unit_test(the_thread_beside_it_frees_at_its_next_turn),
        cmocka_unit_test(what_is_left_at_the_end_is_freed_beside_too),
        cmocka_unit_test(copies_are_freed_by_whoever_made_them),
        cmocka_unit_test(what_nobody_else_frees_reuses_its_slots),
        cmocka_unit_test(a_later_phase_reuses_all_slots),
        cmocka_unit_test(a_single_threaded_trace_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
