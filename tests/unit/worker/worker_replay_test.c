/* The worker alone: what a list of ops does to footprint, live bytes, clock and outcome. */
#include "worker_run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define MIB (UINT64_C(1) << 20)
#define COUNT(array) (sizeof(array) / sizeof *(array))
#define JEMALLOC "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2"
#define MIMALLOC "/usr/lib/x86_64-linux-gnu/libmimalloc.so.2"

static const struct fb_trace_class classes[] = {
    {.name = "touched", .touch = FB_TOUCH_PAGES},
    {.name = "untouched", .touch = FB_TOUCH_NONE},
    {.name = "half", .touch = FB_TOUCH_SHARE, .touch_share = UINT64_C(1) << 31},
    {.name = "aligned", .call = FB_CALL_ALIGNED, .align = 4096, .touch = FB_TOUCH_ALL},
};
enum { TOUCHED, UNTOUCHED, HALF, ALIGNED };

static struct fb_op alloc(uint32_t slot, uint16_t class_index, uint64_t size)
{
    return (struct fb_op){
        .kind = FB_OP_ALLOC, .slot = slot, .class_index = class_index, .arg = size};
}

static struct fb_op release(uint32_t slot, uint16_t class_index)
{
    return (struct fb_op){.kind = FB_OP_FREE, .slot = slot, .class_index = class_index};
}

static struct fb_op mark(enum fb_op_kind kind, uint64_t arg)
{
    return (struct fb_op){.kind = (uint8_t)kind, .arg = arg};
}

static struct worker_run run_ops(const struct fb_op *ops, size_t count, struct worker_run options)
{
    options.streams[0] = (struct worker_stream){ops, count};
    options.stream_count = 1;
    options.classes = classes;
    options.class_count = COUNT(classes);
    options.slot_count = 16;
    worker_run(&options);
    assert_true(WIFEXITED(options.wait_status));
    assert_int_equal(WEXITSTATUS(options.wait_status), 0);
    return options;
}

static void require(const char *library)
{
    if (access(library, R_OK) != 0)
        skip();
}

static void footprint_follows_touched_pages_and_live_bytes_follow_requests(void **state)
{
    (void)state;
    const struct fb_op ops[] = {
        mark(FB_OP_PHASE_BEGIN, 0), mark(FB_OP_SAMPLE, 0),         alloc(0, TOUCHED, 64 * MIB),
        mark(FB_OP_SAMPLE, 0),      alloc(1, UNTOUCHED, 64 * MIB), mark(FB_OP_SAMPLE, 0),
        alloc(2, HALF, 64 * MIB),   mark(FB_OP_SAMPLE, 0),         release(0, TOUCHED),
        mark(FB_OP_SAMPLE, 0),      mark(FB_OP_PHASE_END, 0),      mark(FB_OP_END, 0)};
    struct worker_run run = run_ops(ops, COUNT(ops), (struct worker_run){0});
    assert_int_equal(run.shared->end, FB_WORKER_DONE);
    assert_int_equal(run.shared->ops_done, 4);
    const struct fb_sample *at = run.samples;
    assert_in_range(at[1].footprint_bytes - at[0].footprint_bytes, 64 * MIB, 64 * MIB + 65536);
    assert_in_range(at[2].footprint_bytes - at[1].footprint_bytes, 0, 65536);
    assert_in_range(at[3].footprint_bytes - at[2].footprint_bytes, 32 * MIB, 32 * MIB + 65536);
    assert_in_range(at[3].footprint_bytes - at[4].footprint_bytes, 64 * MIB - 65536,
                    64 * MIB + 65536);
    assert_int_equal(at[3].live_bytes, 192 * MIB);
    assert_int_equal(at[3].touched_bytes, 96 * MIB);
    assert_int_equal(at[4].live_bytes, 128 * MIB);
    assert_int_equal(at[4].volume_bytes, 192 * MIB);
    worker_run_deinit(&run);
}

static void under_null_nothing_is_allocated(void **state)
{
    (void)state;
    const struct fb_op ops[] = {mark(FB_OP_PHASE_BEGIN, 0),  mark(FB_OP_SAMPLE, 0),
                                alloc(0, TOUCHED, 64 * MIB), mark(FB_OP_SAMPLE, 0),
                                release(0, TOUCHED),         mark(FB_OP_HEARTBEAT, 0),
                                mark(FB_OP_PURGE, 0),        mark(FB_OP_SAMPLE, 0),
                                mark(FB_OP_PHASE_END, 0),    mark(FB_OP_END, 0)};
    struct worker_run run = run_ops(ops, COUNT(ops), (struct worker_run){.flags = FB_RUN_NULL});
    assert_int_equal(run.samples[1].live_bytes, 64 * MIB);
    assert_in_range(run.samples[1].footprint_bytes, 1, 300 * 1024);
    assert_in_range(run.samples[2].footprint_bytes - run.samples[0].footprint_bytes, 0, 65536);
    worker_run_deinit(&run);
}

static void virtual_time_is_the_cost_model_and_the_pauses(void **state)
{
    (void)state;
    const struct fb_op ops[] = {mark(FB_OP_PHASE_BEGIN, 0), alloc(0, TOUCHED, 8 * MIB),
                                mark(FB_OP_SAMPLE, 0),      mark(FB_OP_PACE, 600 * 1000 * 1000),
                                mark(FB_OP_SAMPLE, 0),      release(0, TOUCHED),
                                mark(FB_OP_SLEEP, 1000),    mark(FB_OP_PACE, 5),
                                mark(FB_OP_SAMPLE, 0),      mark(FB_OP_PHASE_END, 0),
                                mark(FB_OP_END, 0)};
    struct worker_run run = run_ops(ops, COUNT(ops), (struct worker_run){0});
    assert_int_equal(run.samples[0].t_ns, 100 + 8 * MIB * 1000 / 8000);
    assert_int_equal(run.samples[1].t_ns, 600 * 1000 * 1000);
    assert_int_equal(run.samples[2].t_ns, 600 * 1000 * 1000 + 100 + 1000);
    assert_in_range(run.shared->wall_ns, 1, UINT64_C(500) * 1000 * 1000); /* no real pause */
    worker_run_deinit(&run);
}

static void real_clock_pauses_for_real(void **state)
{
    (void)state;
    const struct fb_op ops[] = {mark(FB_OP_PHASE_BEGIN, 0), mark(FB_OP_SLEEP, 50 * 1000 * 1000),
                                mark(FB_OP_SAMPLE, 0), mark(FB_OP_PHASE_END, 0),
                                mark(FB_OP_END, 0)};
    struct worker_run run =
        run_ops(ops, COUNT(ops), (struct worker_run){.clock_mode = FB_CLOCK_REAL});
    assert_true(run.samples[0].t_ns >= 50 * 1000 * 1000);
    assert_int_equal(run.shared->clock_calls, 0);
    worker_run_deinit(&run);
}

static void a_refusal_skips_the_rest_of_its_iteration_and_is_counted(void **state)
{
    (void)state;
    const uint64_t impossible = UINT64_C(1) << 46;
    const struct fb_op ops[] = {mark(FB_OP_PHASE_BEGIN, 0), mark(FB_OP_ITERATION, 0),
                                alloc(0, TOUCHED, 4096),    alloc(1, TOUCHED, impossible),
                                alloc(2, TOUCHED, 4096),    release(0, TOUCHED),
                                release(1, TOUCHED),        release(2, TOUCHED),
                                mark(FB_OP_ITERATION, 1),   alloc(3, TOUCHED, 8192),
                                mark(FB_OP_SAMPLE, 0),      mark(FB_OP_PHASE_END, 0),
                                mark(FB_OP_END, 0)};
    struct worker_run run = run_ops(ops, COUNT(ops), (struct worker_run){0});
    assert_int_equal(run.shared->end, FB_WORKER_DONE);
    assert_int_equal(run.shared->refused_calls, 1);
    assert_int_equal(run.shared->refused_bytes, impossible);
    assert_int_equal(run.shared->skipped_calls, 1);
    assert_int_equal(run.shared->degraded_iterations, 1);
    assert_int_equal(run.samples[0].live_bytes, 8192);
    worker_run_deinit(&run);

    run = run_ops(ops, COUNT(ops), (struct worker_run){.fail_on_refusal = 1});
    assert_int_equal(run.shared->end, FB_WORKER_REFUSED);
    assert_int_equal(run.shared->fault_op, 3);
    worker_run_deinit(&run);
}

static void verify_finds_a_block_that_was_handed_out_twice(void **state)
{
    (void)state;
    const struct fb_op ops[] = {mark(FB_OP_PHASE_BEGIN, 0), alloc(0, TOUCHED, 5000),
                                alloc(1, TOUCHED, 5000),    release(0, TOUCHED),
                                release(1, TOUCHED),        mark(FB_OP_PHASE_END, 0),
                                mark(FB_OP_END, 0)};
    struct worker_run options = {.flags = FB_RUN_VERIFY, .allocator = FB_OVERLAP_LIBRARY};
    struct worker_run run = run_ops(ops, COUNT(ops), options);
    assert_int_equal(run.shared->end, FB_WORKER_CORRUPTED);
    assert_int_equal(run.shared->fault_op, 3);
    assert_int_equal(run.shared->fault_slot, 0);
    worker_run_deinit(&run);

    run = run_ops(ops, COUNT(ops), (struct worker_run){.flags = FB_RUN_VERIFY});
    assert_int_equal(run.shared->end, FB_WORKER_DONE);
    worker_run_deinit(&run);
}

static void verify_follows_content_through_growth(void **state)
{
    (void)state;
    struct fb_op ops[40];
    size_t count = 0;
    ops[count++] = mark(FB_OP_PHASE_BEGIN, 0);
    ops[count++] = alloc(0, TOUCHED, 5);
    ops[count++] = alloc(1, HALF, 30000);
    for (uint64_t size = 7; size < 3 * MIB; size *= 3) {
        struct fb_op grow = alloc(0, TOUCHED, size);
        grow.kind = FB_OP_REALLOC;
        ops[count++] = grow;
        grow = alloc(1, HALF, size + 20000);
        grow.kind = FB_OP_REALLOC;
        ops[count++] = grow;
    }
    ops[count++] = mark(FB_OP_SAMPLE, 0);
    ops[count++] = release(0, TOUCHED);
    ops[count++] = release(1, HALF);
    ops[count++] = mark(FB_OP_SAMPLE, 0);
    ops[count++] = mark(FB_OP_PHASE_END, 0);
    ops[count++] = mark(FB_OP_END, 0);
    struct worker_run run = run_ops(ops, count, (struct worker_run){.flags = FB_RUN_VERIFY});
    assert_int_equal(run.shared->end, FB_WORKER_DONE);
    assert_int_equal(run.samples[1].live_bytes, 0);
    assert_int_equal(run.samples[1].touched_bytes, 0);
    worker_run_deinit(&run);
}

static void the_answering_library_is_named_and_tunables_are_read_back(void **state)
{
    (void)state;
    require(JEMALLOC);
    const struct fb_op ops[] = {mark(FB_OP_PHASE_BEGIN, 0), mark(FB_OP_PHASE_END, 0),
                                mark(FB_OP_END, 0)};
    struct worker_run options = {
        .allocator = JEMALLOC,
        .environment = "MALLOC_CONF=dirty_decay_ms:123,narenas:3,metadata_thp:auto",
        .readback_keys = "dirty_decay_ms\nnarenas\nmetadata_thp\nbackground_thread\nno_such"};
    struct worker_run run = run_ops(ops, COUNT(ops), options);
    assert_string_equal(run.shared->malloc_owner, JEMALLOC);
    assert_string_equal(run.shared->free_owner, JEMALLOC);
    assert_int_equal(run.shared->purge_used, FB_PURGE_JEMALLOC);
    assert_string_equal(run.shared->readback, "dirty_decay_ms=123\nnarenas=3\nmetadata_thp=auto\n"
                                              "background_thread=false\nno_such=!missing\n");
    worker_run_deinit(&run);

    run = run_ops(ops, COUNT(ops), (struct worker_run){0});
    assert_non_null(strstr(run.shared->malloc_owner, "libc.so"));
    assert_int_equal(run.shared->purge_used, FB_PURGE_GLIBC);
    worker_run_deinit(&run);
}

static void allocators_read_the_virtual_clock_and_see_pauses(void **state)
{
    (void)state;
    require(JEMALLOC);
    const struct fb_op ops[] = {mark(FB_OP_PHASE_BEGIN, 0),
                                alloc(0, TOUCHED, 6 * MIB),
                                release(0, TOUCHED),
                                mark(FB_OP_SAMPLE, 0),
                                mark(FB_OP_HEARTBEAT, 0),
                                mark(FB_OP_SAMPLE, 0),
                                mark(FB_OP_SLEEP, UINT64_C(30) * 1000 * 1000 * 1000),
                                alloc(1, TOUCHED, 6 * MIB),
                                release(1, TOUCHED),
                                mark(FB_OP_SAMPLE, 0),
                                mark(FB_OP_PURGE, 0),
                                mark(FB_OP_SAMPLE, 0),
                                mark(FB_OP_PHASE_END, 0),
                                mark(FB_OP_END, 0)};
    struct worker_run run = run_ops(ops, COUNT(ops), (struct worker_run){.allocator = JEMALLOC});
    assert_true(run.shared->clock_calls > 0);
    assert_true(run.samples[0].footprint_bytes > 6 * MIB);
    assert_true(run.samples[3].footprint_bytes < 2 * MIB);
    worker_run_deinit(&run);
}

static void same_trace_gives_same_samples(void **state)
{
    (void)state;
    static const char *const libraries[] = {NULL, JEMALLOC, MIMALLOC};
    struct fb_op ops[400];
    for (size_t which = 0; which < COUNT(libraries); which++) {
        size_t count = 0;
        ops[count++] = mark(FB_OP_PHASE_BEGIN, 0);
        for (uint64_t i = 0; i < 120; i++) {
            uint32_t slot = (uint32_t)(i % 8);
            if (i >= 8)
                ops[count++] = release(slot, TOUCHED);
            ops[count++] = alloc(slot, TOUCHED, (i * 7919 % 300 + 1) * 4096);
            ops[count++] = mark(FB_OP_SAMPLE, 0);
        }
        ops[count++] = mark(FB_OP_PHASE_END, 0);
        ops[count++] = mark(FB_OP_END, 0);
        if (libraries[which] != NULL && access(libraries[which], R_OK) != 0)
            continue;
        struct worker_run options = {.allocator = libraries[which]};
        struct worker_run first = run_ops(ops, count, options);
        struct worker_run second = run_ops(ops, count, options);
        assert_int_equal(first.shared->sample_used, 120);
        /* Without a fixed layout (the harness's business) only live bytes must agree here. */
        for (size_t i = 0; i < 120; i++) {
            assert_int_equal(first.samples[i].live_bytes, second.samples[i].live_bytes);
            assert_int_equal(first.samples[i].t_ns, second.samples[i].t_ns);
        }
        worker_run_deinit(&first);
        worker_run_deinit(&second);
    }
}

static void timing_skips_pauses_samples_and_tail_and_fills_the_histogram(void **state)
{
    (void)state;
    static struct fb_op ops[20010];
    size_t count = 0;
    ops[count++] = mark(FB_OP_PHASE_BEGIN, 0);
    for (size_t i = 0; i < 10000; i++) {
        ops[count++] = alloc(0, TOUCHED, 64);
        ops[count++] = release(0, TOUCHED);
    }
    ops[count++] = mark(FB_OP_SLEEP, UINT64_C(100) * 1000 * 1000 * 1000);
    ops[count++] = mark(FB_OP_SAMPLE, 0);
    ops[count++] = mark(FB_OP_PHASE_END, 0);
    ops[count++] = mark(FB_OP_SLEEP, 1);
    ops[count++] = mark(FB_OP_END, 0);
    struct worker_run run = run_ops(ops, count, (struct worker_run){.mode = FB_MODE_TIMING});
    assert_int_equal(run.shared->end, FB_WORKER_DONE);
    assert_int_equal(run.shared->sample_used, 0);
    assert_int_equal(run.shared->ops_done, 20000);
    assert_true(run.shared->wall_ns > 0 && run.shared->wall_ns < UINT64_C(10000000000));
    assert_int_equal(run.shared->op_index, count - 3);
    uint64_t timed[2] = {0, 0};
    for (size_t i = 0; i < 2 * FB_LATENCY_BUCKETS; i++)
        timed[i / FB_LATENCY_BUCKETS] += run.latency[i];
    assert_in_range(timed[0] + timed[1], 500, 800); /* every 32nd of 20,000 */
    assert_in_range(timed[0], 200, 450);
    worker_run_deinit(&run);
}

static void checkpoints_ring_with_usable_bytes(void **state)
{
    (void)state;
    struct fb_op peak = mark(FB_OP_CHECKPOINT, 0);
    peak.flags = FB_CHECKPOINT_PEAK_LIVE;
    const struct fb_op ops[] = {mark(FB_OP_PHASE_BEGIN, 0), alloc(0, ALIGNED, 10000),
                                alloc(1, TOUCHED, 20),      peak,
                                mark(FB_OP_PHASE_END, 0),   mark(FB_OP_END, 0)};
    struct worker_run run = run_ops(ops, COUNT(ops), (struct worker_run){0});
    assert_int_equal(run.bell_count, 3);
    assert_int_equal(run.bells[0].kind, FB_BELL_READY);
    assert_int_equal(run.bells[1].kind, FB_BELL_CHECKPOINT);
    assert_int_equal(run.bells[1].checkpoint, FB_CHECKPOINT_PEAK_LIVE);
    assert_int_equal(run.bells[1].sample, 0);
    assert_in_range(run.bells[1].usable_bytes, 10020, 10020 + 4096);
    assert_int_equal(run.bells[2].kind, FB_BELL_END);
    worker_run_deinit(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(footprint_follows_touched_pages_and_live_bytes_follow_requests),
        cmocka_unit_test(under_null_nothing_is_allocated),
        cmocka_unit_test(virtual_time_is_the_cost_model_and_the_pauses),
        cmocka_unit_test(real_clock_pauses_for_real),
        cmocka_unit_test(a_refusal_skips_the_rest_of_its_iteration_and_is_counted),
        cmocka_unit_test(verify_finds_a_block_that_was_handed_out_twice),
        cmocka_unit_test(verify_follows_content_through_growth),
        cmocka_unit_test(the_answering_library_is_named_and_tunables_are_read_back),
        cmocka_unit_test(allocators_read_the_virtual_clock_and_see_pauses),
        cmocka_unit_test(same_trace_gives_same_samples),
        cmocka_unit_test(timing_skips_pauses_samples_and_tail_and_fills_the_histogram),
        cmocka_unit_test(checkpoints_ring_with_usable_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
