/* A few blocks for calls that come while the real malloc is being looked up: dlsym may allocate.
 * They are never given back: there are a handful of them. */
#include "preload/recorder_log.h"

#include <stdatomic.h>
#include <string.h>

#define ROOM_BYTES ((size_t)64 << 10)
#define HEADER_BYTES 16U /* before each block: its size */

static _Alignas(64) unsigned char room[ROOM_BYTES];
static _Atomic size_t used;

bool fb_bootstrap_owns(const void *block)
{
    return (const unsigned char *)block >= room && (const unsigned char *)block < room + ROOM_BYTES;
}

void *fb_bootstrap_alloc(size_t size, size_t align)
{
    if (align < HEADER_BYTES)
        align = HEADER_BYTES;
    if (size > ROOM_BYTES || align > ROOM_BYTES)
        return NULL;
    size_t claimed = size + align + HEADER_BYTES;
    size_t begin = atomic_fetch_add(&used, claimed);
    if (begin > ROOM_BYTES || claimed > ROOM_BYTES - begin)
        return NULL;
    uintptr_t at = ((uintptr_t)room + begin + HEADER_BYTES + align - 1) & ~(uintptr_t)(align - 1);
    memcpy((unsigned char *)at - HEADER_BYTES, &size, sizeof size);
    return (void *)at;
}

void *fb_bootstrap_move(void *block, size_t size, void *(*allocate)(size_t))
{
    size_t old = 0;
    memcpy(&old, (unsigned char *)block - HEADER_BYTES, sizeof old);
    void *moved = allocate != NULL ? allocate(size) : fb_bootstrap_alloc(size, HEADER_BYTES);
    if (moved != NULL)
        memcpy(moved, block, old < size ? old : size);
    return moved;
}
