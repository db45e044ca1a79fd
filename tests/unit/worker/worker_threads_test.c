/* The worker's threads: turns in order, waits that end, foreign frees, scopes, in both orders. */
#include "worker_run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define OPS_MAX 60000

static const struct fb_trace_class classes[] = {
    {.name = "own", .touch = FB_TOUCH_PAGES},
    {.name = "shared", .touch = FB_TOUCH_PAGES, .shared = 1},
};
enum { OWN, SHARED };

/* A growing list of ops: one stream. */
struct list {
    struct fb_op ops[OPS_MAX];
    size_t count;
};
static struct list streams[8];

static void start_over(void)
{
    for (size_t i = 0; i < COUNT(streams); i++)
        streams[i].count = 0;
}

static void put(size_t stream, struct fb_op op)
{
    assert_true(streams[stream].count < OPS_MAX);
    streams[stream].ops[streams[stream].count++] = op;
}

static void mark(size_t stream, enum fb_op_kind kind, uint64_t arg, unsigned flags)
{
    put(stream, (struct fb_op){.kind = (uint8_t)kind, .flags = (uint8_t)flags, .arg = arg});
}

static void alloc(size_t stream, uint32_t slot, uint16_t class_index, uint64_t size)
{
    put(stream,
        (struct fb_op){.kind = FB_OP_ALLOC, .slot = slot, .class_index = class_index, .arg = size});
}

static void release(size_t stream, uint32_t slot, uint16_t class_index, unsigned flags)
{
    put(stream,
        (struct fb_op){
            .kind = FB_OP_FREE, .flags = (uint8_t)flags, .slot = slot, .class_index = class_index});
}

static struct worker_run run_streams(uint32_t count, struct worker_run options)
{
    for (uint32_t i = 0; i < count; i++)
        options.streams[i] = (struct worker_stream){streams[i].ops, streams[i].count};
    options.stream_count = count;
    options.classes = classes;
    options.class_count = COUNT(classes);
    options.slot_count = OPS_MAX;
    worker_run(&options);
    assert_true(WIFEXITED(options.wait_status));
    assert_int_equal(WEXITSTATUS(options.wait_status), 0);
    return options;
}

/* Two threads swap turns; each sample must see all that stands before it in lockstep order. */
static void lockstep_follows_the_turns(void **state)
{
    (void)state;
    start_over();
    mark(0, FB_OP_PHASE_BEGIN, 0, 0);
    mark(0, FB_OP_THREAD_START, 1, 0);
    mark(0, FB_OP_THREAD_START, 2, 0);
    mark(0, FB_OP_TURN, 1, 0);
    uint64_t live = 0;
    static uint64_t expected[400];
    for (uint32_t i = 0; i < 400; i++) {
        size_t stream = 1 + i % 2;
        alloc(stream, i, OWN, 1000 + i);
        live += 1000 + i;
        expected[i] = live;
        mark(stream, FB_OP_SAMPLE, 0, 0);
        mark(stream, FB_OP_TURN, i + 1 < 400 ? 3 - stream : 0, 0);
    }
    mark(2, FB_OP_END, 0, 0);
    mark(1, FB_OP_END, 0, 0);
    mark(0, FB_OP_THREAD_JOIN, 1, 0);
    mark(0, FB_OP_THREAD_JOIN, 2, 0);
    mark(0, FB_OP_SAMPLE, 0, 0);
    mark(0, FB_OP_PHASE_END, 0, 0);
    mark(0, FB_OP_END, 0, 0);
    struct worker_run run = run_streams(3, (struct worker_run){0});
    assert_int_equal(run.shared->end, FB_WORKER_DONE);
    assert_int_equal(run.shared->ops_done, 400);
    assert_int_equal(run.shared->sample_used, 401);
    for (size_t i = 0; i < 400; i++) {
        assert_int_equal(run.samples[i].live_bytes, expected[i]);
        if (i > 0)
            assert_true(run.samples[i].t_ns > run.samples[i - 1].t_ns);
    }
    assert_int_equal(run.samples[400].live_bytes, live);
    worker_run_deinit(&run);
}

/* A producer and a consumer that only frees; in free order the consumer is usually ahead. */
static void make_pipeline(uint32_t objects)
{
    start_over();
    mark(0, FB_OP_PHASE_BEGIN, 0, 0);
    mark(0, FB_OP_THREAD_START, 2, 0);
    mark(0, FB_OP_THREAD_START, 1, 0);
    mark(0, FB_OP_TURN, 1, 0);
    for (uint32_t i = 0; i < objects; i++) {
        alloc(1, i, SHARED, 64 + i % 1000);
        release(2, i, SHARED, FB_OP_FLAG_FOREIGN);
        if (i % 50 == 49) {
            mark(1, FB_OP_TURN, 2, 0);
            mark(2, FB_OP_TURN, 1, 0);
        }
    }
    mark(1, FB_OP_PARK, 0, 0);
    mark(1, FB_OP_TURN, 2, 0);
    mark(1, FB_OP_END, 0, 0);
    mark(2, FB_OP_PARK, 0, 0);
    mark(2, FB_OP_TURN, 0, 0);
    mark(2, FB_OP_END, 0, 0);
    mark(0, FB_OP_AWAIT, 1, 0);
    mark(0, FB_OP_AWAIT, 2, 0);
    mark(0, FB_OP_SAMPLE, 0, 0);
    mark(0, FB_OP_RESUME, 1, 0);
    mark(0, FB_OP_RESUME, 2, 0);
    mark(0, FB_OP_THREAD_JOIN, 1, 0);
    mark(0, FB_OP_THREAD_JOIN, 2, 0);
    mark(0, FB_OP_PHASE_END, 0, 0);
    mark(0, FB_OP_END, 0, 0);
}

static void foreign_frees_end_with_nothing_live_in_both_orders(void **state)
{
    (void)state;
    make_pipeline(20000);
    for (uint32_t order = FB_ORDER_LOCKSTEP; order <= FB_ORDER_FREE; order++)
        for (uint32_t flags = 0; flags <= FB_RUN_VERIFY; flags++) {
            struct worker_run run =
                run_streams(3, (struct worker_run){.order = order, .flags = flags});
            assert_int_equal(run.shared->end, FB_WORKER_DONE);
            assert_int_equal(run.shared->ops_done, 40000);
            assert_int_equal(run.samples[0].live_bytes, 0);
            assert_int_equal(run.samples[0].touched_bytes, 0);
            worker_run_deinit(&run);
        }
}

static void no_wake_up_is_lost_over_many_runs(void **state)
{
    (void)state;
    make_pipeline(500);
    for (int i = 0; i < 200; i++) {
        struct worker_run run = run_streams(3, (struct worker_run){.mode = FB_MODE_TIMING});
        assert_int_equal(run.shared->end, FB_WORKER_DONE);
        worker_run_deinit(&run);
    }
}

static void a_refused_object_does_not_keep_its_freer_waiting(void **state)
{
    (void)state;
    make_pipeline(200);
    for (size_t i = 0; i < streams[1].count; i++)
        if (streams[1].ops[i].kind == FB_OP_ALLOC && streams[1].ops[i].slot == 100)
            streams[1].ops[i].arg = UINT64_C(1) << 46;
    for (uint32_t order = FB_ORDER_LOCKSTEP; order <= FB_ORDER_FREE; order++) {
        struct worker_run run = run_streams(3, (struct worker_run){.order = order});
        assert_int_equal(run.shared->end, FB_WORKER_DONE);
        assert_int_equal(run.shared->refused_calls, 1);
        assert_int_equal(run.shared->skipped_calls, 99); /* the stream has no iterations */
        assert_int_equal(run.samples[0].live_bytes, 0);
        worker_run_deinit(&run);
    }
}

/* Threads that live for one turn, one after the other, on the same place. */
static void churned_threads_reuse_stacks_and_repeat_exactly(void **state)
{
    (void)state;
    start_over();
    mark(0, FB_OP_PHASE_BEGIN, 0, 0);
    for (uint32_t i = 1; i < 8; i++) {
        mark(0, FB_OP_THREAD_START, i, 0);
        mark(0, FB_OP_TURN, i, 0);
        for (uint32_t k = 0; k < 100; k++)
            alloc(i, i * 200 + k, OWN, 5000);
        for (uint32_t k = 1; k < 100; k++)
            release(i, i * 200 + k, OWN, 0);
        mark(i, FB_OP_TURN, 0, 0);
        mark(i, FB_OP_END, 0, 0);
        mark(0, FB_OP_THREAD_JOIN, i, 0);
        mark(0, FB_OP_SAMPLE, 0, 0);
    }
    mark(0, FB_OP_PHASE_END, 0, 0);
    mark(0, FB_OP_END, 0, 0);
    uint64_t first[7];
    for (int round = 0; round < 3; round++) {
        struct worker_run run = run_streams(8, (struct worker_run){.thread_peak = 2});
        assert_int_equal(run.shared->end, FB_WORKER_DONE);
        assert_int_equal(run.samples[6].live_bytes, 7 * 5000);
        for (size_t i = 0; i < 7; i++) {
            if (round == 0)
                first[i] = run.samples[i].footprint_bytes;
            assert_in_range(run.samples[i].footprint_bytes, first[i] - 65536, first[i] + 65536);
        }
        worker_run_deinit(&run);
    }
}

static void stacks_do_not_count_as_the_allocators(void **state)
{
    (void)state;
    start_over();
    mark(0, FB_OP_PHASE_BEGIN, 0, 0);
    mark(0, FB_OP_SAMPLE, 0, 0);
    for (uint32_t i = 1; i < 8; i++)
        mark(0, FB_OP_THREAD_START, i, 0);
    mark(0, FB_OP_SAMPLE, 0, 0);
    for (uint32_t i = 1; i < 8; i++) {
        mark(i, FB_OP_END, 0, 0);
        mark(0, FB_OP_THREAD_JOIN, i, 0);
    }
    mark(0, FB_OP_PHASE_END, 0, 0);
    mark(0, FB_OP_END, 0, 0);
    struct worker_run run = run_streams(8, (struct worker_run){.flags = FB_RUN_NULL});
    uint64_t grown = run.samples[1].footprint_bytes - run.samples[0].footprint_bytes;
    assert_in_range(grown, 0,
                    200 * 1024); /* pthread_create's first bookkeeping by glibc's malloc */
    worker_run_deinit(&run);
}

static void strict_turns_hold_in_free_order(void **state)
{
    (void)state;
    start_over();
    mark(0, FB_OP_PHASE_BEGIN, 0, 0);
    mark(0, FB_OP_THREAD_START, 1, 0);
    mark(0, FB_OP_THREAD_START, 2, 0);
    mark(0, FB_OP_TURN, 1, FB_OP_FLAG_STRICT);
    for (uint32_t i = 0; i < 200; i++) {
        size_t stream = 1 + i % 2;
        alloc(stream, i % 2, OWN, 4096);
        release(stream, i % 2, OWN, 0);
        mark(stream, FB_OP_SAMPLE, 0, 0);
        if (i >= 198)
            mark(stream, FB_OP_PARK, 0, 0);
        mark(stream, FB_OP_TURN, i + 1 < 200 ? 3 - stream : 0, FB_OP_FLAG_STRICT);
    }
    for (size_t stream = 1; stream <= 2; stream++) {
        mark(0, FB_OP_AWAIT, stream, 0);
        mark(0, FB_OP_RESUME, stream, 0);
        mark(0, FB_OP_TURN, stream, FB_OP_FLAG_STRICT);
        alloc(stream, 5, OWN, 64);
        release(stream, 5, OWN, 0);
        mark(stream, FB_OP_TURN, 0, FB_OP_FLAG_STRICT);
        mark(stream, FB_OP_END, 0, 0);
    }
    mark(0, FB_OP_THREAD_JOIN, 1, 0);
    mark(0, FB_OP_THREAD_JOIN, 2, 0);
    mark(0, FB_OP_PHASE_END, 0, 0);
    mark(0, FB_OP_END, 0, 0);
    struct worker_run run = run_streams(3, (struct worker_run){.order = FB_ORDER_FREE});
    assert_int_equal(run.shared->end, FB_WORKER_DONE);
    assert_int_equal(run.shared->sample_used, 200);
    for (size_t i = 0; i < 200; i++)
        assert_int_equal(run.samples[i].live_bytes, 0); /* nobody else was in the middle */
    worker_run_deinit(&run);
}

static void holds_of_two_threads_overlap(void **state)
{
    (void)state;
    start_over();
    mark(0, FB_OP_PHASE_BEGIN, 0, 0);
    mark(0, FB_OP_THREAD_START, 1, 0);
    mark(0, FB_OP_THREAD_START, 2, 0);
    mark(0, FB_OP_TURN, 1, 0);
    mark(1, FB_OP_HOLD, 0, 0);
    mark(1, FB_OP_TURN, 2, 0);
    alloc(2, 0, OWN, 8);
    mark(2, FB_OP_HOLD, 0, 0);
    mark(2, FB_OP_TURN, 1, 0);
    mark(1, FB_OP_SLEEP, 1000000, FB_OP_FLAG_SINCE_HOLD);
    mark(1, FB_OP_SAMPLE, 0, 0);
    mark(1, FB_OP_TURN, 2, 0);
    mark(2, FB_OP_SLEEP, 1000000, FB_OP_FLAG_SINCE_HOLD);
    mark(2, FB_OP_SAMPLE, 0, 0);
    mark(2, FB_OP_TURN, 0, 0);
    mark(1, FB_OP_END, 0, 0);
    mark(2, FB_OP_END, 0, 0);
    mark(0, FB_OP_THREAD_JOIN, 1, 0);
    mark(0, FB_OP_THREAD_JOIN, 2, 0);
    mark(0, FB_OP_PHASE_END, 0, 0);
    mark(0, FB_OP_END, 0, 0);
    struct worker_run run = run_streams(3, (struct worker_run){0});
    assert_int_equal(run.samples[0].t_ns, 1000000);
    assert_int_equal(run.samples[1].t_ns, 1000000 + 100 + 1); /* 8 touched bytes take 1 ns */
    worker_run_deinit(&run);
}

static void scopes_reach_an_allocator_that_knows_them(void **state)
{
    (void)state;
    start_over();
    mark(0, FB_OP_PHASE_BEGIN, 0, 0);
    mark(0, FB_OP_SCOPE_BEGIN, 0, 0);
    for (uint32_t i = 0; i < 10; i++)
        put(0,
            (struct fb_op){.kind = FB_OP_ALLOC, .flags = FB_OP_FLAG_SCOPE, .slot = i, .arg = 100});
    mark(0, FB_OP_SAMPLE, 0, 0);
    for (uint32_t i = 0; i < 10; i++)
        release(0, i, OWN, FB_OP_FLAG_SCOPE);
    mark(0, FB_OP_SCOPE_END, 0, 0);
    mark(0, FB_OP_SAMPLE, 0, 0);
    mark(0, FB_OP_PHASE_END, 0, 0);
    mark(0, FB_OP_END, 0, 0);
    for (int knows = 0; knows <= 1; knows++) {
        struct worker_run run =
            run_streams(1, (struct worker_run){.allocator = knows ? FB_ROOM_LIBRARY : NULL});
        assert_int_equal(run.shared->end, FB_WORKER_DONE);
        assert_int_equal(run.samples[0].live_bytes, 1000);
        assert_int_equal(run.samples[1].live_bytes, 0);
        assert_int_equal(run.shared->ops_done, 20);
        worker_run_deinit(&run);
    }
}

/* FB_RACE_CHECK: against a worker built with ThreadSanitizer, which ends with code 66 at a race. It
 * has an allocator of its own, so what needs another is left out. */
int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lockstep_follows_the_turns),
        cmocka_unit_test(foreign_frees_end_with_nothing_live_in_both_orders),
        cmocka_unit_test(no_wake_up_is_lost_over_many_runs),
        cmocka_unit_test(strict_turns_hold_in_free_order),
        cmocka_unit_test(holds_of_two_threads_overlap),
#ifndef FB_RACE_CHECK
        cmocka_unit_test(a_refused_object_does_not_keep_its_freer_waiting),
        cmocka_unit_test(churned_threads_reuse_stacks_and_repeat_exactly),
        cmocka_unit_test(stacks_do_not_count_as_the_allocators),
        cmocka_unit_test(scopes_reach_an_allocator_that_knows_them),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
