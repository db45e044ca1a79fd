/* What a thread has at hand: a short list of free blocks a size class, and its activation ring.
 *
 * A list's limit grows with the misses that it would have spared (as tcmalloc's do) and the limits
 * of one thread together stay within a budget: 128 KiB, or its share of 1/64 of the heap (2 MiB at
 * most). A thread's exit gives everything back; calls that a dying thread makes after that go
 * without a cache.
 */
#ifndef ALLOCATORS_TENSOR_ARENA_CACHE_H
#define ALLOCATORS_TENSOR_ARENA_CACHE_H

#include "tensor_arena/scope.h"
#include "tensor_arena/slab.h"

struct ta_bin_cache {
    struct ta_block *head;
    uint32_t count;
    uint32_t limit;
};

struct ta_cache {
    uint32_t index;        /* in the table; its free list runs through here */
    uint32_t victim;       /* class whose limit is taken next */
    uint32_t misses;       /* that found the budget spent */
    size_t promised_bytes; /* limit × size over all classes */
    struct ta_ring ring;
    struct ta_bin_cache bins[TA_CLASSES];
};

/* Of the calling thread, NULL before its first slow call and after its exit. */
extern __thread struct ta_cache *ta_cache_mine;

int ta_caches_open(void);
/* The calling thread's, made when there is none; NULL where it can have none. */
struct ta_cache *ta_cache_get(void);
/* The slow ways: an empty list, a full one. */
void *ta_cache_refill(uint32_t class);
void ta_cache_overflow(uint32_t class, void *freed);
/* Gives back the calling thread's lists. */
void ta_cache_flush(void);
/* In the child of a fork: the caches of the threads that are no more are forgotten; what was in
 * them is lost to the child (128 KiB a thread at most in a small process), since a list may be half
 * written. */
void ta_caches_forked(void);
void ta_caches_lock(void);
void ta_caches_unlock(void);
uint32_t ta_caches_count(void);

#endif
