/* Scopes with the default settings: where objects go, what a scope's end does, what resizing does.
 */
#include "arena.h"

#include "allocators/preload/contract.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void objects_are_aligned_and_apart(void **state)
{
    (void)state;
    static const size_t aligns[] = {1, 2, 4, 8, 16, 32, 64, 4096, 0};
    unsigned char *blocks[9 * 40];
    size_t sizes[9 * 40], count = 0;
    fragbench_scope_begin();
    for (size_t round = 0; round < 40; round++) {
        for (size_t i = 0; i < 9; i++, count++) {
            sizes[count] = round * 7 + i;
            blocks[count] = fragbench_scope_alloc(sizes[count], aligns[i]);
            assert_non_null(blocks[count]);
            assert_true(arena_in_room(blocks[count]));
            assert_int_equal((uintptr_t)blocks[count] % (aligns[i] ? aligns[i] : 16), 0);
            assert_int_equal(fba_usable(blocks[count]), sizes[count]);
            arena_fill(blocks[count], sizes[count], (unsigned)count);
        }
    }
    for (size_t i = 0; i < count; i++)
        assert_true(arena_holds(blocks[i], sizes[i], (unsigned)i));
    fragbench_scope_end();
}

static void an_object_costs_four_bytes_by_eights(void **state)
{
    (void)state;
    fragbench_scope_begin();
    char *one = fragbench_scope_alloc(28, 1);
    char *two = fragbench_scope_alloc(29, 1);
    char *three = fragbench_scope_alloc(0, 1);
    char *four = fragbench_scope_alloc(1, 1);
    assert_int_equal(two - one, 32);
    assert_int_equal(three - two, 40);
    assert_int_equal(four - three, 8);
    assert_int_equal(fragbench_request_arena_used(), 88);
    fragbench_scope_end();
    assert_int_equal(fragbench_request_arena_used(), 0);
    assert_int_equal(fragbench_request_arena_peak(), 88);
}

static void the_inline_function_does_the_same(void **state)
{
    (void)state;
    struct fragbench_request_window *window = fragbench_request_arena_window();
    fragbench_scope_begin();
    char *first = fragbench_request_arena_alloc(window, 100, 8);
    char *second = fragbench_scope_alloc(100, 8);
    char *third = fragbench_request_arena_alloc(window, 100, 8);
    assert_int_equal(second - first, 104);
    assert_int_equal(third - second, 104);
    assert_int_equal(fba_usable(third), 100);
    char *large = fragbench_request_arena_alloc(window, 2000, 64); /* not inline any more */
    assert_true(arena_in_room(large));
    assert_int_equal((uintptr_t)large % 64, 0);
    fragbench_scope_end();
    void *outside = fragbench_request_arena_alloc(window, 100, 8);
    assert_false(arena_in_room(outside));
    free(outside);
}

static void the_next_request_uses_the_same_memory(void **state)
{
    (void)state;
    void *first = NULL;
    uint64_t chunks = 0;
    for (int request = 0; request < 1000; request++) {
        fragbench_scope_begin();
        void *block = fragbench_scope_alloc(64, 16);
        assert_true(request == 0 || block == first);
        first = block;
        for (int i = 0; i < 10000; i++)
            assert_non_null(fragbench_scope_alloc(100, 16));
        fragbench_scope_end();
        if (request == 0)
            chunks = arena_stat("most_chunks");
    }
    assert_true(chunks >= 4);
    assert_int_equal(arena_stat("most_chunks"), chunks);
    assert_int_equal(arena_stat("held_chunks"), 1);
    assert_int_equal(arena_stat("given_back_chunks"), 0);
}

static void an_inner_scope_gives_back_only_its_own(void **state)
{
    (void)state;
    fragbench_scope_begin();
    void *outer = fragbench_scope_alloc(1000, 16);
    arena_fill(outer, 1000, 1);
    void *inner[8];
    for (int pass = 0; pass < 8; pass++) {
        fragbench_scope_begin();
        inner[pass] = fragbench_scope_alloc(50 * KIB, 16);
        for (int i = 0; i < 20; i++)
            arena_fill(fragbench_scope_alloc(40 * KIB, 16), 40 * KIB, 7);
        assert_true(fragbench_request_arena_used() > 850 * KIB);
        fragbench_scope_end();
        assert_true(fragbench_request_arena_used() < 2 * KIB);
        assert_ptr_equal(inner[pass], inner[0]);
    }
    assert_true(arena_holds(outer, 1000, 1));
    fragbench_scope_end();
    assert_true(fragbench_request_arena_peak() > 850 * KIB);
}

static void scopes_nest_deeper_than_they_are_kept_apart(void **state)
{
    (void)state;
    enum { DEPTH = 500 };
    char *blocks[DEPTH];
    for (unsigned i = 0; i < DEPTH; i++) {
        fragbench_scope_begin();
        blocks[i] = fragbench_scope_alloc(500, 16);
        arena_fill(blocks[i], 500, i);
    }
    for (unsigned i = DEPTH; i-- > 0;) {
        assert_true(arena_holds(blocks[i], 500, i));
        fragbench_scope_end();
    }
    assert_int_equal(fragbench_request_arena_used(), 0);
    fragbench_scope_end(); /* one too many is nothing */
}

static void large_objects_are_the_inner_allocators(void **state)
{
    (void)state;
    uint64_t before = arena_stat("large_calls");
    fragbench_scope_begin();
    void *fits = fragbench_scope_alloc(64 * KIB, 16);
    void *large = fragbench_scope_alloc(64 * KIB + 1, 4096);
    assert_true(arena_in_room(fits));
    assert_false(arena_in_room(large));
    assert_int_equal((uintptr_t)large % 4096, 0);
    assert_true(fba_usable(large) >= 64 * KIB + 1);
    arena_fill(large, 64 * KIB + 1, 3);
    assert_true(arena_holds(large, 64 * KIB + 1, 3));
    assert_int_equal(fragbench_request_arena_used() / KIB, 128);
    void *freed = fragbench_scope_alloc(1 * MIB, 16);
    fba_release(freed); /* gives it back at once: only its own thread can */
    assert_int_equal(fragbench_request_arena_used() / KIB, 128);
    fragbench_scope_end(); /* a leak, or a second free, is the sanitizer's to find */
    assert_int_equal(arena_stat("large_calls") - before, 2);
}

static void free_is_nothing(void **state)
{
    (void)state;
    fragbench_scope_begin();
    char *one = fragbench_scope_alloc(100, 4);
    fba_release(one);
    char *two = fragbench_scope_alloc(100, 4);
    assert_int_equal(two - one, 104);
    fragbench_scope_end();
}

static void the_last_object_grows_where_it_is(void **state)
{
    (void)state;
    uint64_t moves = arena_stat("moved_realloc_calls");
    fragbench_scope_begin();
    (void)fragbench_scope_alloc(100, 16);
    char *block = fragbench_scope_alloc(10, 16);
    arena_fill(block, 10, 5);
    for (size_t size = 11; size <= 60 * KIB; size += 997)
        assert_ptr_equal(fba_resize(block, size), block);
    assert_true(arena_holds(block, 10, 5));
    assert_ptr_equal(fba_resize(block, 20), block);
    assert_int_equal(fba_usable(block), 20);
    char *next = fragbench_scope_alloc(1, 1);
    assert_int_equal(next - block, 24); /* what it shrank by is free again */
    assert_int_equal(arena_stat("moved_realloc_calls"), moves);
    fragbench_scope_end();
    assert_true(fragbench_request_arena_peak() > 59 * KIB);
}

static void other_objects_move_when_they_grow(void **state)
{
    (void)state;
    fragbench_scope_begin();
    char *block = fragbench_scope_alloc(100, 16);
    char *next = fragbench_scope_alloc(100, 16);
    arena_fill(block, 100, 1);
    arena_fill(next, 100, 2);
    assert_ptr_equal(fba_resize(block, 50), block);
    char *moved = fba_resize(block, 200);
    assert_ptr_not_equal(moved, block);
    assert_true(arena_in_room(moved));
    assert_true(arena_holds(moved, 100, 1));
    assert_true(arena_holds(next, 100, 2));
    char *large = fba_resize(moved, 1 * MIB);
    assert_false(arena_in_room(large));
    assert_true(arena_holds(large, 100, 1));
    arena_fill(large, 1 * MIB, 9);
    large = fba_resize(large, 3 * MIB);
    assert_true(arena_holds(large, 1 * MIB, 9));
    assert_int_equal(fragbench_request_arena_used() / MIB, 3);
    assert_null(fba_resize(large, (size_t)PTRDIFF_MAX));
    assert_true(arena_holds(large, 1 * MIB, 9));
    fragbench_scope_end();
}

/* A vector of the request that grows while a scope within it is open must not die with that one. */
static void what_grows_in_an_inner_scope_stays_with_its_own(void **state)
{
    (void)state;
    fragbench_scope_begin();
    char *last = fragbench_scope_alloc(100, 16);
    arena_fill(last, 100, 1);
    fragbench_scope_begin();
    char *inner = fba_resize(last, 5000); /* it is the last object, but not the inner scope's */
    arena_fill(fragbench_scope_alloc(200, 16), 200, 2);
    inner = fba_resize(inner, 9000);
    arena_fill(inner, 9000, 3);
    fragbench_scope_end();
    arena_fill(fragbench_scope_alloc(20000, 16), 20000, 4);
    assert_true(arena_holds(inner, 9000, 3));
    inner = fba_resize(inner, 12000);
    assert_true(arena_holds(inner, 9000, 3));
    fragbench_scope_end();
}

static void a_scope_of_many_chunks_keeps_its_marks(void **state)
{
    (void)state;
    enum { COUNT = 3000 };
    static char *blocks[COUNT];
    static size_t sizes[COUNT];
    unsigned dice = 1;
    fragbench_scope_begin();
    for (unsigned i = 0; i < COUNT; i++) {
        dice = dice * 1103515245U + 12345U;
        sizes[i] = (dice >> 16) % (i % 5 == 0 ? 64 * KIB : 300);
        blocks[i] = fragbench_scope_alloc(sizes[i], (size_t)1 << (dice >> 28));
        arena_fill(blocks[i], sizes[i], i);
        if (i % 100 == 50) {
            fragbench_scope_begin();
            for (size_t j = 0; j < 50; j++)
                memset(fragbench_scope_alloc(j * 700, 16), 255, j * 700);
            fragbench_scope_end();
        }
    }
    for (unsigned i = 0; i < COUNT; i++)
        assert_true(arena_holds(blocks[i], sizes[i], i));
    fragbench_scope_end();
}

static void impossible_sizes_are_refused(void **state)
{
    (void)state;
    static const size_t sizes[] = {SIZE_MAX, SIZE_MAX - 3, SIZE_MAX / 2, (size_t)PTRDIFF_MAX + 1};
    fragbench_scope_begin();
    for (size_t i = 0; i < 4; i++) {
        errno = 0;
        assert_null(fragbench_scope_alloc(sizes[i], 16));
        assert_int_equal(errno, ENOMEM);
    }
    assert_int_equal(fragbench_request_arena_used(), 0);
    fragbench_scope_end();
    errno = 0;
    assert_null(fragbench_scope_alloc(SIZE_MAX, 16));
    assert_int_equal(errno, ENOMEM);
}

static void peaks_are_counted_in_narrow_ranges(void **state)
{
    (void)state;
    struct fragbench_request_range *rows;
    size_t count = fragbench_request_arena_histogram(NULL, 0), hits = 0;
    rows = calloc(count, sizeof *rows);
    uint64_t *before = calloc(count, sizeof *before);
    assert_int_equal(fragbench_request_arena_histogram(rows, count), count);
    for (size_t i = 0; i < count; i++)
        before[i] = rows[i].requests;
    for (int i = 0; i < 5; i++) {
        fragbench_scope_begin();
        (void)fragbench_scope_alloc(20 * KIB, 4);
        fragbench_scope_end();
    }
    (void)fragbench_request_arena_histogram(rows, count);
    for (size_t i = 0; i < count; i++) {
        assert_true(i == 0 || rows[i].from_bytes == rows[i - 1].to_bytes);
        if (rows[i].requests == before[i])
            continue;
        hits++;
        assert_int_equal(rows[i].requests - before[i], 5);
        assert_true(rows[i].from_bytes <= 20 * KIB + 8 && 20 * KIB + 8 < rows[i].to_bytes);
        assert_true((rows[i].to_bytes - rows[i].from_bytes) * 8 <= rows[i].from_bytes);
    }
    assert_int_equal(hits, 1);
    free(before);
    free(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_next_request_uses_the_same_memory),
        cmocka_unit_test(objects_are_aligned_and_apart),
        cmocka_unit_test(an_object_costs_four_bytes_by_eights),
        cmocka_unit_test(the_inline_function_does_the_same),
        cmocka_unit_test(an_inner_scope_gives_back_only_its_own),
        cmocka_unit_test(scopes_nest_deeper_than_they_are_kept_apart),
        cmocka_unit_test(large_objects_are_the_inner_allocators),
        cmocka_unit_test(free_is_nothing),
        cmocka_unit_test(the_last_object_grows_where_it_is),
        cmocka_unit_test(other_objects_move_when_they_grow),
        cmocka_unit_test(what_grows_in_an_inner_scope_stays_with_its_own),
        cmocka_unit_test(a_scope_of_many_chunks_keeps_its_marks),
        cmocka_unit_test(impossible_sizes_are_refused),
        cmocka_unit_test(peaks_are_counted_in_narrow_ranges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
