/* A ring for several threads: a fixed piece of memory and a cursor.
 *
 * The cursor moves by compare-and-swap, only when the request fits: the article's fetch_add moves
 * it in any case, so that one request that is too large closes the ring for all that would still
 * fit.
 */
#include "fragbench/tensor_arena.h"
#include "preload/contract.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>

enum { ALIGN = 64 };

struct fragbench_ring {
    _Atomic size_t used;
    _Atomic size_t peak;
    size_t capacity;
    char *memory;
};

static void *refuse(void)
{
    errno = ENOMEM;
    return NULL;
}

FBA_EXPORT struct fragbench_ring *fragbench_ring_open(size_t capacity)
{
    if (capacity > PTRDIFF_MAX - ALIGN)
        return refuse();
    fba_open();
    struct fragbench_ring *ring = fba_allocate(sizeof *ring, ALIGN);
    char *memory = ring != NULL ? fba_allocate(capacity != 0 ? capacity : 1, ALIGN) : NULL;
    if (memory == NULL) {
        if (ring != NULL)
            fba_release(ring);
        return refuse();
    }
    atomic_init(&ring->used, 0);
    atomic_init(&ring->peak, 0);
    ring->capacity = capacity;
    ring->memory = memory;
    return ring;
}

static void raise_peak(struct fragbench_ring *ring, size_t used)
{
    size_t peak = atomic_load_explicit(&ring->peak, memory_order_relaxed);
    while (peak < used && !atomic_compare_exchange_weak_explicit(
                              &ring->peak, &peak, used, memory_order_relaxed, memory_order_relaxed))
        continue;
}

FBA_EXPORT void *fragbench_ring_alloc(struct fragbench_ring *ring, size_t count, size_t size)
{
    size_t total;
    if (__builtin_mul_overflow(count, size, &total) || total > ring->capacity)
        return refuse();
    size_t rounded = (total + ALIGN - 1) & ~(size_t)(ALIGN - 1), next;
    size_t used = atomic_load_explicit(&ring->used, memory_order_relaxed);
    do {
        size_t left = ring->capacity - used;
        if (total > left)
            return refuse();
        next = used + (rounded < left ? rounded : left);
    } while (!atomic_compare_exchange_weak_explicit(&ring->used, &used, next, memory_order_acquire,
                                                    memory_order_relaxed));
    raise_peak(ring, next);
    return ring->memory + used;
}

FBA_EXPORT void fragbench_ring_reset(struct fragbench_ring *ring)
{
    atomic_store_explicit(&ring->used, 0, memory_order_release);
}

FBA_EXPORT size_t fragbench_ring_used(const struct fragbench_ring *ring)
{
    return atomic_load_explicit(&ring->used, memory_order_relaxed);
}

FBA_EXPORT size_t fragbench_ring_peak(const struct fragbench_ring *ring)
{
    return atomic_load_explicit(&ring->peak, memory_order_relaxed);
}

FBA_EXPORT void fragbench_ring_close(struct fragbench_ring *ring)
{
    if (ring == NULL)
        return;
    fba_release(ring->memory);
    fba_release(ring);
}
