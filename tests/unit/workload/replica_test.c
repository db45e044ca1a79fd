/* Recordings in the place of workloads: what the trace does is what was recorded. */
#include "workload/replica.h"

#include "compiled.h"
#include "free_order.h"
#include "lockstep.h"

#include "base/alloc.h"
#include "base/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

struct taped {
    struct fb_recording_writer *writer;
    int fd;
};

static struct taped begin_tape(void)
{
    struct taped taped = {.fd = memfd_create("recording", MFD_CLOEXEC)};
    struct fb_error err = {0};
    assert_int_equal(fb_recording_writer_open(&taped.writer, taped.fd, &err), 0);
    return taped;
}

/* Closes the recording and loads it as a workload. */
static struct fb_workload *end_tape(struct taped *taped)
{
    const struct fb_recording_totals totals = {0};
    struct fb_diagnostics diagnostics;
    struct fb_workload *workload = NULL;
    struct fb_error err = {0};
    assert_int_equal(fb_recording_writer_close(taped->writer, &totals, &err), 0);
    char *path = fb_format("/proc/self/fd/%d", taped->fd);
    fb_diagnostics_init(&diagnostics);
    if (fb_workload_load(path, NULL, 0, &workload, &diagnostics) != 0)
        fail_msg("%s", diagnostics.items[0].text);
    fb_diagnostics_deinit(&diagnostics);
    free(path);
    assert_int_equal(close(taped->fd), 0);
    return workload;
}

/* Compiles the tape and compares its phase, written with short class names. */
static void expect_tape(struct taped *taped, const char *expected)
{
    struct fb_workload *workload = end_tape(taped);
    for (size_t i = 0; i < workload->replica->class_count; i++)
        (void)snprintf(workload->replica->classes[i].name, FB_NAME_MAX, "%c", (char)('a' + i));
    struct compiled compiled = compile(workload, 0);
    char *text = ops_as_text(&compiled.trace);
    assert_string_equal(text, expected);
    free(text);
    compiled_free(&compiled);
    fb_workload_free(workload);
}

static void births_and_frees_of_one_thread_keep_their_order(void **state)
{
    (void)state;
    struct taped taped = begin_tape();
    uint64_t first = fb_recording_writer_birth(taped.writer, FB_RECORDING_MALLOC, 100, 0);
    uint64_t second = fb_recording_writer_birth(taped.writer, FB_RECORDING_MALLOC, 0, 0);
    fb_recording_writer_free(taped.writer, first);
    (void)fb_recording_writer_birth(taped.writer, FB_RECORDING_CALLOC, 120, 0);
    fb_recording_writer_free(taped.writer, second);
    expect_tape(&taped, "<0 i0 +a0:100 +b1:1 -a0 +c0:120 -b1 >0");
}

static void a_chain_of_reallocs_stays_one_object(void **state)
{
    (void)state;
    struct taped taped = begin_tape();
    uint64_t object = fb_recording_writer_birth(taped.writer, FB_RECORDING_REALLOC_NEW, 100, 0);
    fb_recording_writer_realloc(taped.writer, object, 5000);
    fb_recording_writer_realloc(taped.writer, object, 40);
    fb_recording_writer_realloc(taped.writer, object, 70);
    fb_recording_writer_free(taped.writer, object);
    struct fb_workload *workload = end_tape(&taped);
    struct compiled compiled = compile(workload, 0);
    const struct fb_trace_header *header = compiled.trace.header;
    assert_int_equal(header->realloc_calls, 3);
    assert_int_equal(header->peak_live_bytes, 5000);
    assert_int_equal(header->end_live_bytes, 0);
    assert_int_equal(header->allocated_bytes, 5030); /* what it shrank is not taken off */
    assert_int_equal(header->slot_count, 1);
    compiled_free(&compiled);
    fb_workload_free(workload);
}

static void a_free_by_another_thread_waits_for_the_object(void **state)
{
    (void)state;
    struct taped taped = begin_tape();
    uint64_t given = fb_recording_writer_birth(taped.writer, FB_RECORDING_MALLOC, 100, 0);
    uint64_t own = fb_recording_writer_birth(taped.writer, FB_RECORDING_MALLOC, 1000, 0);
    fb_recording_writer_at(taped.writer, 7, 0);
    fb_recording_writer_free(taped.writer, given);
    fb_recording_writer_exit(taped.writer);
    fb_recording_writer_at(taped.writer, 0, 0);
    fb_recording_writer_free(taped.writer, own);
    expect_tape(&taped, "<0 i0 +a0:100 +b1:1000 start1 @1 i0 -a0* @0 join1 end -b1 >0");
}

/* The object lives on as another one, in a slot of its own. */
static void a_realloc_of_a_shared_object_is_a_free_and_a_birth(void **state)
{
    (void)state;
    struct taped taped = begin_tape();
    uint64_t object = fb_recording_writer_birth(taped.writer, FB_RECORDING_MALLOC, 100, 0);
    fb_recording_writer_at(taped.writer, 1, 0);
    fb_recording_writer_realloc(taped.writer, object, 200);
    fb_recording_writer_at(taped.writer, 0, 0);
    fb_recording_writer_free(taped.writer, object);
    fb_recording_writer_at(taped.writer, 1, 0);
    fb_recording_writer_exit(taped.writer);
    expect_tape(&taped, "<0 i0 +a0:100 start1 @1 i0 -a0* +a1:200 @0 -a1* @1 @0 join1 end >0");
}

static void a_thread_without_an_end_lives_through_the_tail(void **state)
{
    (void)state;
    struct taped taped = begin_tape();
    fb_recording_writer_at(taped.writer, 1, 0);
    (void)fb_recording_writer_birth(taped.writer, FB_RECORDING_MALLOC, 100, 0);
    struct fb_workload *workload = end_tape(&taped);
    struct compiled compiled = compile(workload, 0);
    char *text = ops_as_text(&compiled.trace);
    char *tail = tail_as_text(&compiled.trace);
    assert_string_equal(text, "<0 start1 @1 i0 +malloc to 256 B0:100 park @0 await1 >0");
    assert_non_null(strstr(tail, "-malloc to 256 B0"));
    assert_non_null(strstr(tail, "resume1"));
    assert_non_null(strstr(tail, "join1 end"));
    free(text);
    free(tail);
    compiled_free(&compiled);
    fb_workload_free(workload);
}

static void recorded_pauses_are_paces(void **state)
{
    (void)state;
    struct taped taped = begin_tape();
    (void)fb_recording_writer_birth(taped.writer, FB_RECORDING_MALLOC, 100, 0);
    fb_recording_writer_at(taped.writer, 0, 300000000);
    (void)fb_recording_writer_birth(taped.writer, FB_RECORDING_MALLOC, 100, 0);
    fb_recording_writer_at(taped.writer, 0, 300500000); /* less than is worth a pace */
    (void)fb_recording_writer_birth(taped.writer, FB_RECORDING_MALLOC, 100, 0);
    expect_tape(&taped, "<0 i0 +a0:100 pace(300000000) i29 +a1:100 +a2:100 >0");
}

static void the_share_touched_is_the_recorded_one(void **state)
{
    (void)state;
    struct taped taped = begin_tape();
    for (unsigned share = 0; share <= 16; share += 8) {
        uint64_t object = fb_recording_writer_birth(taped.writer, FB_RECORDING_MALLOC, 1 << 20, 0);
        fb_recording_writer_share(taped.writer, object, share);
        if (share == 8)
            fb_recording_writer_free(taped.writer, object);
    }
    struct fb_workload *workload = end_tape(&taped);
    struct compiled compiled = compile(workload, 0);
    assert_int_equal(compiled.trace.header->class_count, 3);
    assert_int_equal(compiled.trace.header->peak_live_bytes, 2 << 20);
    assert_int_equal(compiled.trace.header->peak_touched_bytes, 1 << 20);
    compiled_free(&compiled);
    fb_workload_free(workload);
}

static void aligned_births_keep_their_alignment(void **state)
{
    (void)state;
    struct taped taped = begin_tape();
    (void)fb_recording_writer_birth(taped.writer, FB_RECORDING_ALIGNED, 100, 12);
    (void)fb_recording_writer_birth(taped.writer, FB_RECORDING_ALIGNED, 100, 3);
    struct fb_workload *workload = end_tape(&taped);
    const struct fb_trace_class *classes = workload->replica->classes;
    assert_int_equal(workload->replica->class_count, 2);
    bool first = classes[0].call == FB_CALL_ALIGNED;
    assert_int_equal(classes[first ? 0 : 1].align, 4096);
    assert_int_equal(classes[first ? 1 : 0].call, FB_CALL_MALLOC); /* malloc aligns to 8 anyway */
    fb_workload_free(workload);
}

/* Objects that are alive on the tape. */
struct pool {
    uint64_t objects[500], sizes[500];
    size_t count;
    uint64_t live, peak;
};

static void tape_birth(struct taped *taped, struct pool *pool, uint64_t size)
{
    pool->objects[pool->count] =
        fb_recording_writer_birth(taped->writer, FB_RECORDING_MALLOC, size, 0);
    pool->sizes[pool->count++] = size;
    pool->live += size;
    if (pool->live > pool->peak)
        pool->peak = pool->live;
}

static void tape_realloc(struct taped *taped, struct pool *pool, size_t which, uint64_t size)
{
    fb_recording_writer_realloc(taped->writer, pool->objects[which], size);
    pool->live += size - pool->sizes[which];
    pool->sizes[which] = size;
    if (pool->live > pool->peak)
        pool->peak = pool->live;
}

static void tape_free(struct taped *taped, struct pool *pool, size_t which)
{
    fb_recording_writer_free(taped->writer, pool->objects[which]);
    pool->live -= pool->sizes[which];
    pool->objects[which] = pool->objects[--pool->count];
    pool->sizes[which] = pool->sizes[pool->count];
}

/* Eight threads, of which some end and others come, at anything with anybody's objects. */
static struct taped random_tape(uint64_t seed, struct pool *pool)
{
    struct taped taped = begin_tape();
    struct fb_rng rng;
    uint32_t threads[8] = {0, 1, 2, 3, 4, 5, 6, 7}, next = 8;
    fb_rng_seed_named(&rng, seed, "tape");
    for (uint64_t i = 0; i < 4000; i++) {
        uint64_t who = fb_rng_below(&rng, 8), what = fb_rng_below(&rng, 100);
        fb_recording_writer_at(taped.writer, threads[who], i * 2000);
        size_t which = pool->count > 0 ? fb_rng_below(&rng, pool->count) : 0;
        if (who > 0 && what == 0) {
            fb_recording_writer_exit(taped.writer);
            threads[who] = next++;
        } else if (pool->count < 10 || (what < 50 && pool->count < 500)) {
            tape_birth(&taped, pool, fb_rng_below(&rng, 3000) * (what == 1 ? 1000 : 1));
        } else if (what < 65) {
            tape_realloc(&taped, pool, which, fb_rng_below(&rng, 6000));
        } else {
            tape_free(&taped, pool, which);
        }
    }
    return taped;
}

static void expect_both_orders(const struct compiled *compiled, uint64_t seed)
{
    uint64_t op = 0;
    void *scratch = fb_alloc(fb_trace_check_scratch_bytes(&compiled->trace), 1);
    const char *fault = fb_trace_check_ops(&compiled->trace, scratch, &op);
    if (fault != NULL)
        fail_msg("seed %llu, op %llu: %s", (unsigned long long)seed, (unsigned long long)op, fault);
    free(scratch);
    struct lockstep lockstep = lockstep_of(&compiled->trace);
    for (int policy = 0; policy < POLICY_COUNT; policy++) {
        fault = free_order_run(&compiled->trace, &lockstep, (enum policy)policy, seed);
        if (fault != NULL)
            fail_msg("seed %llu, policy %d: %s", (unsigned long long)seed, policy, fault);
    }
    lockstep_free(&lockstep);
}

/* Every other time the threads meet often. */
static void whatever_threads_do_runs_in_both_orders(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 24; seed++) {
        struct pool pool = {0};
        struct taped taped = random_tape(seed, &pool);
        struct fb_workload *workload = end_tape(&taped);
        if (seed % 2 == 1)
            workload->replica->resting_slots = 40;
        struct compiled compiled = compile(workload, 0);
        expect_both_orders(&compiled, seed);
        /* Sizes of 0 are 1 in the trace, and small events may change places: 1 % is plenty. */
        assert_in_range(compiled.trace.header->peak_live_bytes, pool.peak - pool.peak / 100,
                        pool.peak + pool.peak / 100 + 4000);
        assert_in_range(compiled.trace.header->end_live_bytes, pool.live, pool.live + 500);
        compiled_free(&compiled);
        fb_workload_free(workload);
    }
}

/* Two threads hand 20,000 objects to each other, one after the other. */
static void slots_of_passed_objects_are_used_again(void **state)
{
    (void)state;
    struct taped taped = begin_tape();
    for (uint32_t i = 0; i < 20000; i++) {
        fb_recording_writer_at(taped.writer, 1 + i % 2, i * 1000);
        uint64_t object = fb_recording_writer_birth(taped.writer, FB_RECORDING_MALLOC, 100, 0);
        fb_recording_writer_at(taped.writer, 1 + (i + 1) % 2, i * 1000);
        fb_recording_writer_free(taped.writer, object);
    }
    struct fb_workload *workload = end_tape(&taped);
    workload->replica->resting_slots = 100;
    struct compiled compiled = compile(workload, 0);
    assert_int_equal(compiled.trace.header->alloc_calls, 20000);
    /* What has to come together, and what a window adds to it. */
    assert_in_range(compiled.trace.header->slot_count, 100, 100 + FB_REPLICA_WINDOW);
    expect_both_orders(&compiled, 1);
    compiled_free(&compiled);
    fb_workload_free(workload);
}

static void a_peak_made_by_large_blocks_is_exact(void **state)
{
    (void)state;
    struct taped taped = begin_tape();
    for (uint32_t i = 0; i < 50; i++) {
        fb_recording_writer_at(taped.writer, i % 2, 0);
        uint64_t object = fb_recording_writer_birth(taped.writer, FB_RECORDING_MALLOC, 1 << 20, 0);
        fb_recording_writer_at(taped.writer, (i + 1) % 2, 0);
        (void)fb_recording_writer_birth(taped.writer, FB_RECORDING_MALLOC, 10, 0);
        fb_recording_writer_at(taped.writer, i % 2, 0);
        fb_recording_writer_free(taped.writer, object);
    }
    struct fb_workload *workload = end_tape(&taped);
    struct compiled compiled = compile(workload, 0);
    assert_int_equal(compiled.trace.header->peak_live_bytes, (1 << 20) + 50 * 10);
    compiled_free(&compiled);
    fb_workload_free(workload);
}

static void an_empty_recording_is_refused(void **state)
{
    (void)state;
    struct taped taped = begin_tape();
    const struct fb_recording_totals totals = {0};
    struct fb_diagnostics diagnostics;
    struct fb_workload *workload = NULL;
    struct fb_error err = {0};
    assert_int_equal(fb_recording_writer_close(taped.writer, &totals, &err), 0);
    char *path = fb_format("/proc/self/fd/%d", taped.fd);
    fb_diagnostics_init(&diagnostics);
    assert_int_equal(fb_workload_load(path, NULL, 0, &workload, &diagnostics), -1);
    assert_non_null(strstr(diagnostics.items[0].text, "no calls"));
    fb_diagnostics_deinit(&diagnostics);
    free(path);
    assert_int_equal(close(taped.fd), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(births_and_frees_of_one_thread_keep_their_order),
        cmocka_unit_test(a_chain_of_reallocs_stays_one_object),
        cmocka_unit_test(a_free_by_another_thread_waits_for_the_object),
        cmocka_unit_test(a_realloc_of_a_shared_object_is_a_free_and_a_birth),
        cmocka_unit_test(a_thread_without_an_end_lives_through_the_tail),
        cmocka_unit_test(recorded_pauses_are_paces),
        cmocka_unit_test(the_share_touched_is_the_recorded_one),
        cmocka_unit_test(aligned_births_keep_their_alignment),
        cmocka_unit_test(whatever_threads_do_runs_in_both_orders),
        cmocka_unit_test(slots_of_passed_objects_are_used_again),
        cmocka_unit_test(a_peak_made_by_large_blocks_is_exact),
        cmocka_unit_test(an_empty_recording_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
