/* The size classes.
 *
 * Fine (default): 16 … 512 B in steps of 16, then 16 classes to a doubling up to 32 KiB. Rounding
 * costs less than 16 B or 1/16, on average half of that. Coarse: from 4 KiB on the ladder 4, 16,
 * 64, 256 KiB, 1 MiB of the article that asked for such an allocator, to measure it: rounding up to
 * 3/4.
 *
 * A slab holds blocks of one class, at most TA_SLAB_SLOTS; its pages are chosen so that what is
 * left at its end is at most 1/64, or the least there is.
 */
#ifndef ALLOCATORS_TENSOR_ARENA_CLASSES_H
#define ALLOCATORS_TENSOR_ARENA_CLASSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TA_FINE_CLASSES 128U
#define TA_CLASSES 133U
#define TA_NO_CLASS TA_CLASSES
#define TA_FINE_LIMIT ((size_t)32 << 10)
#define TA_QUICK_LIMIT ((size_t)4 << 10) /* below, a class is the same on both ladders */
#define TA_SLAB_SLOTS 512U

struct ta_class {
    uint32_t size;
    uint32_t reciprocal; /* ceil(2^32 / size): offset → slot */
    uint16_t slots;      /* of a slab */
    uint16_t pages;
    uint16_t batch;  /* blocks between a thread's cache and the slabs at once */
    uint16_t cached; /* blocks that one thread may cache */
};

extern struct ta_class ta_classes[TA_CLASSES];

/* Before anything else, once. */
void ta_classes_open(bool coarse);

/* size ≤ TA_FINE_LIMIT, > 0 */
static inline uint32_t ta_class_fine(size_t size)
{
    if (size <= 512)
        return (uint32_t)((size - 1) >> 4);
    uint32_t doubling = 63U - (uint32_t)__builtin_clzll(size - 1);
    return 32 + (doubling - 9) * 16 + (uint32_t)((size - 1) >> (doubling - 4)) - 16;
}

/* TA_NO_CLASS: such a block has pages of its own. */
uint32_t ta_class_of(size_t size, size_t align);

#endif
