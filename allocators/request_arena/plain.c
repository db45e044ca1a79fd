#include "allocators/request_arena/plain.h"

#include "allocators/preload/inner.h"

#include <stdint.h>
#include <string.h>

#define PLAIN_ALIGN ((size_t)16) /* what malloc gives by itself, from that size on */

/* Below, jemalloc, tcmalloc and mimalloc align to 8 only; glibc's smallest block is 24 bytes
 * anyway. */
static inline size_t at_least(size_t size)
{
    return size < PLAIN_ALIGN ? PLAIN_ALIGN : size;
}

void *fra_plain_allocate(size_t size, size_t align)
{
    const struct fba_inner *inner = fba_inner();
    if (__builtin_expect(inner == NULL, 0))
        return fba_bootstrap_allocate(size, align);
    if (__builtin_expect(align <= PLAIN_ALIGN, 1))
        return inner->malloc(at_least(size));
    void *block = NULL;
    return inner->posix_memalign(&block, align, size) == 0 ? block : NULL;
}

void *fra_plain_allocate_zeroed(size_t size)
{
    const struct fba_inner *inner = fba_inner();
    if (__builtin_expect(inner == NULL, 0))
        return fba_bootstrap_allocate(size, PLAIN_ALIGN);
    return inner->calloc(1, at_least(size));
}

static void *leave_bootstrap(void *block, size_t size)
{
    void *moved = fra_plain_allocate(size, PLAIN_ALIGN);
    size_t old = fba_bootstrap_usable(block);
    if (moved != NULL)
        memcpy(moved, block, old < size ? old : size);
    return moved;
}

void *fra_plain_resize(void *block, size_t size)
{
    if (__builtin_expect(fba_inner_owns_bootstrap(block), 0))
        return leave_bootstrap(block, size);
    return fba_inner()->realloc(block, at_least(size));
}

void fra_plain_release(void *block)
{
    if (__builtin_expect(fba_inner_owns_bootstrap(block), 0))
        return;
    fba_inner()->free(block);
}

size_t fra_plain_usable(const void *block)
{
    if (__builtin_expect(fba_inner_owns_bootstrap(block), 0))
        return fba_bootstrap_usable(block);
    return fba_inner()->malloc_usable_size((void *)(uintptr_t)block);
}

void fra_plain_purge(void)
{
    const struct fba_inner *inner = fba_inner();
    if (inner != NULL && inner->purge != NULL)
        inner->purge();
}
