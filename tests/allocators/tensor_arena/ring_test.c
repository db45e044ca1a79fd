/* The ring that threads share. */
#include "rig.h"

#include <fragbench/tensor_arena.h>

#include <errno.h>
#include <pthread.h>
#include <string.h>

#define PIECE ((size_t)192)

enum { THREADS = 4, PIECES = 1000 };

static struct fragbench_ring *ring;

static void a_request_that_does_not_fit_closes_nothing(void **state)
{
    (void)state;
    ring = fragbench_ring_open(1024);
    char *first = fragbench_ring_alloc(ring, 10, 10);
    assert_int_equal((uintptr_t)first % 64, 0);
    errno = 0;
    assert_null(fragbench_ring_alloc(ring, 1, 1000));
    assert_int_equal(errno, ENOMEM);
    assert_null(fragbench_ring_alloc(ring, SIZE_MAX / 2, 3));
    assert_int_equal(fragbench_ring_used(ring), 128);
    assert_ptr_equal(fragbench_ring_alloc(ring, 1, 896), first + 128); /* the last byte */
    assert_null(fragbench_ring_alloc(ring, 1, 1));
    fragbench_ring_reset(ring);
    assert_int_equal(fragbench_ring_used(ring), 0);
    assert_int_equal(fragbench_ring_peak(ring), 1024);
    assert_ptr_equal(fragbench_ring_alloc(ring, 1, 1), first);
    fragbench_ring_close(ring);
    fragbench_ring_close(NULL);
}

static void odd_capacities_and_none(void **state)
{
    (void)state;
    assert_null(fragbench_ring_open(SIZE_MAX));
    ring = fragbench_ring_open(0);
    assert_null(fragbench_ring_alloc(ring, 1, 1));
    fragbench_ring_close(ring);
    ring = fragbench_ring_open(100); /* a cache line and a piece of one */
    assert_non_null(fragbench_ring_alloc(ring, 1, 64));
    assert_null(fragbench_ring_alloc(ring, 1, 64));
    assert_non_null(fragbench_ring_alloc(ring, 1, 36));
    fragbench_ring_close(ring);
}

/* Takes pieces until there are none, and writes its number all over them. */
static void *take_pieces(void *number)
{
    size_t taken = 0;
    for (;;) {
        char *piece = fragbench_ring_alloc(ring, 1, PIECE);
        if (piece == NULL)
            return (void *)taken;
        memset(piece, (int)(uintptr_t)number, PIECE);
        taken++;
    }
}

static void threads_take_disjoint_pieces_and_all_of_them(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    size_t total = 0;
    ring = fragbench_ring_open(PIECES * PIECE);
    for (uintptr_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, take_pieces, (void *)(i + 1)), 0);
    for (int i = 0; i < THREADS; i++) {
        void *taken;
        assert_int_equal(pthread_join(threads[i], &taken), 0);
        total += (size_t)taken;
    }
    assert_int_equal(total, PIECES);
    assert_int_equal(fragbench_ring_used(ring), PIECES * PIECE);
    fragbench_ring_reset(ring);
    const char *bytes = fragbench_ring_alloc(ring, PIECES, PIECE);
    for (size_t i = 0; i < PIECES; i++)
        assert_memory_equal(bytes + i * PIECE, bytes + i * PIECE + 1, PIECE - 1);
    fragbench_ring_close(ring);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_that_does_not_fit_closes_nothing),
        cmocka_unit_test(odd_capacities_and_none),
        cmocka_unit_test(threads_take_disjoint_pieces_and_all_of_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
