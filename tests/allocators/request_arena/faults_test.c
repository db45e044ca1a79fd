/* The n-th call of mmap, mprotect or the inner allocator fails, for every n: what is asked for is
 * given, or refused with ENOMEM, and what was there stays as it was. Linked with --wrap. */
#include "arena.h"

#include "allocators/preload/contract.h"
#include "allocators/preload/inner.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>

void *__real_mmap(void *at, size_t bytes, int protection, int flags, int file, off_t offset);
void *__wrap_mmap(void *at, size_t bytes, int protection, int flags, int file, off_t offset);
int __real_mprotect(void *at, size_t bytes, int protection);
int __wrap_mprotect(void *at, size_t bytes, int protection);
const struct fba_inner *__real_fba_inner(void);
const struct fba_inner *__wrap_fba_inner(void);

/* The calls after the first `pass` fail, `fail` of them. */
static struct {
    bool armed;
    unsigned pass, fail, failed;
} plan;

static bool fails(void)
{
    if (!plan.armed)
        return false;
    if (plan.pass > 0) {
        plan.pass--;
        return false;
    }
    if (plan.failed == plan.fail)
        return false;
    plan.failed++;
    errno = ENOMEM;
    return true;
}

void *__wrap_mmap(void *at, size_t bytes, int protection, int flags, int file, off_t offset)
{
    return fails() ? MAP_FAILED : __real_mmap(at, bytes, protection, flags, file, offset);
}

int __wrap_mprotect(void *at, size_t bytes, int protection)
{
    return fails() ? -1 : __real_mprotect(at, bytes, protection);
}

static void *failing_malloc(size_t size)
{
    return fails() ? NULL : __real_fba_inner()->malloc(size);
}

static void *failing_realloc(void *block, size_t size)
{
    return fails() ? NULL : __real_fba_inner()->realloc(block, size);
}

static int failing_memalign(void **out, size_t align, size_t size)
{
    return fails() ? ENOMEM : __real_fba_inner()->posix_memalign(out, align, size);
}

const struct fba_inner *__wrap_fba_inner(void)
{
    static struct fba_inner inner;
    if (inner.malloc == NULL) {
        struct fba_inner copy = *__real_fba_inner();
        copy.malloc = failing_malloc;
        copy.realloc = failing_realloc;
        copy.posix_memalign = failing_memalign;
        inner = copy;
    }
    return &inner;
}

static void allocate(char **blocks, size_t *sizes, unsigned i)
{
    sizes[i] = i % 7 == 0 ? 100 * KIB + i : 30 * KIB + i;
    errno = 0;
    blocks[i] = fragbench_scope_alloc(sizes[i], i % 3 == 0 ? 64 : 8);
    if (blocks[i] == NULL)
        assert_int_equal(errno, ENOMEM);
    else
        arena_fill(blocks[i], sizes[i], i);
}

static void resize(char **blocks, size_t *sizes, unsigned i)
{
    if (blocks[i] == NULL)
        return;
    char *resized = fba_resize(blocks[i], sizes[i] + 50 * KIB);
    if (resized == NULL)
        return; /* it must be as it was: the check at the end */
    blocks[i] = resized;
    sizes[i] += 50 * KIB;
    assert_true(arena_holds(resized, sizes[i] - 50 * KIB, i));
    arena_fill(resized, sizes[i], i);
}

#define BLOCKS 40

/* One request, with one inside it, in which every way to memory is taken. */
static void *work(void *unused)
{
    char *blocks[BLOCKS];
    size_t sizes[BLOCKS];
    fragbench_scope_begin();
    for (unsigned i = 0; i < BLOCKS / 2; i++)
        allocate(blocks, sizes, i);
    fragbench_scope_begin();
    for (unsigned i = BLOCKS / 2; i < BLOCKS; i++) {
        allocate(blocks, sizes, i);
        resize(blocks, sizes, i - BLOCKS / 2);
        resize(blocks, sizes, i - 3);
    }
    for (unsigned i = 0; i < BLOCKS; i++)
        assert_true(blocks[i] == NULL || arena_holds(blocks[i], sizes[i], i));
    fragbench_scope_end();
    for (unsigned i = 0; i < BLOCKS / 2; i++)
        assert_true(blocks[i] == NULL || arena_holds(blocks[i], sizes[i], i));
    fragbench_scope_end();
    assert_int_equal(fragbench_request_arena_used(), 0);
    return unused;
}

static unsigned work_with(unsigned pass, unsigned fail)
{
    plan.pass = pass;
    plan.fail = fail;
    plan.failed = 0;
    plan.armed = true;
    (void)work(NULL);
    plan.armed = false;
    return plan.failed;
}

/* Comes first: nothing is set up yet. */
static void without_a_room_a_scope_refuses(void **state)
{
    (void)state;
    plan.pass = 0;
    plan.fail = 1;
    plan.armed = true;
    fragbench_scope_begin();
    plan.armed = false;
    errno = 0;
    assert_null(fragbench_scope_alloc(100, 16));
    assert_int_equal(errno, ENOMEM);
    fragbench_scope_begin(); /* memory is back */
    assert_non_null(fragbench_scope_alloc(100, 16));
    fragbench_scope_end();
    assert_null(fragbench_scope_alloc(100, 16));
    fragbench_scope_end();
    void *outside = fragbench_scope_alloc(100, 16);
    assert_non_null(outside);
    fba_release(outside);
}

static void any_call_may_fail(void **state)
{
    (void)state;
    fragbench_request_arena_trim();
    unsigned calls = 0;
    while (work_with(calls, 1) == 1)
        calls++;
    assert_true(calls > 20);
}

static void all_calls_may_fail_from_any_on(void **state)
{
    (void)state;
    for (unsigned pass = 0; pass < 40; pass++)
        (void)work_with(pass, UINT32_MAX);
    assert_int_equal(work_with(100000, 1), 0);
}

static void a_new_thread_survives_them_too(void **state)
{
    (void)state;
    for (unsigned pass = 0; pass < 5; pass++) {
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, work, NULL), 0);
        assert_int_equal(pthread_join(thread, NULL), 0);
    }
    assert_true(arena_stat("room_threads") <= 1);
}

static void without_chunks_objects_spill(void **state)
{
    (void)state;
    uint64_t failures = arena_stat("failed_chunk_calls"), spills = arena_stat("spilled_calls");
    fragbench_scope_begin();
    for (unsigned i = 0; i < 70; i++) /* 70 × 60 KiB are more than the range of 4 MiB */
        arena_fill(fragbench_scope_alloc(60 * KIB, 16), 60 * KIB, i);
    assert_true(arena_stat("failed_chunk_calls") > failures);
    assert_true(arena_stat("spilled_calls") > spills);
    assert_true(fragbench_request_arena_used() >= 4200 * KIB);
    fragbench_scope_end();
}

int main(void)
{
    arena_set("RANGE", "4MiB");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_room_a_scope_refuses),
        cmocka_unit_test(any_call_may_fail),
        cmocka_unit_test(all_calls_may_fail_from_any_on),
        cmocka_unit_test(a_new_thread_survives_them_too),
        cmocka_unit_test(without_chunks_objects_spill),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
