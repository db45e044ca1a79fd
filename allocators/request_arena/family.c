/* The malloc family (preload/contract.h) over three kinds of blocks: objects of a room, known by
 * their address (pool.h); spilled blocks of a scope, known by the table (spill.c); and all others,
 * which are the inner allocator's. Only the scope interface makes the first two. */
#include "allocators/preload/contract.h"
#include "allocators/request_arena/plain.h"
#include "allocators/request_arena/room.h"
#include "allocators/request_arena/threads.h"

#include <string.h>

void fba_open(void)
{
    fra_threads_open();
}

void *fba_allocate(size_t size, size_t align)
{
    return fra_plain_allocate(size, align);
}

void *fba_allocate_zeroed(size_t size)
{
    return fra_plain_allocate_zeroed(size);
}

static struct fra_room *room_of(const void *object)
{
    const struct fra_chunk *chunk = fra_pool_chunk_of((uintptr_t)object);
    return atomic_load_explicit(&chunk->room, memory_order_relaxed);
}

/* Debug mode: object is given up. Several threads may try. */
static void check_and_mark(void *object)
{
    if (room_of(object) == NULL)
        fba_panic("a pointer was freed after its scope ended");
    uint32_t *header = fra_room_header(object);
    uint32_t size = __atomic_fetch_or(header, FRA_FREED, __ATOMIC_RELAXED);
    if ((size & FRA_FREED) != 0)
        fba_panic("an object of a scope was freed twice");
    uintptr_t offset = (uintptr_t)object & (fra_settings.chunk_bytes - 1);
    if (size > fra_settings.chunk_bytes - offset)
        fba_panic("a pointer was freed that is no object of its scope");
}

static void release_spilled(struct fra_spilled *spilled)
{
    if (atomic_load_explicit(&spilled->ended, memory_order_relaxed))
        fba_panic("a pointer was freed after its scope ended");
    struct fra_room *room = spilled->room;
    if (room != fra_own.room || spilled->depth == 0)
        return; /* the scope's end frees it */
    room->spilled_bytes -= spilled->size;
    fra_spill_free(spilled, &room->scopes[spilled->depth].spilled);
}

void fba_release(void *block)
{
    if (__builtin_expect(fra_pool_owns(block), 0)) {
        if (fra_settings.debug)
            check_and_mark(block);
        return;
    }
    struct fra_spilled *spilled = fra_spill_find(block);
    if (__builtin_expect(spilled != NULL, 0))
        release_spilled(spilled);
    else
        fra_plain_release(block);
}

/* Another thread resizes a block of room's request: it cannot enter that room, but the copy belongs
 * to the request all the same. */
static void *copy_for(struct fra_room *room, const void *block, size_t old, size_t size)
{
    struct fra_spilled *copy = fra_spill_new_adopted(room, size);
    if (copy == NULL)
        return NULL;
    memcpy(copy->block, block, old < size ? old : size);
    copy->older = atomic_load_explicit(&room->adopted, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&room->adopted, &copy->older, copy,
                                                  memory_order_release, memory_order_relaxed))
        continue;
    return copy->block;
}

static void *resize_spilled(struct fra_spilled *spilled, size_t size)
{
    if (atomic_load_explicit(&spilled->ended, memory_order_relaxed))
        fba_panic("a pointer was resized after its scope ended");
    struct fra_room *room = spilled->room;
    size_t old = spilled->size;
    if (room != fra_own.room || spilled->depth == 0)
        return size <= old ? spilled->block : copy_for(room, spilled->block, old, size);
    struct fra_spilled *moved =
        fra_spill_resize(spilled, &room->scopes[spilled->depth].spilled, size);
    if (moved == NULL)
        return NULL;
    room->spilled_bytes += size - old; /* may wrap on its way down */
    fra_room_note_peak(room);
    return moved->block;
}

/* Whether the cursor may move for object: it ends there, and it is the innermost scope's. */
static bool is_last(const struct fra_room *room, const void *object, size_t size)
{
    return (uintptr_t)object + fra_room_cost(size) == fra_own.window.cursor &&
           fra_pool_chunk_of((uintptr_t)object) == room->current &&
           fra_room_scope_of(room, object) == fra_room_innermost(room);
}

static bool resize_in_place(struct fra_room *room, void *object, size_t old, size_t size)
{
    if (!is_last(room, object, old))
        return size <= old;
    if (size > fra_settings.large_bytes || (uintptr_t)object + size > fra_room_limit(room))
        return size <= old;
    fra_room_note_peak(room);
    fra_own.window.cursor = (uintptr_t)object + fra_room_cost(size);
    *fra_room_header(object) = (uint32_t)size;
    return true;
}

static void *move_object(struct fra_room *room, void *object, size_t old, size_t size)
{
    size_t depth = fra_room_scope_of(room, object);
    void *moved = depth == fra_room_innermost(room) ? fra_room_allocate(room, size, 16)
                                                    : fra_room_spill(room, depth, size, 16);
    if (moved == NULL)
        return NULL;
    memcpy(moved, object, old);
    fra_room_count(&room->counters.moves, 1);
    if (fra_settings.debug)
        check_and_mark(object);
    return moved;
}

static void *resize_object(void *object, size_t size)
{
    struct fra_room *room = room_of(object);
    if (room == NULL)
        fba_panic("a pointer was resized after its scope ended");
    size_t old = *fra_room_header(object);
    if ((old & FRA_FREED) != 0)
        fba_panic("an object of a scope was resized after it was freed");
    if (room != fra_own.room)
        return size <= old ? object : copy_for(room, object, old, size);
    if (resize_in_place(room, object, old, size))
        return object;
    return move_object(room, object, old, size);
}

void *fba_resize(void *block, size_t size)
{
    if (__builtin_expect(fra_pool_owns(block), 0))
        return resize_object(block, size);
    struct fra_spilled *spilled = fra_spill_find(block);
    return __builtin_expect(spilled != NULL, 0) ? resize_spilled(spilled, size)
                                                : fra_plain_resize(block, size);
}

size_t fba_usable(const void *block)
{
    if (__builtin_expect(fra_pool_owns(block), 0)) {
        if (room_of(block) == NULL)
            fba_panic("a pointer was looked at after its scope ended");
        return *fra_room_header(block) & ~FRA_FREED;
    }
    const struct fra_spilled *spilled = fra_spill_find(block);
    return __builtin_expect(spilled != NULL, 0) ? fra_spill_usable(spilled)
                                                : fra_plain_usable(block);
}

/* In the order in which they may be taken within each other. */
void fba_fork_prepare(void)
{
    fra_threads_lock();
    fra_pool_lock();
    fra_spill_lock();
}

void fba_fork_parent(void)
{
    fra_spill_unlock();
    fra_pool_unlock();
    fra_threads_unlock();
}

void fba_fork_child(void)
{
    fba_fork_parent(); /* the locks are this thread's, and it is the one that lives on */
}
