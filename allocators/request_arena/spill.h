/* Blocks of a scope that do not lie in a room: too large, over the cap, or without a chunk to be
 * had.
 *
 * Each is a block of the inner allocator with a header before it. It belongs to a scope, whose end
 * frees it, and it stands in a table by its address, so that free(), realloc() and
 * malloc_usable_size() know it from blocks of the inner allocator's own.
 *
 * Threads: only the room's own thread frees or resizes one; another thread's free() is nothing (the
 * scope's end is near), its realloc() copies. So the lists of a scope need no lock, and the table
 * one a stripe.
 */
#ifndef ALLOCATORS_REQUEST_ARENA_SPILL_H
#define ALLOCATORS_REQUEST_ARENA_SPILL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fra_room;

struct fra_spilled {
    struct fra_spilled *newer, *older; /* in its scope's list */
    struct fra_spilled *chain;         /* in its bucket of the table */
    struct fra_room *room;
    size_t size;
    uint32_t front;    /* bytes from the inner allocator's block to the user's */
    uint32_t depth;    /* its scope; 0: made by another thread, see fra_room.adopted */
    atomic_bool ended; /* debug mode: its scope is over */
    _Alignas(16) char block[];
};

extern _Atomic size_t fra_spill_live;

/* Once, before the first scope. */
void fra_spill_open(void);

struct fra_spilled *fra_spill_look_up(const void *block);

/* The header of a spilled block, or NULL. Without any spilled block in the process it is one load:
 * who holds such a block sees a count of at least 1, for the count was raised before the block was
 * handed out. */
static inline struct fra_spilled *fra_spill_find(const void *block)
{
    if (__builtin_expect(atomic_load_explicit(&fra_spill_live, memory_order_relaxed) == 0, 1))
        return NULL;
    return fra_spill_look_up(block);
}

/* Puts it at the head of *list. size ≤ PTRDIFF_MAX, align a power of two. NULL when the inner
 * allocator refuses. */
struct fra_spilled *fra_spill_new(struct fra_room *room, unsigned depth, struct fra_spilled **list,
                                  size_t size, size_t align);
/* Not in any list, depth 0: for another thread's scope. */
struct fra_spilled *fra_spill_new_adopted(struct fra_room *room, size_t size);
/* Frees a block of *list. */
void fra_spill_free(struct fra_spilled *spilled, struct fra_spilled **list);
/* Resizes a block of *list, which may move; NULL leaves it as it was. */
struct fra_spilled *fra_spill_resize(struct fra_spilled *spilled, struct fra_spilled **list,
                                     size_t size);
/* Frees a list that is linked by older; returns the bytes it held, by their sizes. */
size_t fra_spill_end(struct fra_spilled *list);
/* What may be written into its block, ≥ its size. */
size_t fra_spill_usable(const struct fra_spilled *spilled);

void fra_spill_lock(void);
void fra_spill_unlock(void);

#endif
