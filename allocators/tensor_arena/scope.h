/* The activation ring: memory of a scope, bump-allocated, reset as a whole.
 *
 * 1. A ring is a chain of chunks, each a run of the page heap. Memory comes from the newest: the
 *    cursor moves up, in multiples of 64 bytes. Only success moves it, so a refusal leaves no
 * trace.
 * 2. A chunk that is too short grows where it is. Where it cannot, a new one follows, and the old
 * one gives back what lies above its cursor.
 * 3. A scope's end moves the cursor back to where its begin stood: O(1), and one step for each
 * chunk that came since. Between scopes inside another, the memory stays at hand; the end of the
 *    outermost gives it to the page heap, whose policy decides what stays resident.
 * 4. Scopes nested deeper than TA_SCOPE_DEPTH live as long as the one at that depth.
 *
 * Waste: less than 64 bytes an allocation, less than a step (64 KiB, untouched) a chunk. A ring
 * belongs to one thread: no locks but the heap's.
 */
#ifndef ALLOCATORS_TENSOR_ARENA_SCOPE_H
#define ALLOCATORS_TENSOR_ARENA_SCOPE_H

#include <stddef.h>
#include <stdint.h>

enum { TA_SCOPE_DEPTH = 32 };

struct ta_mark {
    uint32_t chunk;
    char *cursor;
};

struct ta_ring {
    uint32_t chunk; /* the newest; 0 = none */
    uint32_t depth; /* open scopes */
    char *cursor, *end;
    struct ta_mark marks[TA_SCOPE_DEPTH];
};

void ta_ring_begin(struct ta_ring *ring);
/* size > 0, align a power of two ≥ 64; NULL when refused. */
void *ta_ring_take(struct ta_ring *ring, size_t size, size_t align);
void ta_ring_end(struct ta_ring *ring);
/* Ends all scopes. */
void ta_ring_close(struct ta_ring *ring);
/* How far memory of the ring reaches behind a block in it: an upper bound for what is the block's.
 */
size_t ta_ring_reach(const void *block);

#endif
