/* Scopes: the ring of one thread. */
#include "rig.h"

#include "allocators/preload/contract.h"
#include "allocators/tensor_arena/heap.h"

#include <fragbench/tensor_arena.h>

#include <errno.h>
#include <pthread.h>
#include <string.h>

static void memory_is_bumped_and_aligned(void **state)
{
    (void)state;
    fragbench_scope_begin();
    char *first = fragbench_scope_alloc(1, 0), *second = fragbench_scope_alloc(65, 8);
    char *third = fragbench_scope_alloc(64, 64), *fourth = fragbench_scope_alloc(10, 4096);
    assert_int_equal((uintptr_t)first % 64, 0);
    assert_ptr_equal(second, first + 64);
    assert_ptr_equal(third, second + 128);
    assert_int_equal((uintptr_t)fourth % 4096, 0);
    fragbench_scope_end();
    fragbench_scope_begin();
    assert_ptr_equal(fragbench_scope_alloc(1, 0), first);
    fragbench_scope_end();
}

static void scopes_nest_and_reset_to_their_begin(void **state)
{
    (void)state;
    fragbench_scope_begin();
    char *outer = fragbench_scope_alloc(1000, 0);
    rig_fill(outer, 1000, 1);
    char *first = NULL;
    for (int layer = 0; layer < 12; layer++) {
        fragbench_scope_begin();
        char *tensor = fragbench_scope_alloc(3 * MIB, 64);
        first = layer == 0 ? tensor : first;
        assert_ptr_equal(tensor, first);
        rig_fill(tensor, 3 * MIB, (unsigned)layer);
        fragbench_scope_end();
    }
    assert_true(rig_holds(outer, 1000, 1));
    uint64_t used = rig_stat("used_bytes");
    fragbench_scope_end();
    assert_true(rig_stat("used_bytes") + 3 * MIB <= used);
}

/* A pass of 64 MiB in pieces lies in one stretch of address space: it grows where it is. */
static void a_long_scope_wastes_nothing(void **state)
{
    (void)state;
    uint64_t before = rig_stat("used_bytes");
    fragbench_scope_begin();
    for (int i = 0; i < 1024; i++)
        assert_non_null(fragbench_scope_alloc(64 * KIB, 0));
    uint64_t used = rig_stat("used_bytes") - before;
    assert_in_range(used, 64 * MIB, 72 * MIB);
    fragbench_scope_end();
    assert_int_equal(rig_stat("used_bytes"), before);
}

/* Something stands in the way of the ring's growth: a second chunk follows. */
static void a_blocked_chunk_is_followed_by_another(void **state)
{
    (void)state;
    bool zeroed;
    fragbench_scope_begin();
    char *first = fragbench_scope_alloc(100, 0);
    uint32_t pin = ta_heap_take(TA_AREA_LARGE, 1, 1, &zeroed);
    fragbench_scope_begin();
    char *second = fragbench_scope_alloc(MIB, 0);
    rig_fill(first, 100, 1);
    rig_fill(second, MIB, 2);
    assert_true(rig_holds(first, 100, 1));
    fragbench_scope_end();
    char *third = fragbench_scope_alloc(100, 0);
    assert_ptr_equal(third, first + 128);
    fragbench_scope_end();
    ta_heap_give(pin);
    assert_int_equal(rig_stat("used_bytes"), ta_heap.policy.used << TA_PAGE_SHIFT);
}

static void a_refusal_leaves_no_trace(void **state)
{
    (void)state;
    fragbench_scope_begin();
    char *first = fragbench_tensor_alloc(16, 4);
    errno = 0;
    assert_null(fragbench_tensor_alloc(SIZE_MAX / 2, 3));
    assert_int_equal(errno, ENOMEM);
    assert_null(fragbench_tensor_alloc(PTRDIFF_MAX, 1));
    assert_null(fragbench_scope_alloc(16, 48)); /* no power of two */
    assert_null(fragbench_tensor_alloc((size_t)1 << 46, 1));
    assert_ptr_equal(fragbench_tensor_alloc(1, 1), first + 64);
    fragbench_scope_end();
    assert_int_equal(rig_stat("scope_refused_calls"), 4);
}

static void free_inside_gives_nothing_back(void **state)
{
    (void)state;
    fragbench_scope_begin();
    char *first = fragbench_scope_alloc(100, 0), *second = fragbench_scope_alloc(200 * KIB, 0);
    rig_fill(first, 100, 3);
    fba_release(second);
    fba_release(second + 12288 + 64); /* as any block of the ring */
    assert_true(rig_holds(first, 100, 3));
    char *grown = fba_resize(first, 5000);
    rig_fill(first, 100, 4);
    assert_memory_not_equal(grown, first, 100);
    fba_release(grown);
    fragbench_scope_end();
}

static void deep_scopes_live_with_their_parent(void **state)
{
    (void)state;
    for (int i = 0; i < 100; i++)
        fragbench_scope_begin();
    char *deep = fragbench_scope_alloc(100, 0);
    for (int i = 0; i < 60; i++)
        fragbench_scope_end();
    rig_fill(deep, 100, 9);
    char *after = fragbench_scope_alloc(100, 0);
    rig_fill(after, 100, 8);
    assert_true(rig_holds(deep, 100, 9));
    for (int i = 0; i < 40; i++)
        fragbench_scope_end();
    fragbench_scope_end(); /* one too many is nothing */
    char *outside = fragbench_scope_alloc(100, 0);
    assert_non_null(outside);
    fba_release(outside);
}

static void *leave_a_scope_open(void *unused)
{
    fragbench_scope_begin();
    fragbench_scope_begin();
    memset(fragbench_scope_alloc(5 * MIB, 0), 1, 5 * MIB);
    return unused;
}

static void a_thread_that_goes_ends_its_scopes(void **state)
{
    (void)state;
    uint64_t before = rig_stat("used_bytes");
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, leave_a_scope_open, NULL), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(rig_stat("used_bytes"), before);
}

int main(void)
{
    rig_install();
    fba_open();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_bumped_and_aligned),
        cmocka_unit_test(scopes_nest_and_reset_to_their_begin),
        cmocka_unit_test(a_long_scope_wastes_nothing),
        cmocka_unit_test(a_blocked_chunk_is_followed_by_another),
        cmocka_unit_test(a_refusal_leaves_no_trace),
        cmocka_unit_test(free_inside_gives_nothing_back),
        cmocka_unit_test(deep_scopes_live_with_their_parent),
        cmocka_unit_test(a_thread_that_goes_ends_its_scopes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
