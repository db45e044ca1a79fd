/* Threads that come and go, pools that live across phases, and who frees what they leave. */
#include "compiled.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct fb_phase_allocate one_of_first[] = {{0, CONSTANT(1)}};
static struct fb_phase_allocate two_of_first[] = {{0, CONSTANT(2)}};
static struct fb_phase_free all_of_first[] = {{0, UINT64_C(1) << 32}};

static struct fb_phase serving(uint64_t iterations, uint32_t threads)
{
    return (struct fb_phase){.name = "serve",
                             .has_iterations = true,
                             .iterations = iterations,
                             .allocate = one_of_first,
                             .allocate_count = 1,
                             .threads = threads};
}

static void expect_all(const struct fb_workload *workload, const char *ops, const char *tail)
{
    struct compiled compiled = compile(workload, 42);
    char *text = ops_as_text(&compiled.trace);
    assert_string_equal(text, ops);
    free(text);
    text = tail_as_text(&compiled.trace);
    assert_string_equal(text, tail);
    free(text);
    compiled_free(&compiled);
}

static void churning_threads_are_started_and_joined_with_each_wave(void **state)
{
    (void)state;
    struct fb_object_class classes[] = {class_of("a", 8, FB_LIFETIME_ITERATION)};
    struct fb_phase phases[] = {serving(3, 2)};
    phases[0].thread_life = 1;
    struct fb_workload workload = WORKLOAD(classes, phases);
    expect_ops(&workload, "<0 start1 start2 @1 i0 +a0:8 @2 i1 +a1:8 @1 -a0 @2 -a1 @0 "
                          "join1 end join2 end start3 @3 i2 +a0:8 -a0 @0 join3 end >0");
    struct compiled compiled = compile(&workload, 42);
    assert_int_equal(compiled.trace.header->stream_count, 4);
    assert_int_equal(compiled.trace.header->thread_peak, 3);
    compiled_free(&compiled);
}

static void threads_may_live_for_some_iterations(void **state)
{
    (void)state;
    struct fb_object_class classes[] = {class_of("a", 8, FB_LIFETIME_RUN)};
    struct fb_phase phases[] = {serving(5, 2)};
    phases[0].thread_life = 2;
    struct fb_workload workload = WORKLOAD(classes, phases);
    expect_ops(&workload, "<0 start1 start2 @1 i0 +a0:8 @2 i1 +a1:8 @1 i2 +a2:8 @2 i3 +a3:8 @0 "
                          "join1 end join2 end start3 @3 i4 +a4:8 @0 join3 end >0");
}

/* The successor in the lane frees it; main what no successor came for. */
static void a_dead_threads_objects_are_its_successors_or_mains(void **state)
{
    (void)state;
    struct fb_object_class classes[] = {living("a", 8, FB_LIFETIME_ITERATIONS, 2)};
    struct fb_phase phases[] = {serving(3, 2)};
    phases[0].thread_life = 1;
    struct fb_workload workload = WORKLOAD(classes, phases);
    expect_ops(&workload, "<0 start1 start2 @1 i0 +a0:8 @2 i1 +a1:8 @0 join1 end join2 end "
                          "start3 @3 i2 +a2:8 -a0* @0 join3 end -a1* -a2* >0");
}

/* Lane 2's thread has ended when lane 1 is done, in the last wave for good. */
static void what_no_thread_beside_is_there_to_free_is_mains(void **state)
{
    (void)state;
    struct fb_object_class classes[] = {class_of("a", 8, FB_LIFETIME_ITERATION)};
    classes[0].freed_by = FB_FREED_BY_OTHER;
    struct fb_phase phases[] = {serving(3, 2)};
    phases[0].thread_life = 1;
    struct fb_workload workload = WORKLOAD(classes, phases);
    expect_ops(&workload, "<0 start1 start2 @1 i0 +a0:8 @2 -a0* i1 +a1:8 @0 join1 end join2 end "
                          "start3 @3 -a1* i2 +a2:8 @0 join3 end -a2* >0");
    phases[0].iterations = 2; /* what is left to a thread that never comes */
    expect_ops(&workload, "<0 start1 start2 @1 i0 +a0:8 @2 -a0* i1 +a1:8 @0 join1 end join2 end "
                          "-a1* >0");
}

static void growth_goes_on_in_the_lanes_next_thread(void **state)
{
    (void)state;
    struct fb_object_class classes[] = {class_of("a", 8, FB_LIFETIME_PHASE)};
    classes[0].grow = FB_GROW_REALLOC;
    classes[0].grow_by_bytes = 8;
    classes[0].grow_to_bytes = 64;
    struct fb_phase phases[] = {serving(3, 1)};
    phases[0].thread_life = 1;
    struct fb_phase_allocate first_only[] = {
        {0, {.kind = FB_DISTRIBUTION_CYCLE, .values = (double[]){1, 0, 0}, .count = 3}}};
    phases[0].allocate = first_only;
    struct fb_workload workload = WORKLOAD(classes, phases);
    expect_ops(&workload, "<0 start1 @1 i0 +a0:8 @0 join1 end start2 @2 i1 ~a0:16* @0 join2 end "
                          "start3 @3 i2 ~a0:24* @0 join3 end -a0* >0");
}

/* In a phase of its own, main makes grow what its threads left. */
static void main_inherits_what_grows(void **state)
{
    (void)state;
    struct fb_object_class classes[] = {class_of("a", 8, FB_LIFETIME_RUN)};
    classes[0].grow = FB_GROW_REALLOC;
    classes[0].grow_by_bytes = 8;
    classes[0].grow_to_bytes = 64;
    struct fb_phase phases[] = {serving(1, 1), {.name = "later"}};
    phases[1].has_iterations = true;
    phases[1].iterations = 2;
    struct fb_workload workload = WORKLOAD(classes, phases);
    expect_ops(&workload, "<0 start1 @1 i0 +a0:8 park @0 await1 resume1 join1 end >0 "
                          "<1 i0 ~a0:16* i1 ~a0:24 >1");
}

static void manual_objects_of_ended_threads_are_mains(void **state)
{
    (void)state;
    struct fb_object_class classes[] = {class_of("a", 8, FB_LIFETIME_MANUAL)};
    struct fb_phase phases[] = {serving(2, 2), {.name = "drop"}};
    phases[1].free = all_of_first;
    phases[1].free_count = 1;
    phases[1].free_order = FB_FREE_LIFO;
    struct fb_workload workload = WORKLOAD(classes, phases);
    expect_ops(&workload, "<0 start1 start2 @1 i0 +a0:8 @2 i1 +a1:8 @1 park @2 park @0 "
                          "await1 await2 resume1 resume2 join1 end join2 end >0 "
                          "<1 -a1* -a0* >1");
}

static struct fb_pool pools[] = {{.name = "workers", .threads = 2},
                                 {.name = "reaper", .threads = 1}};

static struct fb_workload with_pools(struct fb_object_class *classes, size_t class_count,
                                     struct fb_phase *phases, size_t phase_count)
{
    return (struct fb_workload){.classes = classes,
                                .class_count = class_count,
                                .phases = phases,
                                .phase_count = phase_count,
                                .pools = pools,
                                .pool_count = COUNT(pools)};
}

#define BEAT(stream) "resume" #stream " @" #stream " beat park @0 await" #stream " "
#define BEATS "beat " BEAT(1) BEAT(2) "sleep(1000000000) "
#define PURGE(stream) "resume" #stream " @" #stream " purgeown park @0 await" #stream " "

/* The same two threads in both phases; they beat, purge and end in the tail. */
static void a_pool_lives_across_phases_to_the_end(void **state)
{
    (void)state;
    struct fb_object_class classes[] = {class_of("a", 8, FB_LIFETIME_ITERATION)};
    struct fb_phase phases[] = {serving(2, 0), {.name = "pause", .for_ns = 5}, serving(2, 0)};
    phases[0].pool = &pools[0];
    phases[2].pool = &pools[0];
    struct fb_workload workload = with_pools(classes, 1, phases, 3);
    expect_all(&workload,
               "<0 start1 start2 @1 i0 +a0:8 @2 i1 +a1:8 @1 -a0 @2 -a1 "
               "@1 park @2 park @0 await1 await2 >0 <1 pace(5) >1 "
               "<2 resume1 resume2 @1 i0 +a1:8 @2 i1 +a0:8 @1 -a1 @2 -a0 "
               "@1 park @2 park @0 await1 await2 >2",
               "sleep(1000000000) sleep(9000000000) " BEATS BEATS BEATS BEATS BEATS BEATS BEATS
                   BEATS BEATS BEATS PURGE(1) PURGE(2) "purge "
                                                       "resume1 join1 end resume2 join2 end end");
}

static void a_pools_threads_free_their_leftovers_and_park_again(void **state)
{
    (void)state;
    struct fb_object_class classes[] = {class_of("a", 8, FB_LIFETIME_PHASE)};
    struct fb_phase phases[] = {serving(3, 0)};
    phases[0].pool = &pools[0];
    phases[0].for_ns = 9999;
    struct fb_workload workload = with_pools(classes, 1, phases, 1);
    expect_ops(&workload, "<0 start1 start2 @1 i0 +a0:8 @2 i1 +a1:8 @1 i2 +a2:8 park @2 park @0 "
                          "await1 await2 pace(9999) resume1 resume2 @1 -a0 -a2 park "
                          "@2 -a1 park @0 await1 await2 >0");
}

/* Main allocates, the reaper frees: a turn of its own after each round. */
static void a_pool_that_only_frees_comes_after_each_round(void **state)
{
    (void)state;
    struct fb_object_class classes[] = {class_of("a", 8, FB_LIFETIME_ITERATION)};
    classes[0].freed_by = FB_FREED_BY_POOL;
    classes[0].freed_by_pool = &pools[1];
    struct fb_phase phases[] = {serving(2, 0), serving(1, 2)};
    phases[0].hold_ns = 30;
    struct fb_workload workload = with_pools(classes, 1, phases, 2);
    expect_ops(&workload, "<0 start1 i0 +a0:8 hold sleep(30+) @1 -a0* "
                          "@0 i1 +a1:8 hold sleep(30+) @1 -a1* park @0 await1 >0 "
                          "<1 start2 start3 resume1 @2 i0 +a1:8 @1 -a1* @2 park @3 park @1 park "
                          "@0 await2 await3 await1 resume2 resume3 join2 end join3 end >1");
}

/* Three objects a wave to two threads: each goes on where the last wave stopped. */
static void a_pools_threads_free_in_turn(void **state)
{
    (void)state;
    struct fb_object_class classes[] = {class_of("a", 8, FB_LIFETIME_ITERATION)};
    classes[0].freed_by = FB_FREED_BY_POOL;
    classes[0].freed_by_pool = &pools[0];
    struct fb_phase phases[] = {serving(2, 0)};
    struct fb_phase_allocate three[] = {{0, CONSTANT(3)}};
    phases[0].allocate = three;
    struct fb_workload workload = with_pools(classes, 1, phases, 1);
    expect_ops(&workload, "<0 start1 start2 i0 +a0:8 +a1:8 +a2:8 @1 -a0* -a2* @2 -a1* "
                          "@0 i1 +a3:8 +a4:8 +a5:8 @1 -a4* @2 -a3* -a5* "
                          "@1 park @2 park @0 await1 await2 >0");
}

/* The lanes are the freers: what a lane deals to itself it frees at once. */
static void a_pool_may_free_its_own_work(void **state)
{
    (void)state;
    struct fb_object_class classes[] = {class_of("a", 8, FB_LIFETIME_ITERATION)};
    classes[0].freed_by = FB_FREED_BY_POOL;
    classes[0].freed_by_pool = &pools[0];
    struct fb_phase phases[] = {serving(2, 0)};
    phases[0].pool = &pools[0];
    phases[0].allocate = two_of_first;
    struct fb_workload workload = with_pools(classes, 1, phases, 1);
    expect_ops(&workload, "<0 start1 start2 @1 i0 +a0:8 +a1:8 @2 -a1* i1 +a2:8 +a3:8 "
                          "@1 -a2* -a0 @2 -a3 @1 park @2 park @0 await1 await2 >0");
}

static void a_phase_begins_with_a_visit_to_each_thread_that_frees(void **state)
{
    (void)state;
    struct fb_object_class classes[] = {class_of("a", 8, FB_LIFETIME_MANUAL),
                                        class_of("b", 9, FB_LIFETIME_MANUAL)};
    struct fb_phase_allocate both[] = {{0, CONSTANT(1)}, {1, CONSTANT(1)}};
    struct fb_phase_free clauses[] = {{0, UINT64_C(1) << 32}, {1, UINT64_C(1) << 32}};
    classes[1].freed_by = FB_FREED_BY_OTHER;
    struct fb_phase phases[] = {serving(2, 0), {.name = "drop"}};
    phases[0].pool = &pools[0];
    phases[0].allocate = both;
    phases[0].allocate_count = 2;
    phases[0].mix = FB_MIX_SEQUENTIAL;
    phases[1].free = clauses;
    phases[1].free_count = 2;
    struct fb_workload workload = with_pools(classes, 2, phases, 2);
    expect_ops(&workload, "<0 start1 start2 @1 i0 +a0:8 +b1:9 @2 i1 +a2:8 +b3:9 "
                          "@1 park @2 park @0 await1 await2 >0 "
                          "<1 resume1 @1 -a0 -b3* park @0 await1 "
                          "resume2 @2 -a2 -b1* park @0 await2 >1");
}

static void main_frees_the_manual_leftovers_of_pools(void **state)
{
    (void)state;
    struct fb_object_class classes[] = {class_of("a", 8, FB_LIFETIME_MANUAL)};
    struct fb_phase phases[] = {serving(2, 0)};
    phases[0].pool = &pools[0];
    struct fb_workload workload = with_pools(classes, 1, phases, 1);
    struct compiled compiled = compile(&workload, 42);
    char *tail = tail_as_text(&compiled.trace);
    assert_int_equal(strncmp(tail, "-a0* -a1* sleep", strlen("-a0* -a1* sleep")), 0);
    assert_int_equal(compiled.trace.classes[0].shared, 1);
    assert_int_equal(compiled.trace.header->free_calls, 0);
    free(tail);
    compiled_free(&compiled);
}

static void a_pool_that_nobody_uses_starts_no_thread(void **state)
{
    (void)state;
    struct fb_object_class classes[] = {class_of("a", 8, FB_LIFETIME_ITERATION)};
    struct fb_phase phases[] = {serving(1, 0)};
    struct fb_workload workload = with_pools(classes, 1, phases, 1);
    expect_ops(&workload, "<0 i0 +a0:8 -a0 >0");
}

/* Strict throughout: the frees at the begin, and those of a thread that only frees. */
static void all_turns_of_a_strict_phase_are_strict(void **state)
{
    (void)state;
    struct fb_object_class classes[] = {class_of("a", 8, FB_LIFETIME_MANUAL),
                                        class_of("b", 9, FB_LIFETIME_ITERATION)};
    struct fb_phase_allocate second[] = {{1, CONSTANT(1)}};
    classes[1].freed_by = FB_FREED_BY_POOL;
    classes[1].freed_by_pool = &pools[1];
    struct fb_phase phases[] = {serving(2, 0), serving(3, 0), {.name = "end"}};
    phases[0].pool = phases[1].pool = &pools[0];
    phases[1].allocate = second;
    phases[1].take_turns = true;
    phases[1].free = all_of_first;
    phases[1].free_count = 1;
    struct fb_workload workload = with_pools(classes, 2, phases, 3);
    expect_ops(&workload,
               "<0 start1 start2 @1 i0 +a0:8 @2 i1 +a1:8 @1 park @2 park @0 await1 await2 >0 "
               "<1 resume1 @1! -a0 park @0! await1 resume2 @2! -a1 park @0! await2 "
               "resume1 resume2 start3 @1! i0 +b2:9 @2! i1 +b3:9 @3! -b2* -b3* "
               "@1! i2 +b4:9 @3! -b4* @1! park @2! park @3! park @0! await1 await2 await3 >1 "
               "<2 >2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(churning_threads_are_started_and_joined_with_each_wave),
        cmocka_unit_test(threads_may_live_for_some_iterations),
        cmocka_unit_test(a_dead_threads_objects_are_its_successors_or_mains),
        cmocka_unit_test(what_no_thread_beside_is_there_to_free_is_mains),
        cmocka_unit_test(growth_goes_on_in_the_lanes_next_thread),
        cmocka_unit_test(main_inherits_what_grows),
        cmocka_unit_test(manual_objects_of_ended_threads_are_mains),
        cmocka_unit_test(a_pool_lives_across_phases_to_the_end),
        cmocka_unit_test(a_pools_threads_free_their_leftovers_and_park_again),
        cmocka_unit_test(a_pool_that_only_frees_comes_after_each_round),
        cmocka_unit_test(a_pools_threads_free_in_turn),
        cmocka_unit_test(a_pool_may_free_its_own_work),
        cmocka_unit_test(a_phase_begins_with_a_visit_to_each_thread_that_frees),
        cmocka_unit_test(main_frees_the_manual_leftovers_of_pools),
        cmocka_unit_test(a_pool_that_nobody_uses_starts_no_thread),
        cmocka_unit_test(all_turns_of_a_strict_phase_are_strict),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
