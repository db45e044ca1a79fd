/* budgeted in charged mode, to the byte, on an inner allocator that rounds up and fails on demand.
 */
#include "allocators/budgeted/fake_inner.h"
#include "fragbench/budgeted.h"
#include "fragbench/stats.h"
#include "preload/contract.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)
#define ALIGN 16

/* Each test begins with nothing used, and must end so. */
static int begin(void **state)
{
    (void)state;
    fba_open();
    fake_inner_fail_at(0);
    fragbench_budgeted_on_soft_limit(0, NULL, NULL);
    fragbench_budgeted_set(64 * MIB);
    return fragbench_budgeted_used() == 0 && fake_inner_blocks() == 0 ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    return fragbench_budgeted_used() == 0 && fake_inner_blocks() == 0 ? 0 : -1;
}

static void *allocate(size_t size)
{
    return fba_allocate(size, ALIGN);
}

/* First of all tests: the line is due once in 10 s. */
static void refusals_are_told_once(void **state)
{
    (void)state;
    int ends[2], saved = dup(STDERR_FILENO);
    char text[1024];
    assert_int_equal(pipe(ends), 0);
    (void)dup2(ends[1], STDERR_FILENO);
    fragbench_budgeted_set(1 * MIB);
    for (int i = 0; i < 100; i++)
        assert_null(allocate(2 * MIB));
    (void)dup2(saved, STDERR_FILENO);
    (void)close(ends[1]);
    ssize_t length = read(ends[0], text, sizeof text - 1);
    assert_true(length > 0);
    text[length] = '\0';
    (void)close(ends[0]);
    (void)close(saved);
    assert_string_equal(text, "fragbench-budgeted: refused 2097152 bytes: 0 of 1048576 bytes are "
                              "used\n");
}

static void usable_bytes_are_charged(void **state)
{
    (void)state;
    void *block = allocate(1100);
    assert_int_equal(fragbench_budgeted_used(), fake_inner_rounded(1100));
    assert_true(fake_inner_rounded(1100) > 1100);
    fba_release(block);
    assert_int_equal(fragbench_budgeted_used(), 0);
}

static void the_last_byte_can_be_had(void **state)
{
    (void)state;
    fragbench_budgeted_set(10 * 4096);
    void *blocks[10];
    for (size_t i = 0; i < 10; i++) {
        blocks[i] = allocate(4096);
        assert_non_null(blocks[i]);
    }
    assert_int_equal(fragbench_budgeted_used(), 10 * 4096);
    assert_null(allocate(1));
    fba_release(blocks[0]);
    blocks[0] = allocate(4096);
    assert_non_null(blocks[0]);
    for (size_t i = 0; i < 10; i++)
        fba_release(blocks[i]);
}

/* What was asked for fits, what the inner allocator made of it does not. */
static void rounding_over_the_budget_is_handed_back(void **state)
{
    (void)state;
    fragbench_budgeted_set(1100);
    size_t calls = fake_inner_calls();
    assert_null(allocate(1100));
    assert_true(fake_inner_calls() > calls);
    assert_int_equal(fake_inner_blocks(), 0);
    assert_int_equal(fragbench_budgeted_used(), 0);
}

static void no_inner_call_is_made_beyond_the_budget(void **state)
{
    (void)state;
    fragbench_budgeted_set(1 * MIB);
    size_t calls = fake_inner_calls();
    assert_null(allocate(1 * MIB + 1));
    assert_null(fba_allocate_zeroed(PTRDIFF_MAX));
    assert_null(fba_allocate(2 * MIB, 4096));
    assert_int_equal(fake_inner_calls(), calls);
}

static void a_failing_inner_allocator_costs_nothing(void **state)
{
    (void)state;
    for (size_t nth = 1; nth <= 3; nth++) {
        fake_inner_fail_at(nth);
        void *plain = allocate(5000), *zeroed = fba_allocate_zeroed(5000),
             *aligned = fba_allocate(5000, 512);
        assert_int_equal((plain == NULL) + (zeroed == NULL) + (aligned == NULL), 1);
        assert_int_equal(fragbench_budgeted_used(), 2 * fake_inner_rounded(5000));
        if (plain != NULL)
            fba_release(plain);
        if (zeroed != NULL)
            fba_release(zeroed);
        if (aligned != NULL)
            fba_release(aligned);
        assert_int_equal(fragbench_budgeted_used(), 0);
    }
}

static void a_failing_inner_realloc_leaves_block_and_charge(void **state)
{
    (void)state;
    unsigned char *block = allocate(1000);
    memset(block, 7, 1000);
    size_t used = fragbench_budgeted_used();
    fake_inner_fail_at(1);
    assert_null(fba_resize(block, 100000));
    assert_int_equal(block[999], 7);
    assert_int_equal(fragbench_budgeted_used(), used);
    fba_release(block);
}

static void resizing_is_charged_once(void **state)
{
    (void)state;
    unsigned char *block = allocate(1 * MIB);
    memset(block, 9, 1 * MIB);
    static const size_t sizes[] = {1100000, 3 * MIB, 100, 2 * MIB, 16, 40000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        block = fba_resize(block, sizes[i]);
        assert_non_null(block);
        assert_int_equal(block[0], 9);
        assert_int_equal(fragbench_budgeted_used(), fake_inner_rounded(sizes[i]));
    }
    fba_release(block);
}

/* Old and new together would be 2.25 MiB; only the difference is needed. */
static void growing_fits_where_both_blocks_would_not(void **state)
{
    (void)state;
    fragbench_budgeted_set(1280 * KIB);
    unsigned char *block = allocate(1 * MIB);
    memset(block, 3, 1 * MIB);
    block = fba_resize(block, 1280 * KIB);
    assert_non_null(block);
    assert_int_equal(block[1 * MIB - 1], 3);
    assert_int_equal(fragbench_budgeted_used(), 1280 * KIB);
    assert_null(fba_resize(block, 1281 * KIB));
    assert_int_equal(block[1 * MIB - 1], 3);
    assert_int_equal(fragbench_budgeted_used(), 1280 * KIB);
    fba_release(block);
}

static void shrinking_works_in_a_full_budget(void **state)
{
    (void)state;
    fragbench_budgeted_set(1 * MIB);
    unsigned char *block = allocate(1 * MIB);
    assert_non_null(block);
    block[99] = 5;
    block = fba_resize(block, 100);
    assert_non_null(block);
    assert_int_equal(block[99], 5);
    assert_int_equal(fragbench_budgeted_used(), fake_inner_rounded(100));
    fba_release(block);
}

struct meeting {
    pthread_barrier_t barrier;
    bool exits; /* at once, instead of waiting idle */
};

/* Leaves credit in its pocket, and then stays idle. */
static void *hold_credit(void *argument)
{
    struct meeting *meeting = argument;
    fba_release(allocate(64));
    (void)pthread_barrier_wait(&meeting->barrier);
    if (!meeting->exits)
        (void)pthread_barrier_wait(&meeting->barrier);
    return NULL;
}

static void credit_of_idle_threads_is_collected(void **state)
{
    (void)state;
    struct meeting meeting = {.exits = false};
    pthread_t threads[4];
    (void)pthread_barrier_init(&meeting.barrier, NULL, 5);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, hold_credit, &meeting), 0);
    (void)pthread_barrier_wait(&meeting.barrier);
    void *all = allocate(64 * MIB); /* every byte of it */
    (void)pthread_barrier_wait(&meeting.barrier);
    for (size_t i = 0; i < 4; i++)
        (void)pthread_join(threads[i], NULL);
    (void)pthread_barrier_destroy(&meeting.barrier);
    assert_non_null(all);
    assert_int_equal(fragbench_budgeted_used(), 64 * MIB);
    fba_release(all);
}

static void a_thread_that_ends_returns_its_credit(void **state)
{
    (void)state;
    for (int i = 0; i < 100; i++) {
        struct meeting meeting = {.exits = true};
        pthread_t thread;
        (void)pthread_barrier_init(&meeting.barrier, NULL, 2);
        assert_int_equal(pthread_create(&thread, NULL, hold_credit, &meeting), 0);
        (void)pthread_barrier_wait(&meeting.barrier);
        (void)pthread_join(thread, NULL);
        (void)pthread_barrier_destroy(&meeting.barrier);
    }
    assert_int_equal(fragbench_budgeted_used(), 0);
    void *all = allocate(64 * MIB);
    assert_non_null(all);
    fba_release(all);
}

static void a_lowered_budget_refuses_until_enough_is_freed(void **state)
{
    (void)state;
    void *first = allocate(8 * MIB), *second = allocate(8 * MIB);
    fragbench_budgeted_set(10 * MIB);
    assert_int_equal(fragbench_budgeted_used(), 16 * MIB);
    assert_null(allocate(16));
    fba_release(first);
    first = allocate(2 * MIB);
    assert_non_null(first);
    assert_null(allocate(16));
    fragbench_budgeted_set(11 * MIB);
    void *third = allocate(1 * MIB);
    assert_non_null(third);
    fba_release(first);
    fba_release(second);
    fba_release(third);
}

static void a_shortage_is_purged_for_once(void **state)
{
    (void)state;
    fragbench_budgeted_set(4 * MIB);
    void *block = allocate(4 * MIB);
    size_t purges = fake_inner_purges(), refused = fragbench_budgeted_refused();
    for (int i = 0; i < 50; i++)
        assert_null(allocate(1000));
    assert_int_equal(fake_inner_purges(), purges + 1);
    assert_int_equal(fragbench_budgeted_refused(), refused + 50);
    fba_release(block);
}

struct soft {
    int calls;
    size_t used;
    void *cache; /* given back when asked to */
};

static void drop_cache(size_t used, size_t limit, void *context)
{
    struct soft *soft = context;
    assert_true(used >= limit);
    soft->calls++;
    soft->used = used;
    if (soft->cache != NULL)
        fba_release(soft->cache);
    soft->cache = NULL;
}

static void the_soft_limit_calls_once_and_is_armed_again(void **state)
{
    (void)state;
    struct soft soft = {.cache = allocate(10 * MIB)};
    fragbench_budgeted_on_soft_limit(32 * MIB, drop_cache, &soft);
    void *first = allocate(20 * MIB), *second = allocate(5 * MIB);
    assert_int_equal(soft.calls, 1);
    assert_true(soft.used >= 35 * MIB && soft.used < 36 * MIB);
    assert_true(fragbench_budgeted_used() < 26 * MIB);
    fba_release(second); /* well below: armed */
    second = allocate(30 * MIB);
    assert_int_equal(soft.calls, 2);
    void *third = allocate(1 * MIB);
    assert_int_equal(soft.calls, 2);
    fba_release(first);
    fba_release(second);
    fba_release(third);
}

static void the_peak_stays_within_the_budget(void **state)
{
    (void)state;
    void *blocks[200];
    fragbench_budgeted_set(64 * MIB); /* the highest of this program */
    for (size_t i = 0; i < 200; i++)
        blocks[i] = allocate(500 * KIB);
    assert_true(fragbench_budgeted_peak() <= 64 * MIB);
    assert_true(fragbench_budgeted_peak() >= 63 * MIB);
    for (size_t i = 0; i < 200; i++) {
        if (blocks[i] != NULL)
            fba_release(blocks[i]);
    }
}

static int child_of_fork(void)
{
    void *all = allocate(64 * MIB - fragbench_budgeted_used());
    return all != NULL && allocate(16) == NULL ? 0 : 1;
}

/* The other thread, and what is in its pocket, do not exist in the child. */
static void a_forked_child_has_the_whole_budget(void **state)
{
    (void)state;
    struct meeting meeting = {.exits = false};
    pthread_t thread;
    (void)pthread_barrier_init(&meeting.barrier, NULL, 2);
    assert_int_equal(pthread_create(&thread, NULL, hold_credit, &meeting), 0);
    (void)pthread_barrier_wait(&meeting.barrier);
    fba_fork_prepare();
    pid_t pid = fork();
    if (pid == 0) {
        fba_fork_child();
        _exit(child_of_fork());
    }
    fba_fork_parent();
    (void)pthread_barrier_wait(&meeting.barrier);
    (void)pthread_join(thread, NULL);
    (void)pthread_barrier_destroy(&meeting.barrier);
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static uint64_t stat_named(const char *name)
{
    struct fragbench_stat rows[32];
    size_t count = fragbench_stats(rows, 32);
    assert_true(count > 0 && count <= 32);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(rows[i].name, name) == 0)
            return rows[i].value;
    }
    fail_msg("no counter %s", name);
    return 0;
}

static void counters_tell_what_happened(void **state)
{
    (void)state;
    uint64_t refused = stat_named("refused_calls"), failed = stat_named("inner_failed_calls");
    assert_int_equal(stat_named("budget_bytes"), 64 * MIB);
    void *block = allocate(1 * MIB);
    assert_int_equal(stat_named("budget_used_bytes"), 1 * MIB);
    assert_null(allocate(64 * MIB));
    assert_int_equal(stat_named("refused_calls"), refused + 1);
    fake_inner_fail_at(1);
    assert_null(allocate(100));
    assert_int_equal(stat_named("inner_failed_calls"), failed + 1);
    struct fragbench_stat first;
    assert_true(fragbench_stats(&first, 1) > 1);
    assert_string_equal(first.name, "budget_bytes");
    fba_release(block);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(refusals_are_told_once),
        TEST(usable_bytes_are_charged),
        TEST(the_last_byte_can_be_had),
        TEST(rounding_over_the_budget_is_handed_back),
        TEST(no_inner_call_is_made_beyond_the_budget),
        TEST(a_failing_inner_allocator_costs_nothing),
        TEST(a_failing_inner_realloc_leaves_block_and_charge),
        TEST(resizing_is_charged_once),
        TEST(growing_fits_where_both_blocks_would_not),
        TEST(shrinking_works_in_a_full_budget),
        TEST(credit_of_idle_threads_is_collected),
        TEST(a_thread_that_ends_returns_its_credit),
        TEST(a_lowered_budget_refuses_until_enough_is_freed),
        TEST(a_shortage_is_purged_for_once),
        TEST(the_soft_limit_calls_once_and_is_armed_again),
        TEST(the_peak_stays_within_the_budget),
        TEST(a_forked_child_has_the_whole_budget),
        TEST(counters_tell_what_happened),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
