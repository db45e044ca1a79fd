/* The ladders: what rounding costs, and that every slot is found again. */
#include "rig.h"

#include "allocators/tensor_arena/classes.h"
#include "allocators/tensor_arena/region.h"

static void fine_rounding_is_small(void **state)
{
    (void)state;
    ta_classes_open(false);
    for (size_t size = 1; size <= TA_FINE_LIMIT; size++) {
        uint32_t class = ta_class_fine(size);
        size_t rounded = ta_classes[class].size;
        assert_true(rounded >= size);
        assert_true(rounded - size < 16 || (rounded - size) * 16 < size);
        assert_true(class == 0 || ta_classes[class - 1].size < size);
    }
}

/* The last page of a block that has pages of its own is at least so full. */
static void pages_of_their_own_are_full(void **state)
{
    (void)state;
    ta_classes_open(false);
    for (size_t size = 1; size <= TA_FINE_LIMIT; size++) {
        size_t rest = (TA_PAGE - size % TA_PAGE) % TA_PAGE;
        if (ta_class_of(size, 16) == TA_NO_CLASS)
            assert_true(size >= 8192 && rest * 32 <= size);
    }
    assert_int_equal(ta_class_of(16384, 16), TA_NO_CLASS);
    assert_int_equal(ta_class_of(TA_FINE_LIMIT + 1, 16), TA_NO_CLASS);
}

static void alignments_are_kept(void **state)
{
    (void)state;
    ta_classes_open(false);
    for (size_t align = 16; align <= TA_PAGE; align *= 2) {
        for (size_t size = 1; size <= TA_FINE_LIMIT; size += 13) {
            uint32_t class = ta_class_of(size, align);
            if (class != TA_NO_CLASS) {
                assert_int_equal(ta_classes[class].size % align, 0);
                assert_true(ta_classes[class].size >= size);
            }
        }
    }
    assert_int_equal(ta_class_of(100, 2 * TA_PAGE), TA_NO_CLASS);
}

static void slabs_waste_little_and_slots_are_found(void **state)
{
    (void)state;
    ta_classes_open(false);
    for (uint32_t i = 0; i < TA_CLASSES; i++) {
        const struct ta_class *class = &ta_classes[i];
        size_t bytes = class->pages * TA_PAGE;
        assert_in_range(class->slots, 8, TA_SLAB_SLOTS);
        assert_true(class->slots * (size_t) class->size <= bytes);
        assert_true((bytes - class->slots * (size_t) class->size) * 32 <= bytes);
        for (uint64_t slot = 0; slot < class->slots; slot++)
            assert_int_equal(slot * class->size * class->reciprocal >> 32, slot);
    }
}

/* The article's ladder: 4, 16, 64, 256 KiB and 1 MiB; up to three quarters are rounding. */
static void the_coarse_ladder_is_the_articles(void **state)
{
    (void)state;
    static const struct {
        size_t size, rounded;
    } rows[] = {{4096, 4096},    {4097, 16384},     {16385, 65536},
                {65537, 262144}, {262145, 1048576}, {1048576, 1048576}};
    ta_classes_open(true);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint32_t class = ta_class_of(rows[i].size, 64);
        assert_true(class < TA_CLASSES);
        assert_int_equal(ta_classes[class].size, rows[i].rounded);
    }
    assert_int_equal(ta_class_of(1048577, 16), TA_NO_CLASS);
    assert_int_equal(ta_classes[ta_class_of(4000, 16)].size, 4096);
    ta_classes_open(false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fine_rounding_is_small),
        cmocka_unit_test(pages_of_their_own_are_full),
        cmocka_unit_test(alignments_are_kept),
        cmocka_unit_test(slabs_waste_little_and_slots_are_found),
        cmocka_unit_test(the_coarse_ladder_is_the_articles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
