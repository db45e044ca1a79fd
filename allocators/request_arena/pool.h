/* Chunks: one reserved range of address space, cut into chunks of equal size.
 *
 * A chunk belongs to one room at a time, or to the pool. The range is set aside once, at the first
 * scope of the process (a program without scopes never pays for it), and stays until its end: so
 * whether a pointer is one of ours is a subtraction and a compare, on any thread, without a lock.
 *
 * The pool's own data is kept in a table before the range, not in the chunks: a chunk that was
 * given back to the system costs no page, and one that holds nothing yet is all its room's.
 */
#ifndef ALLOCATORS_REQUEST_ARENA_POOL_H
#define ALLOCATORS_REQUEST_ARENA_POOL_H

#include "allocators/request_arena/settings.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fra_room;

struct fra_chunk {
    _Atomic(struct fra_room *) room; /* NULL: the pool's */
    struct fra_chunk *below; /* the next older one of its room, or the next of a pool list */
    unsigned depth;          /* the scope that took it: the room's business */
};

struct fra_range {
    _Atomic uintptr_t base;   /* written before bytes */
    _Atomic size_t bytes;     /* 0 = not set aside yet */
    struct fra_chunk *chunks; /* the table; written before bytes */
};

extern struct fra_range fra_range;

/* Whether block lies in a chunk. bytes is read first: no pair of an old base and a new length is
 * ever seen. */
static inline bool fra_pool_owns(const void *block)
{
    size_t bytes = atomic_load_explicit(&fra_range.bytes, memory_order_acquire);
    uintptr_t base = atomic_load_explicit(&fra_range.base, memory_order_relaxed);
    return (uintptr_t)block - base < bytes;
}

/* Only for addresses that the pool owns. */
static inline struct fra_chunk *fra_pool_chunk_of(uintptr_t address)
{
    uintptr_t base = atomic_load_explicit(&fra_range.base, memory_order_relaxed);
    return &fra_range.chunks[(address - base) >> fra_settings.chunk_shift];
}

static inline uintptr_t fra_pool_base_of(const struct fra_chunk *chunk)
{
    uintptr_t base = atomic_load_explicit(&fra_range.base, memory_order_relaxed);
    return base + ((uintptr_t)(chunk - fra_range.chunks) << fra_settings.chunk_shift);
}

/* A chunk for room, hot ones first; its content is anything. NULL when the system has no memory or
 * the range is used up. */
struct fra_chunk *fra_pool_take(struct fra_room *room);
/* Gives back the list of chunks from first down to last (by below). In debug mode their pages are
 * made inaccessible, and their addresses are not used again before the whole range was. */
void fra_pool_give(struct fra_chunk *first, struct fra_chunk *last);
/* Says that FRA_POOL_AGE_REQUESTS more requests of a thread have ended: a pool that nothing comes
 * back to grows older too. */
void fra_pool_age(void);
#define FRA_POOL_AGE_REQUESTS 64
/* Gives the pages of all the pool's chunks back to the system. */
void fra_pool_trim(void);
/* The pages of a chunk that its room keeps. */
void fra_pool_discard(const struct fra_chunk *chunk);

struct fra_pool_counts {
    size_t chunks;         /* ever put to use: the most at one time */
    size_t held;           /* by rooms now */
    size_t hot;            /* in the pool, pages in place */
    size_t discarded_ever; /* times that a chunk's pages were given back */
    size_t failures;       /* times that there was no chunk to be had */
};
void fra_pool_count(struct fra_pool_counts *out);

void fra_pool_lock(void);
void fra_pool_unlock(void);

#endif
