/* Explained runs of real workers: what the snapshot hook gets, and what it leaves alone. */
#include "bench.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

static const struct bench_shape shape = {
    .objects = 3000, .size_bytes = 3000, .rounds = 3, .pause_ns = UINT64_C(200000000)};

/* What one snapshot said. */
struct seen {
    char kind[16];
    uint64_t pages, startup_pages, after_pages, footprint_bytes, page_bytes;
    size_t blocks;
    uint64_t requested_bytes, usable_bytes, youngest_ns;
    bool purged, account_known;
    uint64_t account[FB_ACCOUNT_COUNT];
    bool has_base, has_names;
};

struct log {
    struct seen items[8];
    size_t count;
    struct fb_run_outcome outcome;
};

static uint64_t count_pages(const struct fb_page_runs *runs)
{
    uint64_t pages = 0;
    for (size_t i = 0; i < runs->count; i++)
        pages += runs->items[i].count;
    return pages;
}

static void see_blocks(const struct fb_snapshot *snapshot, struct seen *seen)
{
    struct fb_block block;
    for (size_t slot = 0; slot < snapshot->blocks.count; slot++) {
        if (!snapshot->blocks.read(snapshot->blocks.context, slot, &block))
            continue;
        seen->blocks++;
        seen->requested_bytes += block.requested_bytes;
        seen->usable_bytes += block.usable_bytes;
        if (block.born_ns > seen->youngest_ns)
            seen->youngest_ns = block.born_ns;
    }
}

static void see(void *user, const struct fb_run_request *request, struct fb_checkpoint *checkpoint,
                const struct fb_snapshot *snapshot)
{
    struct log *log = user;
    struct seen *seen = &log->items[log->count++];
    (void)request;
    assert_in_range(log->count, 1, 8);
    memcpy(seen->kind, checkpoint->kind, sizeof seen->kind);
    seen->pages = count_pages(&snapshot->pages);
    seen->startup_pages = count_pages(&snapshot->startup);
    seen->after_pages = count_pages(&snapshot->after);
    seen->footprint_bytes = snapshot->footprint_bytes;
    seen->page_bytes = snapshot->page_bytes;
    seen->purged = snapshot->purged;
    seen->account_known = snapshot->account_known;
    memcpy(seen->account, snapshot->account, sizeof seen->account);
    seen->has_names = snapshot->class_count == 1 && strcmp(snapshot->class_names[0], "block") == 0;
    for (size_t i = 0; i < snapshot->extent_count; i++)
        seen->has_base = seen->has_base || snapshot->extents[i].kind == FB_EXTENT_BASE;
    see_blocks(snapshot, seen);
}

static int keep(void *user, const struct fb_run_request *request, struct fb_run_outcome *outcome,
                struct fb_error *err)
{
    (void)request, (void)err;
    ((struct log *)user)->outcome = *outcome;
    return 0;
}

/* False where the allocator is not installed. */
static bool explain_on(enum fb_clock_mode clock, const char *spec, enum fb_explain how, size_t at,
                       struct log *log)
{
    struct bench_trace trace;
    struct fb_contenders contenders = bench_contender(spec);
    bool available = contenders.items[0].available;
    *log = (struct log){.count = 0};
    bench_trace_open(&trace, &shape);
    struct fb_run_request request = bench_request(&trace, &contenders.items[0]);
    request.clock = clock;
    request.explain = how;
    request.explain_at = at;
    const struct fb_runner_hooks hooks = {.finished = keep, .snapshot = see, .user = log};
    struct fb_error err = {0};
    if (available && fb_runner_run(&request, 1, 1, &hooks, NULL, &err) != 0)
        fail_msg("%s", err.text);
    if (available && log->outcome.repetition.status != FB_STATUS_OK)
        fail_msg("%s: %s", spec, log->outcome.repetition.status_detail);
    bench_trace_close(&trace);
    fb_contenders_deinit(&contenders);
    return available;
}

static bool explain(const char *spec, enum fb_explain how, size_t at, struct log *log)
{
    return explain_on(FB_CLOCK_VIRTUAL, spec, how, at, log);
}

static const char *const specs[] = {"ptmalloc2", "jemalloc", "tcmalloc", "mimalloc"};
enum { SPECS = sizeof specs / sizeof specs[0] };

static void pages_sum_to_the_footprint_under_four_allocators(void **state)
{
    (void)state;
    for (size_t i = 0; i < SPECS; i++) {
        struct log log;
        if (!explain(specs[i], FB_EXPLAIN_PARTS, 0, &log))
            continue;
        assert_int_equal(log.count, 2);
        assert_string_equal(log.items[0].kind, "peak_live");
        assert_string_equal(log.items[1].kind, "phase_end");
        for (size_t s = 0; s < 2; s++) {
            assert_int_equal(log.items[s].pages * log.items[s].page_bytes,
                             log.items[s].footprint_bytes);
            assert_true(log.items[s].has_base);
            assert_true(log.items[s].has_names);
            assert_in_range(log.items[s].startup_pages, 10, 4000);
        }
        assert_int_equal(log.items[0].blocks, shape.objects);
        assert_int_equal(log.items[0].requested_bytes, shape.objects * shape.size_bytes);
        assert_in_range(log.items[0].usable_bytes, shape.objects * shape.size_bytes,
                        2 * shape.objects * shape.size_bytes);
        assert_true(log.items[0].youngest_ns > 0);
        assert_int_equal(log.items[1].blocks, 0);
        bench_outcome_deinit(&log.outcome);
    }
}

static void an_explained_run_is_the_same_run(void **state)
{
    (void)state;
    for (size_t i = 0; i < SPECS; i++) {
        struct log plain, explained;
        if (!explain(specs[i], FB_EXPLAIN_NONE, 0, &plain))
            continue;
        (void)explain(specs[i], FB_EXPLAIN_PARTS, 0, &explained);
        assert_int_equal(plain.count, 0);
        const struct fb_series *a = &plain.outcome.repetition.series;
        const struct fb_series *b = &explained.outcome.repetition.series;
        assert_int_equal(a->count, b->count);
        for (size_t p = 0; p < a->count; p++)
            assert_memory_equal(&a->points[p], &b->points[p], sizeof a->points[p]);
        bench_outcome_deinit(&plain.outcome);
        bench_outcome_deinit(&explained.outcome);
    }
}

static void a_purge_run_stops_there_and_is_looked_at_twice(void **state)
{
    (void)state;
    struct log log;
    (void)explain("ptmalloc2", FB_EXPLAIN_PURGE, 2, &log);
    assert_int_equal(log.count, 1);
    assert_string_equal(log.items[0].kind, "phase_end");
    assert_true(log.items[0].purged);
    assert_true(log.items[0].account_known);
    assert_int_equal(log.items[0].pages * log.items[0].page_bytes, log.items[0].footprint_bytes);
    assert_true(log.items[0].after_pages < log.items[0].pages);
    assert_int_equal(log.outcome.repetition.checkpoint_count, 3);
    bench_outcome_deinit(&log.outcome);
}

/* The vocabulary against what is known to be live: 3,000 blocks of 3,000 bytes. */
static void allocators_tell_what_they_handed_out(void **state)
{
    (void)state;
    for (size_t i = 0; i < SPECS; i++) {
        struct log log;
        if (!explain(specs[i], FB_EXPLAIN_PURGE, 1, &log))
            continue;
        const struct seen *seen = &log.items[0];
        assert_in_range(seen->account[FB_ACCOUNT_RESIDENT], seen->requested_bytes,
                        4 * seen->requested_bytes);
        if (strcmp(specs[i], "mimalloc") == 0)
            assert_true(seen->account[FB_ACCOUNT_ALLOCATED] == FB_ACCOUNT_NA);
        else
            assert_in_range(seen->account[FB_ACCOUNT_ALLOCATED], seen->usable_bytes,
                            seen->usable_bytes + seen->requested_bytes / 10);
        bench_outcome_deinit(&log.outcome);
    }
}

static void real_time_is_looked_at_at_its_end_only(void **state)
{
    (void)state;
    struct log log;
    (void)explain_on(FB_CLOCK_REAL, "ptmalloc2", FB_EXPLAIN_PARTS, 0, &log);
    assert_int_equal(log.count, 1);
    assert_string_equal(log.items[0].kind, "phase_end");
    assert_int_equal(log.items[0].pages * log.items[0].page_bytes, log.items[0].footprint_bytes);
    bench_outcome_deinit(&log.outcome);
}

static void null_has_pages_but_no_blocks(void **state)
{
    (void)state;
    struct log log;
    (void)explain("null", FB_EXPLAIN_PURGE, 1, &log);
    assert_int_equal(log.count, 1);
    assert_int_equal(log.items[0].blocks, 0);
    assert_false(log.items[0].account_known);
    assert_int_equal(log.items[0].pages * log.items[0].page_bytes, log.items[0].footprint_bytes);
    bench_outcome_deinit(&log.outcome);
}

static void threads_at_once_are_not_explained(void **state)
{
    (void)state;
    struct fb_trace_header trace = {.thread_peak = 4};
    assert_true(fb_runner_explains(&trace, FB_ORDER_LOCKSTEP));
    assert_false(fb_runner_explains(&trace, FB_ORDER_FREE));
    trace.thread_peak = 1;
    assert_true(fb_runner_explains(&trace, FB_ORDER_FREE));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_sum_to_the_footprint_under_four_allocators),
        cmocka_unit_test(an_explained_run_is_the_same_run),
        cmocka_unit_test(a_purge_run_stops_there_and_is_looked_at_twice),
        cmocka_unit_test(allocators_tell_what_they_handed_out),
        cmocka_unit_test(real_time_is_looked_at_at_its_end_only),
        cmocka_unit_test(null_has_pages_but_no_blocks),
        cmocka_unit_test(threads_at_once_are_not_explained),
    };
    return cmocka_run_group_tests(tests, bench_setup, NULL);
}
