/* Slabs and the lists in front of them: placement, emptiness, double frees. */
#include "rig.h"

#include "allocators/preload/contract.h"
#include "allocators/tensor_arena/cache.h"
#include "allocators/tensor_arena/heap.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CLASS_OF_1K = 47, SIZE = 1024 };

static int open_arena(void **state)
{
    (void)state;
    fba_open();
    assert_int_equal(ta_classes[CLASS_OF_1K].size, SIZE);
    return 0;
}

/* The blocks of `slabs` whole slabs, in the order of their slabs. */
static uint32_t take_slabs(uint32_t slabs, struct ta_block **blocks)
{
    uint32_t count = slabs * ta_classes[CLASS_OF_1K].slots;
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(ta_slabs_take(CLASS_OF_1K, 1, &blocks[i]), 1);
    return count;
}

static void give(struct ta_block *block)
{
    ta_slabs_give(CLASS_OF_1K, block, 1);
}

static void blocks_come_lowest_first(void **state)
{
    (void)state;
    struct ta_block *list, *block[3];
    assert_int_equal(ta_slabs_take(CLASS_OF_1K, 3, &list), 3);
    for (int i = 2; i >= 0; i--, list = list->next)
        block[i] = list;
    assert_ptr_equal((char *)block[0] + SIZE, block[1]);
    assert_ptr_equal((char *)block[1] + SIZE, block[2]);
    give(block[0]);
    assert_int_equal(ta_slabs_take(CLASS_OF_1K, 1, &list), 1);
    assert_ptr_equal(list, block[0]);
    for (int i = 0; i < 3; i++)
        give(block[i]);
}

/* Of two slabs with room, the fuller one is filled, though the other is lower: that one may empty.
 */
static void the_fullest_slab_is_filled_first(void **state)
{
    (void)state;
    struct ta_block *blocks[3 * TA_SLAB_SLOTS], *again;
    uint32_t slots = ta_classes[CLASS_OF_1K].slots, count = take_slabs(3, blocks);
    for (uint32_t i = 0; i < slots - 1; i++)
        give(blocks[i]);
    give(blocks[slots + 5]);
    assert_int_equal(ta_slabs_take(CLASS_OF_1K, 1, &again), 1);
    assert_ptr_equal(again, blocks[slots + 5]);
    assert_int_equal(ta_slabs_take(CLASS_OF_1K, 1, &again), 1);
    assert_ptr_equal(again, blocks[0]);
    give(again);
    for (uint32_t i = slots - 1; i < count; i++)
        give(blocks[i]);
}

static void empty_slabs_go_back(void **state)
{
    (void)state;
    struct ta_block *blocks[3 * TA_SLAB_SLOTS];
    struct ta_slab_counts before, during, after;
    uint64_t used = ta_heap.policy.used;
    ta_slabs_count(&before);
    uint32_t count = take_slabs(3, blocks);
    ta_slabs_count(&during);
    assert_int_equal(during.slabs, before.slabs + 3);
    assert_int_equal(during.free_slots, before.free_slots);
    for (uint32_t i = 0; i < count; i++)
        give(blocks[i]);
    ta_slabs_count(&after);
    assert_int_equal(after.slabs, before.slabs);
    assert_int_equal(ta_heap.policy.used, used);
}

/* What a thread keeps at hand stays within its budget, and goes when it is told to. */
static void a_cache_is_bounded_and_can_be_emptied(void **state)
{
    (void)state;
    enum { BLOCKS = 4000 };
    static void *blocks[BLOCKS];
    uint64_t used = ta_heap.policy.used;
    for (int round = 0; round < 5; round++) {
        for (uint32_t i = 0; i < BLOCKS; i++)
            blocks[i] = fba_allocate(16 + i % 4000, 16);
        for (uint32_t i = 0; i < BLOCKS; i++)
            fba_release(blocks[i]);
    }
    size_t cached = 0;
    for (uint32_t i = 0; i < TA_CLASSES; i++)
        cached += (size_t)ta_cache_mine->bins[i].count * ta_classes[i].size;
    assert_true(cached > 0);
    assert_true(cached <= ta_cache_mine->promised_bytes);
    assert_true(ta_cache_mine->promised_bytes <= 256 * KIB);
    ta_cache_flush();
    assert_int_equal(ta_cache_mine->promised_bytes, 0);
    assert_int_equal(ta_heap.policy.used, used);
}

static void free_twice(void)
{
    struct ta_block *block, *neighbour;
    (void)ta_slabs_take(CLASS_OF_1K, 1, &neighbour);
    (void)ta_slabs_take(CLASS_OF_1K, 1, &block);
    give(block);
    give(block);
}

static void free_the_middle(void)
{
    char *block = fba_allocate(SIZE, 16);
    fba_release(block + 48);
    ta_cache_flush();
}

static void free_pages_twice(void)
{
    void *block = fba_allocate(100 * KIB, 16);
    fba_release(block);
    fba_release(block);
}

static void free_a_stranger(void)
{
    static char stranger[64];
    fba_release(stranger);
}

static void a_broken_program_is_stopped(void **state)
{
    (void)state;
    static void (*const crimes[])(void) = {free_twice, free_the_middle, free_pages_twice,
                                           free_a_stranger};
    for (size_t i = 0; i < sizeof crimes / sizeof crimes[0]; i++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            (void)signal(SIGABRT, SIG_DFL);
            (void)close(STDERR_FILENO);
            crimes[i]();
            _exit(0);
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status));
        assert_int_equal(WTERMSIG(status), SIGABRT);
    }
}

int main(void)
{
    rig_install();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_come_lowest_first),
        cmocka_unit_test(the_fullest_slab_is_filled_first),
        cmocka_unit_test(empty_slabs_go_back),
        cmocka_unit_test(a_cache_is_bounded_and_can_be_emptied),
        cmocka_unit_test(a_broken_program_is_stopped),
    };
    return cmocka_run_group_tests(tests, open_arena, NULL);
}
