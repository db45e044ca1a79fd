/* Scopes: what is allocated in them, and how they end. */
#include "compiled.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct fb_object_class classes[] = {
    {.name = "s", .size = CONSTANT(8), .lifetime = FB_LIFETIME_SCOPE},
    {.name = "n", .size = CONSTANT(4), .lifetime = FB_LIFETIME_INNER_SCOPE},
    {.name = "i", .size = CONSTANT(2), .lifetime = FB_LIFETIME_ITERATION},
    {.name = "r", .size = CONSTANT(1), .lifetime = FB_LIFETIME_RUN},
};

static struct fb_phase requests(uint64_t iterations, struct fb_phase_allocate *allocate,
                                size_t allocate_count)
{
    return (struct fb_phase){.name = "serve",
                             .has_iterations = true,
                             .iterations = iterations,
                             .allocate = allocate,
                             .allocate_count = allocate_count,
                             .mix = FB_MIX_SEQUENTIAL,
                             .scope = true};
}

static void an_iterations_scope_ends_before_its_other_frees(void **state)
{
    (void)state;
    struct fb_phase_allocate allocate[] = {{2, CONSTANT(1)}, {0, CONSTANT(2)}, {3, CONSTANT(1)}};
    struct fb_phase phases[] = {requests(2, allocate, 3)};
    phases[0].every_ns = 9000;
    phases[0].hold_ns = 7;
    phases[0].free_order = FB_FREE_LIFO; /* not within a scope */
    struct fb_workload workload = WORKLOAD(classes, phases);
    expect_ops(&workload, "<0 i0 pace(0) {0 +i0:2 +s1:8. +s2:8. +r3:1 sleep(7) -s1. -s2. }0 -i0 "
                          "i1 pace(9000) {0 +i0:2 +s2:8. +s1:8. +r4:1 sleep(7) -s2. -s1. }0 -i0 "
                          ">0");
}

static void a_scope_may_be_empty(void **state)
{
    (void)state;
    struct fb_phase_allocate allocate[] = {{2, CONSTANT(1)}};
    struct fb_phase phases[] = {requests(1, allocate, 1)};
    struct fb_workload workload = WORKLOAD(classes, phases);
    expect_ops(&workload, "<0 i0 {0 +i0:2 }0 -i0 >0");
}

static void a_body_without_iterations_is_one_scope(void **state)
{
    (void)state;
    struct fb_phase_allocate allocate[] = {{0, CONSTANT(2)}};
    struct fb_phase phases[] = {requests(0, allocate, 1)};
    phases[0].has_iterations = false;
    struct fb_workload workload = WORKLOAD(classes, phases);
    expect_ops(&workload, "<0 {0 +s0:8. +s1:8. -s0. -s1. }0 >0");
}

/* The outer scope's objects come before the first inner scope; the rest in equal parts. */
static void inner_scopes_share_the_iterations_actions(void **state)
{
    (void)state;
    struct fb_phase_allocate allocate[] = {{1, CONSTANT(3)}, {0, CONSTANT(1)}, {2, CONSTANT(1)}};
    struct fb_phase phases[] = {requests(1, allocate, 3)};
    phases[0].inner_scopes = 2;
    struct fb_workload workload = WORKLOAD(classes, phases);
    expect_ops(&workload, "<0 i0 {0 +s0:8. {1 +n1:4. +n2:4. -n1. -n2. }1 "
                          "{1 +n2:4. +i1:2 -n2. }1 -s0. }0 -i1 >0");
}

static void inner_scopes_may_be_more_than_actions(void **state)
{
    (void)state;
    struct fb_phase_allocate allocate[] = {{0, CONSTANT(1)}, {1, CONSTANT(1)}};
    struct fb_phase phases[] = {requests(1, allocate, 2)};
    phases[0].inner_scopes = 3;
    struct fb_workload workload = WORKLOAD(classes, phases);
    expect_ops(&workload, "<0 i0 {0 +s0:8. {1 }1 {1 }1 {1 +n1:4. -n1. }1 -s0. }0 >0");
    allocate[1].count = (struct fb_distribution)CONSTANT(0);
    expect_ops(&workload, "<0 i0 {0 +s0:8. {1 }1 {1 }1 {1 }1 -s0. }0 >0");
}

/* Ten by four: parts of two and three, in order. */
static void parts_differ_by_one_at_most(void **state)
{
    (void)state;
    struct fb_phase_allocate allocate[] = {{1, CONSTANT(10)}};
    struct fb_phase phases[] = {requests(1, allocate, 1)};
    phases[0].inner_scopes = 4;
    struct fb_workload workload = WORKLOAD(classes, phases);
    struct compiled compiled = compile(&workload, 42);
    uint64_t counts[4] = {0}, part = 0;
    for (uint64_t i = 0; i < compiled.trace.header->op_count; i++) {
        counts[part] += compiled.trace.ops[i].kind == FB_OP_ALLOC;
        part += compiled.trace.ops[i].kind == FB_OP_SCOPE_END && part < 3;
    }
    static const uint64_t expected[] = {2, 3, 2, 3};
    assert_memory_equal(counts, expected, sizeof expected);
    compiled_free(&compiled);
}

/* Each lane's scope is its own; both are open at once. */
static void lanes_have_scopes_of_their_own(void **state)
{
    (void)state;
    struct fb_phase_allocate allocate[] = {{0, CONSTANT(1)}, {2, CONSTANT(1)}};
    struct fb_phase phases[] = {requests(2, allocate, 2)};
    phases[0].threads = 2;
    struct fb_workload workload = WORKLOAD(classes, phases);
    expect_ops(&workload, "<0 start1 start2 @1 i0 {0 +s0:8. +i1:2 @2 i1 {0 +s2:8. +i3:2 "
                          "@1 -s0. }0 -i1 @2 -s2. }0 -i3 "
                          "@1 park @2 park @0 await1 await2 "
                          "resume1 resume2 join1 end join2 end >0");
}

static void a_body_dealt_to_lanes_is_a_scope_each(void **state)
{
    (void)state;
    struct fb_phase_allocate allocate[] = {{0, CONSTANT(3)}};
    struct fb_phase phases[] = {requests(0, allocate, 1)};
    phases[0].has_iterations = false;
    phases[0].threads = 2;
    struct fb_workload workload = WORKLOAD(classes, phases);
    expect_ops(&workload, "<0 start1 start2 @1 {0 +s0:8. +s1:8. @2 {0 +s2:8. "
                          "@1 -s0. -s1. }0 @2 -s2. }0 @1 park @2 park @0 await1 await2 "
                          "resume1 resume2 join1 end join2 end >0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_iterations_scope_ends_before_its_other_frees),
        cmocka_unit_test(a_scope_may_be_empty),
        cmocka_unit_test(a_body_without_iterations_is_one_scope),
        cmocka_unit_test(inner_scopes_share_the_iterations_actions),
        cmocka_unit_test(inner_scopes_may_be_more_than_actions),
        cmocka_unit_test(parts_differ_by_one_at_most),
        cmocka_unit_test(lanes_have_scopes_of_their_own),
        cmocka_unit_test(a_body_dealt_to_lanes_is_a_scope_each),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
