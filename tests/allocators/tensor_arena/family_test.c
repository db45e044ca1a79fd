/* What malloc.c is promised, over the sizes at which something changes; run for each variant. */
#include "rig.h"

#include "allocators/preload/contract.h"

#include <fragbench/tensor_arena.h>

#include <string.h>

static const size_t sizes[] = {1,       16,      17,          511,     512,        513,     4095,
                               4096,    4097,    8192,        9000,    16384,      32767,   32768,
                               32769,   65536,   100000,      262144,  1048575,    1048576, 1048577,
                               2097152, 3000000, 4 * MIB - 1, 4 * MIB, 9 * MIB + 5};
enum { SIZES = sizeof sizes / sizeof sizes[0] };

static void every_size_at_every_alignment(void **state)
{
    (void)state;
    for (size_t align = 16; align <= 4 * MIB; align *= 4) {
        void *blocks[SIZES];
        for (unsigned i = 0; i < SIZES; i++) {
            blocks[i] = fba_allocate(sizes[i], align);
            assert_non_null(blocks[i]);
            assert_int_equal((uintptr_t)blocks[i] % align, 0);
            assert_true(fba_usable(blocks[i]) >= sizes[i]);
            rig_fill(blocks[i], fba_usable(blocks[i]), i);
        }
        for (unsigned i = 0; i < SIZES; i++) {
            assert_true(rig_holds(blocks[i], fba_usable(blocks[i]), i));
            fba_release(blocks[i]);
        }
    }
}

static bool is_zero(const char *block, size_t size)
{
    return block[0] == 0 && memcmp(block, block + 1, size - 1) == 0;
}

static void zeroed_memory_is_zero_when_reused(void **state)
{
    (void)state;
    for (int round = 0; round < 3; round++) {
        for (unsigned i = 1; i < SIZES; i++) {
            char *block = fba_allocate_zeroed(sizes[i]);
            assert_non_null(block);
            assert_true(is_zero(block, sizes[i]));
            memset(block, 0xA5, fba_usable(block));
            fba_release(block);
        }
    }
}

static void resizing_keeps_the_content(void **state)
{
    (void)state;
    for (unsigned from = 0; from < SIZES; from++) {
        for (unsigned to = 0; to < SIZES; to++) {
            size_t kept = sizes[from] < sizes[to] ? sizes[from] : sizes[to];
            char *block = fba_allocate(sizes[from], 16), *copy = fba_allocate(kept, 16);
            rig_fill(block, sizes[from], from);
            memcpy(copy, block, kept);
            block = fba_resize(block, sizes[to]);
            assert_non_null(block);
            assert_true(fba_usable(block) >= sizes[to]);
            assert_memory_equal(block, copy, kept);
            memset(block, 1, sizes[to]);
            fba_release(copy);
            fba_release(block);
        }
    }
}

/* A shrunk block gives its pages back; it does not sit in what it was. */
static void a_shrunk_block_is_small(void **state)
{
    (void)state;
    char *block = fba_allocate(8 * MIB, 16);
    block = fba_resize(block, 64);
    assert_true(fba_usable(block) <= 128);
    fba_release(block);
    block = fba_allocate(8 * MIB, 16);
    block = fba_resize(block, 5 * MIB);
    assert_true(fba_usable(block) <= 5 * MIB + 4096);
    fba_release(block);
}

static void too_much_is_refused(void **state)
{
    (void)state;
    assert_null(fba_allocate(PTRDIFF_MAX, 16));
    assert_null(fba_allocate((size_t)1 << 46, (size_t)1 << 46));
    assert_null(fba_allocate(16, (size_t)1 << 62));
    char *block = fba_allocate(100, 16);
    rig_fill(block, 100, 5);
    assert_null(fba_resize(block, PTRDIFF_MAX));
    assert_true(rig_holds(block, 100, 5));
    fba_release(block);
}

static void everything_comes_back(void **state)
{
    (void)state;
    fragbench_purge();
    assert_int_equal(rig_stat("used_bytes"), 0);
    assert_int_equal(rig_stat("cached_bytes"), 0);
    assert_int_equal(rig_stat("direct_bytes"), 0);
    assert_int_equal(rig_stat("slabs"), 0);
}

int main(void)
{
    rig_install();
    fba_open();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_size_at_every_alignment),
        cmocka_unit_test(zeroed_memory_is_zero_when_reused),
        cmocka_unit_test(resizing_keeps_the_content),
        cmocka_unit_test(a_shrunk_block_is_small),
        cmocka_unit_test(too_much_is_refused),
        cmocka_unit_test(everything_comes_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
