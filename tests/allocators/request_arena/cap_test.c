/* Caps, the settings that the environment gives, and what the pool keeps. */
#include "arena.h"

#include "allocators/preload/contract.h"

#include <errno.h>

static void the_environment_is_read(void **state)
{
    (void)state;
    assert_int_equal(arena_stat("chunk_bytes"), 1 * MIB); /* 600 KiB, made a power of two */
    assert_int_equal(arena_stat("large_bytes"), 512 * KIB);
    assert_int_equal(arena_stat("cap_bytes"), 2 * MIB);
}

static void over_the_cap_objects_spill(void **state)
{
    (void)state;
    uint64_t spilled = arena_stat("spilled_calls");
    size_t in_room = 0, outside = 0;
    fragbench_scope_begin();
    for (unsigned i = 0; i < 40; i++) {
        char *block = fragbench_scope_alloc(100 * KIB, 16);
        assert_non_null(block);
        arena_fill(block, 100 * KIB, i);
        if (arena_in_room(block))
            in_room += 100 * KIB;
        else
            outside++;
    }
    assert_true(in_room <= 2 * MIB && in_room > 2 * MIB - 101 * KIB);
    assert_int_equal(arena_stat("spilled_calls") - spilled, outside);
    assert_true(fragbench_request_arena_used() >= 4000 * KIB);
    fragbench_scope_end();
    assert_true(fragbench_request_arena_peak() >= 4000 * KIB);
}

static void a_cap_holds_to_the_byte(void **state)
{
    (void)state;
    fragbench_request_arena_set_cap(1000, FRAGBENCH_REQUEST_REFUSE);
    uint64_t refused = arena_stat("refused_calls");
    fragbench_scope_begin();
    char *block = fragbench_scope_alloc(500, 4);
    assert_non_null(block);
    errno = 0;
    assert_null(fragbench_scope_alloc(493, 4)); /* 504 + 497 */
    assert_int_equal(errno, ENOMEM);
    char *rest = fragbench_scope_alloc(492, 4);
    assert_non_null(rest);
    assert_int_equal(fragbench_request_arena_used(), 1000);
    assert_null(fragbench_scope_alloc(1, 1));
    assert_null(fba_resize(rest, 493));
    assert_null(fba_resize(block, 501));
    assert_ptr_equal(fba_resize(rest, 400), rest);
    assert_non_null(fragbench_scope_alloc(80, 4));
    fragbench_scope_end();
    assert_int_equal(arena_stat("refused_calls") - refused, 4);
    assert_int_equal(fragbench_request_arena_peak(), 1000);
    fragbench_request_arena_set_cap(0, FRAGBENCH_REQUEST_SPILL);
}

static void a_cap_counts_all_nested_scopes(void **state)
{
    (void)state;
    fragbench_request_arena_set_cap(10 * KIB, FRAGBENCH_REQUEST_REFUSE);
    fragbench_scope_begin();
    assert_non_null(fragbench_scope_alloc(6 * KIB, 16));
    fragbench_scope_begin();
    assert_non_null(fragbench_scope_alloc(3 * KIB, 16));
    assert_null(fragbench_scope_alloc(3 * KIB, 16));
    fragbench_scope_end();
    assert_non_null(fragbench_scope_alloc(3 * KIB, 16));
    assert_null(fragbench_scope_alloc(3 * KIB, 16));
    fragbench_request_arena_set_cap(0, FRAGBENCH_REQUEST_SPILL);
    assert_null(fragbench_scope_alloc(3 * KIB, 16)); /* a request keeps the cap it began with */
    fragbench_scope_end();
}

/* Rule 3: an object that does not fit leaves the roomier chunk the current one. */
static void a_large_object_does_not_close_a_roomy_chunk(void **state)
{
    (void)state;
    fragbench_scope_begin();
    (void)fragbench_scope_alloc(100 * KIB, 16);
    (void)fragbench_scope_alloc(450 * KIB, 16);
    char *other = fragbench_scope_alloc(500 * KIB, 16); /* leaves 524 KiB of a new chunk */
    char *next = fragbench_scope_alloc(500 * KIB, 16);
    assert_true((uintptr_t)next / MIB == (uintptr_t)other / MIB);
    fragbench_scope_end();
    fragbench_scope_begin();
    char *small = fragbench_scope_alloc(100 * KIB, 16);
    (void)fragbench_scope_alloc(450 * KIB, 16);
    (void)fragbench_scope_alloc(300 * KIB, 16); /* 174 KiB are left */
    other = fragbench_scope_alloc(512 * KIB, 16);
    (void)fragbench_scope_alloc(400 * KIB, 16); /* leaves 112 KiB there */
    next = fragbench_scope_alloc(512 * KIB, 16);
    assert_true((uintptr_t)other / MIB != (uintptr_t)small / MIB);
    assert_true((uintptr_t)next / MIB != (uintptr_t)other / MIB);
    fragbench_scope_end();
}

static void use_chunks(size_t chunks)
{
    fragbench_scope_begin();
    for (size_t i = 0; i < 2 * chunks; i++)
        assert_non_null(fragbench_scope_alloc(500 * KIB, 16));
    fragbench_scope_end();
}

static void after_a_burst_the_pool_shrinks(void **state)
{
    (void)state;
    uint64_t given = arena_stat("given_back_chunks");
    use_chunks(40);
    assert_int_equal(arena_stat("pooled_chunks"), 39);
    for (int request = 0; request < 200; request++)
        use_chunks(4);
    assert_int_equal(arena_stat("given_back_chunks") - given, 36);
    assert_int_equal(arena_stat("pooled_chunks"), 3);
    given = arena_stat("given_back_chunks");
    for (int request = 0; request < 2000; request++)
        use_chunks(4);
    assert_int_equal(arena_stat("given_back_chunks"), given);
}

static void one_fat_request_leaves_a_bounded_pool(void **state)
{
    (void)state;
    use_chunks(200);
    assert_int_equal(arena_stat("pooled_chunks"), 50);
    assert_int_equal(arena_stat("held_chunks"), 1);
}

static void it_shrinks_even_if_no_request_needs_the_pool(void **state)
{
    (void)state;
    use_chunks(50);
    for (int request = 0; request < 2000; request++)
        use_chunks(1);
    assert_int_equal(arena_stat("pooled_chunks"), 0);
    assert_int_equal(arena_stat("held_chunks"), 1);
}

static void trim_gives_everything_back_that_rests(void **state)
{
    (void)state;
    use_chunks(10);
    assert_true(arena_stat("pooled_chunks") > 5);
    fragbench_request_arena_trim();
    assert_int_equal(arena_stat("pooled_chunks"), 0);
    fragbench_scope_begin();
    unsigned char *block = fragbench_scope_alloc(100, 16);
    assert_int_equal(block[0], 0); /* a new page of the system's */
    fragbench_scope_end();
}

int main(void)
{
    arena_set("CHUNK", "600KiB");
    arena_set("LARGE", "512KiB");
    arena_set("CAP", "2MiB");
    arena_set("ON_CAP", "spill");
    arena_set("POOL", "50MiB");
    arena_set("RANGE", "1GiB");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_environment_is_read),
        cmocka_unit_test(over_the_cap_objects_spill),
        cmocka_unit_test(a_cap_holds_to_the_byte),
        cmocka_unit_test(a_cap_counts_all_nested_scopes),
        cmocka_unit_test(a_large_object_does_not_close_a_roomy_chunk),
        cmocka_unit_test(after_a_burst_the_pool_shrinks),
        cmocka_unit_test(one_fat_request_leaves_a_bounded_pool),
        cmocka_unit_test(it_shrinks_even_if_no_request_needs_the_pool),
        cmocka_unit_test(trim_gives_everything_back_that_rests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
