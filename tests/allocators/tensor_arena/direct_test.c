/* Direct mappings and the table that finds them. */
#include "rig.h"

#include "allocators/tensor_arena/direct.h"

#include <string.h>

enum { BLOCKS = 700, STEPS = 20000 };

static void a_mapping_is_exact_and_goes_at_once(void **state)
{
    (void)state;
    uint64_t before = rig.mapped_bytes;
    char *block = ta_direct_take(5 * MIB + 1, 16);
    assert_int_equal(ta_direct_usable(block), 5 * MIB + 4096);
    rig_fill(block, 5 * MIB + 1, 1);
    block = ta_direct_resize(block, 9 * MIB);
    assert_true(rig_holds(block, 5 * MIB + 1, 1));
    assert_int_equal(ta_direct_usable(block), 9 * MIB);
    block = ta_direct_resize(block, 4096);
    assert_int_equal(ta_direct_usable(block), 4096);
    assert_true(ta_direct_give(block));
    assert_false(ta_direct_give(block));
    assert_true(rig.mapped_bytes - before <= 4096); /* the table */
}

static void alignments_beyond_a_page(void **state)
{
    (void)state;
    for (size_t align = 16; align <= 64 * MIB; align *= 4) {
        char *block = ta_direct_take(10000, align);
        assert_int_equal((uintptr_t)block % align, 0);
        assert_true(ta_direct_give(block));
    }
    assert_null(ta_direct_take(SIZE_MAX - 10, 16));
    assert_null(ta_direct_take(100, (size_t)1 << 63));
}

static void the_table_finds_each_of_many(void **state)
{
    (void)state;
    static char *blocks[BLOCKS];
    static size_t pages[BLOCKS];
    uint32_t seed = 3;
    uint64_t count, bytes;
    for (int step = 0; step < STEPS; step++) {
        uint32_t i = rig_random(&seed) % BLOCKS;
        if (blocks[i] == NULL) {
            pages[i] = 1 + rig_random(&seed) % 5;
            blocks[i] = ta_direct_take(pages[i] * 4096, 16);
            assert_non_null(blocks[i]);
        } else {
            assert_int_equal(ta_direct_usable(blocks[i]), pages[i] * 4096);
            assert_int_equal(ta_direct_usable(blocks[i] + 64), 0);
            assert_true(ta_direct_give(blocks[i]));
            blocks[i] = NULL;
        }
    }
    for (int i = 0; i < BLOCKS; i++)
        assert_true(blocks[i] == NULL || ta_direct_give(blocks[i]));
    ta_direct_count(&count, &bytes);
    assert_int_equal(count, 0);
    assert_int_equal(bytes, 0);
}

int main(void)
{
    rig_install();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_mapping_is_exact_and_goes_at_once),
        cmocka_unit_test(alignments_beyond_a_page),
        cmocka_unit_test(the_table_finds_each_of_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
