/* Direct mappings: blocks that the kernel maps and unmaps one by one.
 *
 * From `direct` on (by default nothing is: runs of the page heap are given back the same way and
 * can be kept), and for whatever the region has no room for. Resized by mremap, returned at once.
 * Found by a hash table of their addresses (linear probing, at most half full, deletion by shifting
 * back).
 */
#ifndef ALLOCATORS_TENSOR_ARENA_DIRECT_H
#define ALLOCATORS_TENSOR_ARENA_DIRECT_H

#include "tensor_arena/lock.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zeroed; NULL when refused. */
void *ta_direct_take(size_t size, size_t align);
/* false: no such block. */
bool ta_direct_give(void *block);
/* NULL: not possible, or no such block; nothing changed. */
void *ta_direct_resize(void *block, size_t size);
/* 0: no such block. */
size_t ta_direct_usable(const void *block);

void ta_direct_count(uint64_t *blocks, uint64_t *bytes);
void ta_direct_lock(void);
void ta_direct_unlock(void);

#endif
