/* The scope interface and the rest of what a program sees, but for statistics. */
#include "allocators/preload/contract.h"
#include "allocators/request_arena/plain.h"
#include "allocators/request_arena/room.h"
#include "allocators/request_arena/threads.h"

#include <errno.h>

FBA_EXPORT void fragbench_scope_begin(void)
{
    struct fra_room *room = fra_threads_room();
    if (room != NULL)
        fra_room_begin(room);
    else
        fra_own.roomless++;
}

FBA_EXPORT void fragbench_scope_end(void)
{
    struct fra_room *room = fra_own.room;
    if (room != NULL && room->depth > 0)
        fra_room_end(room);
    else if (fra_own.roomless > 0)
        fra_own.roomless--;
    else if (fra_settings.debug)
        fba_panic("a scope was ended that was not begun");
}

static void *allocate_outside(size_t size, size_t align)
{
    if (fra_own.roomless > 0 || size > PTRDIFF_MAX)
        return NULL; /* in a scope without a room, nothing would end the block with it */
    return fra_plain_allocate(size != 0 ? size : 1, align < 16 ? 16 : align);
}

static __attribute__((noinline)) void *allocate_slowly(size_t size, size_t align)
{
    struct fra_room *room = fra_own.room;
    void *block = room != NULL && room->depth > 0 ? fra_room_allocate(room, size, align)
                                                  : allocate_outside(size, align);
    if (block == NULL)
        errno = ENOMEM;
    return block;
}

FBA_EXPORT void *fragbench_scope_alloc(size_t size, size_t align)
{
    struct fragbench_request_window *window = &fra_own.window;
    /* The address in a register: by way of the segment register, the processor (seen on Zen 3) does
     * not forward the last call's cursor without a detour through its store queue. */
    __asm__("" : "+r"(window));
    if (__builtin_expect(align == 0, 0))
        align = 16;
    uintptr_t mask = (uintptr_t)align - 1;
    uintptr_t block = (window->cursor + mask) & ~mask;
    if (__builtin_expect(size > fra_settings.large_bytes || block + size > window->limit, 0))
        return allocate_slowly(size, align);
    window->cursor = block + fra_room_cost(size);
    *fra_room_header((void *)block) = (uint32_t)size;
    return (void *)block;
}

FBA_EXPORT struct fragbench_request_window *fragbench_request_arena_window(void)
{
    return &fra_own.window;
}

FBA_EXPORT void fragbench_request_arena_set_cap(size_t bytes, enum fragbench_request_over over)
{
    fra_threads_open(); /* the environment's cap must not come later */
    atomic_store_explicit(&fra_settings.cap_bytes, bytes == 0 ? SIZE_MAX : bytes,
                          memory_order_relaxed);
    atomic_store_explicit(&fra_settings.refuse, over == FRAGBENCH_REQUEST_REFUSE,
                          memory_order_relaxed);
}

FBA_EXPORT size_t fragbench_request_arena_used(void)
{
    const struct fra_room *room = fra_own.room;
    return room == NULL ? 0 : fra_room_used(room);
}

FBA_EXPORT size_t fragbench_request_arena_peak(void)
{
    struct fra_room *room = fra_own.room;
    if (room == NULL)
        return 0;
    if (room->depth > 0)
        fra_room_note_peak(room);
    return room->peak_bytes;
}

FBA_EXPORT void fragbench_request_arena_trim(void)
{
    const struct fra_room *room = fra_own.room;
    if (room != NULL && room->depth == 0 && room->top != NULL)
        fra_pool_discard(room->top);
    fra_pool_trim();
    fra_plain_purge();
}
