/* Everything that has no scope: the inner allocator, or the bootstrap buffer while that is being
 * looked for. Errors: NULL. */
#ifndef ALLOCATORS_REQUEST_ARENA_PLAIN_H
#define ALLOCATORS_REQUEST_ARENA_PLAIN_H

#include <stddef.h>

/* align: a power of two from 16. */
void *fra_plain_allocate(size_t size, size_t align);
void *fra_plain_allocate_zeroed(size_t size);
void *fra_plain_resize(void *block, size_t size);
void fra_plain_release(void *block);
size_t fra_plain_usable(const void *block);
/* The inner allocator's own caches, where it has such a call. */
void fra_plain_purge(void);

#endif
