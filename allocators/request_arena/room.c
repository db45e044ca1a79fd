/* Short lives in one room: a bump allocator for what is born and dies with a request.
 *
 *  1. A thread has one room, made at its first scope and kept. A room has a stack of chunks of
 *     equal size (pool.c); one of them, the current, has the window from the cursor up to its end.
 *  2. An object goes to the cursor, rounded up to its alignment, behind a header of four bytes that
 *     holds its size: what realloc() and malloc_usable_size() need to know, and all that an object
 *     costs. This is done inline (fragbench/request_arena.h); only what the window cannot serve
 *     comes here.
 *  3. What does not fit takes a chunk more. Of the new chunk and the current one, the one with more
 *     room left is the current one from then on.
 *  4. A scope's begin notes the newest chunk, the current one and the cursor. Its end goes back to
 *     them, gives all newer chunks to the pool and frees what its objects have at the inner
 *     allocator. Both take constant time, but for the chunks and blocks that are given back.
 *  5. free() of an object is nothing. realloc() of the last object of the innermost scope moves the
 *     cursor; any other copies, and the copy belongs to the scope of the original.
 *  6. At the end of a request, its oldest chunk stays with the room, hot, for the next one.
 *  7. Larger objects than `large`, those over the request's cap and those for which there is no
 *     chunk go to the inner allocator, one by one, and are freed at the scope's end (spill.c).
 *     Objects over the cap may be refused instead.
 *  8. In debug mode the window is always closed, so everything comes here; each scope has chunks of
 *     its own, and at its end they are made inaccessible (pool.c).
 *
 * Waste: 4 bytes and less than its alignment an object; at the end of a chunk less than
 * min(large, chunk / 2), by rule 3; between requests one chunk a thread, as far as it was touched.
 * What dies before its scope is kept until the scope's end: that is what `cap` and the histogram of
 * peaks (record.c) are for.
 *
 * After D. R. Hanson, "Fast allocation and deallocation of memory based on object lifetimes",
 * Software: Practice and Experience 20(1), 1990, and the Rust crate bumpalo (N. Fitzgerald). Other
 * than bumpalo, which bumps downward, this one bumps upward: so that the last object can grow where
 * it is.
 */
#include "allocators/request_arena/room.h"

#include "allocators/preload/contract.h"
#include "allocators/request_arena/record.h"

_Thread_local struct fra_own fra_own;

static uintptr_t end_of(const struct fra_chunk *chunk)
{
    return fra_pool_base_of(chunk) + fra_settings.chunk_bytes;
}

/* The first place for an object from cursor on. */
static uintptr_t place_from(uintptr_t cursor, size_t align)
{
    uintptr_t mask = (uintptr_t)(align - 1) | (sizeof(uint32_t) - 1);
    return (cursor + sizeof(uint32_t) + mask) & ~mask;
}

static size_t bytes_in_chunks(const struct fra_room *room)
{
    return room->used_bytes + (fra_own.window.cursor - room->opened);
}

size_t fra_room_used(const struct fra_room *room)
{
    return room->depth == 0 ? 0 : bytes_in_chunks(room) + room->spilled_bytes;
}

void fra_room_note_peak(struct fra_room *room)
{
    size_t used = bytes_in_chunks(room) + room->spilled_bytes;
    if (used > room->peak_bytes)
        room->peak_bytes = used;
}

size_t fra_room_innermost(const struct fra_room *room)
{
    return room->depth < FRA_DEPTH_MAX ? room->depth : FRA_DEPTH_MAX;
}

void fra_room_aim(const struct fra_room *room)
{
    struct fragbench_request_window *window = &fra_own.window;
    uintptr_t limit = 0;
    if (room->current != NULL) {
        size_t used = bytes_in_chunks(room);
        size_t allowed = room->cap_bytes > used ? room->cap_bytes - used : 0;
        uintptr_t end = end_of(room->current);
        limit = allowed < end - window->cursor ? window->cursor + allowed : end;
    }
    window->limit = limit;
    window->large = fra_settings.debug ? 0 : fra_settings.large_bytes;
}

/* Makes chunk (or none) the current one, with its next object from cursor on, counting from opened.
 */
static void settle(struct fra_room *room, struct fra_chunk *chunk, uintptr_t opened,
                   uintptr_t cursor)
{
    room->used_bytes = bytes_in_chunks(room);
    room->current = chunk;
    room->opened = opened;
    fra_own.window.cursor = cursor;
}

static void begin_request(struct fra_room *room)
{
    uintptr_t base = room->top != NULL ? fra_pool_base_of(room->top) : 0;
    if (room->top != NULL)
        room->top->depth = 1;
    room->current = room->top;
    room->opened = base;
    fra_own.window.cursor = base;
    room->used_bytes = room->spilled_bytes = room->peak_bytes = 0;
    room->cap_bytes = atomic_load_explicit(&fra_settings.cap_bytes, memory_order_relaxed);
    room->refuse = atomic_load_explicit(&fra_settings.refuse, memory_order_relaxed);
}

void fra_room_begin(struct fra_room *room)
{
    fra_room_count(&room->counters.scopes, 1);
    if (++room->depth > FRA_DEPTH_MAX)
        return;
    if (room->depth == 1)
        begin_request(room);
    room->scopes[room->depth] = (struct fra_scope){.top = room->top,
                                                   .current = room->current,
                                                   .cursor = fra_own.window.cursor,
                                                   .used_bytes = bytes_in_chunks(room)};
    if (fra_settings.debug)
        settle(room, NULL, 0, 0);
    fra_room_aim(room);
}

/* Gives back the chunks that are newer than keep; at a request's end the oldest of all stays. */
static void give_newer(struct fra_room *room, struct fra_chunk *keep)
{
    bool may_stay = room->depth == 1 && keep == NULL && !fra_settings.debug;
    struct fra_chunk *first = room->top, *last = NULL, *chunk = first;
    while (chunk != keep && !(may_stay && chunk->below == NULL)) {
        last = chunk;
        chunk = chunk->below;
    }
    room->top = chunk;
    if (last != NULL)
        fra_pool_give(first, last);
}

static void end_request(struct fra_room *room)
{
    struct fra_spilled *adopted =
        atomic_exchange_explicit(&room->adopted, NULL, memory_order_acquire);
    (void)fra_spill_end(adopted);
    fra_own.window = (struct fragbench_request_window){0};
    room->opened = 0;
    fra_record_request(room->peak_bytes);
    fra_room_count(&room->counters.requests, 1);
    uint64_t requests = atomic_load_explicit(&room->counters.requests, memory_order_relaxed);
    if (requests % FRA_POOL_AGE_REQUESTS == 0)
        fra_pool_age();
}

void fra_room_end(struct fra_room *room)
{
    fra_room_note_peak(room);
    if (room->depth > FRA_DEPTH_MAX) {
        room->depth--;
        return;
    }
    struct fra_scope *scope = &room->scopes[room->depth];
    if (room->top != scope->top)
        give_newer(room, scope->top);
    if (scope->spilled != NULL)
        room->spilled_bytes -= fra_spill_end(scope->spilled);
    room->used_bytes = scope->used_bytes;
    room->current = scope->current;
    room->opened = fra_own.window.cursor = scope->cursor;
    if (--room->depth == 0)
        end_request(room);
    else
        fra_room_aim(room);
}

void fra_room_leave(struct fra_room *room)
{
    while (room->depth > 0)
        fra_room_end(room);
    if (room->top != NULL)
        fra_pool_give(room->top, room->top);
    room->top = room->current = NULL;
}

size_t fra_room_scope_of(const struct fra_room *room, const void *object)
{
    const struct fra_chunk *chunk = fra_pool_chunk_of((uintptr_t)object);
    size_t depth = fra_room_innermost(room);
    while (depth > chunk->depth) {
        const struct fra_scope *scope = &room->scopes[depth];
        if (scope->current == chunk && (uintptr_t)object >= scope->cursor)
            break;
        depth--;
    }
    return depth;
}

void *fra_room_spill(struct fra_room *room, size_t depth, size_t size, size_t align)
{
    struct fra_spilled **list = &room->scopes[depth].spilled;
    struct fra_spilled *spilled = fra_spill_new(room, (unsigned)depth, list, size, align);
    if (spilled == NULL) {
        fra_room_count(&room->counters.refused, 1);
        return NULL;
    }
    room->spilled_bytes += size;
    fra_room_count(&room->counters.spilled_bytes, size);
    fra_room_note_peak(room);
    return spilled->block;
}

static void *spill_innermost(struct fra_room *room, _Atomic uint64_t *reason, size_t size,
                             size_t align)
{
    fra_room_count(reason, 1);
    return fra_room_spill(room, fra_room_innermost(room), size, align);
}

static void *over_cap(struct fra_room *room, size_t size, size_t align)
{
    if (!room->refuse)
        return spill_innermost(room, &room->counters.spills, size, align);
    fra_room_count(&room->counters.refused, 1);
    return NULL;
}

static void *put(uintptr_t block, size_t size)
{
    *fra_room_header((void *)block) = (uint32_t)size;
    return (void *)block;
}

/* Rule 3. taken: the chunk's bytes up to the object's end. */
static void choose_current(struct fra_room *room, struct fra_chunk *chunk, size_t taken)
{
    uintptr_t base = fra_pool_base_of(chunk);
    size_t left = fra_settings.chunk_bytes - taken;
    if (room->current == NULL || left >= end_of(room->current) - fra_own.window.cursor)
        settle(room, chunk, base, base + taken);
    else
        room->used_bytes += taken;
    fra_room_aim(room);
}

static void *put_in_new_chunk(struct fra_room *room, size_t size, size_t align)
{
    uintptr_t offset = place_from(0, align);
    size_t taken = offset + size;
    if (offset >= fra_settings.chunk_bytes || taken > fra_settings.chunk_bytes)
        return spill_innermost(room, &room->counters.large, size, align);
    if (bytes_in_chunks(room) + taken > room->cap_bytes)
        return over_cap(room, size, align);
    struct fra_chunk *chunk = fra_pool_take(room);
    if (chunk == NULL)
        return spill_innermost(room, &room->counters.spills, size, align);
    chunk->below = room->top;
    chunk->depth = (unsigned)fra_room_innermost(room);
    room->top = chunk;
    choose_current(room, chunk, taken);
    return put(fra_pool_base_of(chunk) + offset, size);
}

void *fra_room_allocate(struct fra_room *room, size_t size, size_t align)
{
    if (fra_settings.debug && (align & (align - 1)) != 0)
        fba_panic("a scope was asked for an alignment that is no power of two");
    if (size > fra_settings.large_bytes)
        return spill_innermost(room, &room->counters.large, size, align);
    uintptr_t cursor = fra_own.window.cursor, block = place_from(cursor, align);
    if (room->current == NULL || block + size > end_of(room->current))
        return put_in_new_chunk(room, size, align);
    if (bytes_in_chunks(room) + (block + size - cursor) > room->cap_bytes)
        return over_cap(room, size, align);
    fra_own.window.cursor = block + size;
    return put(block, size);
}
