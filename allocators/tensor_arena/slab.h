/* Slabs: contiguous pages with blocks of one size class.
 *
 * 1. A slab's free blocks are bits in its record, outside of the pages: a block that was never
 * handed out is never touched, and one freed twice is noticed.
 * 2. Blocks come from the class's current slab, lowest first, until it is full. Then the fullest of
 *    the others follows (in steps of a quarter), of some equals the lowest; only when there is
 *    none, a new one. So others empty.
 * 3. An empty slab goes back to the page heap at once; the heap's policy decides what stays
 * resident.
 *
 * Waste: a class never has more slots than the most of its blocks that ever lived at once, plus
 * one slab: for one size, holes are always reused (the case in which Robson's bound is 1). One lock
 * a class; order: class, then heap.
 */
#ifndef ALLOCATORS_TENSOR_ARENA_SLAB_H
#define ALLOCATORS_TENSOR_ARENA_SLAB_H

#include "tensor_arena/classes.h"
#include "tensor_arena/lock.h"
#include "tensor_arena/region.h"

/* What a free block holds: the next of its list. */
struct ta_block {
    struct ta_block *next;
};

int ta_slabs_open(void);
/* Up to `count` blocks of a class as a list; how many there are is returned, 0 = no memory. */
uint32_t ta_slabs_take(uint32_t class, uint32_t count, struct ta_block **list);
/* `count` blocks of one class, given back. */
void ta_slabs_give(uint32_t class, struct ta_block *list, uint32_t count);

/* For statistics: slabs there are, their slots, slots that are free in them. */
struct ta_slab_counts {
    uint64_t slabs, slots, free_slots;
};
void ta_slabs_count(struct ta_slab_counts *out);

void ta_slabs_lock(void);
void ta_slabs_unlock(void);

#endif
