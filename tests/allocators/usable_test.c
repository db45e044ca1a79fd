/* A block's size out of glibc's chunk header: only where it was proven. */
#include "preload/usable.h"

#include <malloc.h>
#include <stdlib.h>

// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on

static unsigned asked;
static size_t lie;

static size_t counted(void *block)
{
    asked++;
    return malloc_usable_size(block) - lie;
}

static void open_over(bool glibc)
{
    fba_usable_open(counted, glibc);
    asked = 0;
    lie = 0;
}

static void ask_for(unsigned count, size_t size)
{
    for (unsigned i = 0; i < count; i++) {
        void *block = malloc(size);
        assert_int_equal(fba_usable_of(block), malloc_usable_size(block) - lie);
        free(block);
    }
}

static void asks_until_it_is_proven_then_reads(void **state)
{
    (void)state;
    open_over(true);
    ask_for(FBA_USABLE_PROOFS, 100);
    assert_int_equal(asked, FBA_USABLE_PROOFS);
    ask_for(1000, 100);
    assert_int_equal(asked, FBA_USABLE_PROOFS);
}

static void what_it_reads_is_what_glibc_says(void **state)
{
    (void)state;
    open_over(true);
    ask_for(FBA_USABLE_PROOFS, 100);
    for (size_t size = 1; size < 6000; size += 7)
        ask_for(1, size);
    for (size_t align = 32; align <= 8192; align *= 2) {
        void *block = memalign(align, 3000);
        assert_int_equal(fba_usable_of(block), malloc_usable_size(block));
        free(block);
    }
    assert_int_equal(asked, FBA_USABLE_PROOFS);
}

static void a_mapping_of_its_own_is_asked_for(void **state)
{
    (void)state;
    open_over(true);
    ask_for(FBA_USABLE_PROOFS, 100);
    ask_for(3, (size_t)64 << 20);
    assert_int_equal(asked, FBA_USABLE_PROOFS + 3);
}

static void mappings_prove_nothing(void **state)
{
    (void)state;
    open_over(true);
    ask_for(FBA_USABLE_PROOFS, (size_t)64 << 20);
    ask_for(1, 100);
    assert_int_equal(asked, FBA_USABLE_PROOFS + 1);
}

static void one_lie_is_enough_to_ask_for_ever(void **state)
{
    (void)state;
    open_over(true);
    ask_for(FBA_USABLE_PROOFS - 1, 100);
    lie = 1; /* as MALLOC_CHECK_ does */
    ask_for(1, 100);
    lie = 0;
    ask_for(2 * FBA_USABLE_PROOFS, 100);
    assert_int_equal(asked, 3 * FBA_USABLE_PROOFS);
}

static void others_are_never_read(void **state)
{
    (void)state;
    open_over(false);
    ask_for(2 * FBA_USABLE_PROOFS, 100);
    assert_int_equal(asked, 2 * FBA_USABLE_PROOFS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(asks_until_it_is_proven_then_reads),
        cmocka_unit_test(what_it_reads_is_what_glibc_says),
        cmocka_unit_test(a_mapping_of_its_own_is_asked_for),
        cmocka_unit_test(mappings_prove_nothing),
        cmocka_unit_test(one_lie_is_enough_to_ask_for_ever),
        cmocka_unit_test(others_are_never_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
