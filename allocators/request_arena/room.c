/* Short lives in one room: a bump allocator for what is born and dies with a request.
 *
 *  1. A thread has one room, made at its first scope and kept. A room has a stack of chunks of
 *     equal size (pool.c); one of them, the current, has the window from the cursor up to its end.
 *  2. An object goes to the cursor, rounded up to its alignment, behind a header of four bytes that
 *     holds its size: what realloc() and malloc_usable_size() need to know. The cursor stays a
 *     multiple of 8, right behind the next object's header. This is done inline
 * (fragbench/request_arena.h); only what the window cannot serve comes here.
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
 * Waste: 4 bytes an object, and less than 8 or its alignment if larger; at the end of a chunk less
 * than min(large, chunk / 2), by rule 3; between requests one chunk a thread, as far as it was
 * touched. What dies before its scope is kept until the scope's end: that is what `cap` and the
 * histogram of peaks (record.c) are for.
 *
 * After D. R. Hanson, "Fast allocation and deallocation of memory based on object lifetimes",
 * Software: Practice and Experience 20(1), 1990, and the Rust crate bumpalo (N. Fitzgerald). Other
 * than bumpalo, which bumps downward, this one bumps upward: so that the last object can grow where
 * it is.
 */
#include "allocators/request_arena/room.h"

#include "allocators/preload/contract.h"

_Thread_local struct fra_own fra_own = {.window.cursor = 8 /* closed */};

#define HEADER_BYTES sizeof(uint32_t)
#define FIRST_OFFSET ((size_t)8) /* of a chunk's first object */

/* Where the cursor stands at most. */
static uintptr_t end_of(const struct fra_chunk *chunk)
{
    return fra_pool_base_of(chunk) + fra_settings.chunk_bytes;
}

static uintptr_t start_of(const struct fra_chunk *chunk)
{
    return fra_pool_base_of(chunk) + FIRST_OFFSET;
}

/* The first place for an object from cursor on. */
static uintptr_t place_from(uintptr_t cursor, size_t align)
{
    uintptr_t mask = (uintptr_t)align - 1;
    return (cursor + mask) & ~mask;
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

uintptr_t fra_room_limit(const struct fra_room *room)
{
    if (room->current == NULL)
        return 0;
    uintptr_t cursor = fra_own.window.cursor;
    size_t used = bytes_in_chunks(room), left = end_of(room->current) - cursor;
    size_t allowed = room->cap_bytes > used ? room->cap_bytes - used : 0;
    /* What an object takes is a multiple of 8: so the cursor stays within both, too. */
    return cursor + ((allowed < left ? allowed : left) & ~(size_t)7) - HEADER_BYTES;
}

/* After a change of chunk, cap or cursor. */
static void aim(const struct fra_room *room)
{
    fra_own.window.limit = fra_settings.debug ? 0 : fra_room_limit(room);
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
    uintptr_t start = room->top != NULL ? start_of(room->top) : FRA_CLOSED.cursor;
    if (room->top != NULL)
        room->top->depth = 1;
    room->current = room->top;
    room->opened = start;
    fra_own.window.cursor = start;
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
        /* cppcheck-suppress unknownEvaluationOrder ; constants */
        settle(room, NULL, FRA_CLOSED.cursor, FRA_CLOSED.cursor);
    aim(room);
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
    if (atomic_load_explicit(&room->adopted, memory_order_relaxed) != NULL)
        (void)fra_spill_end(atomic_exchange_explicit(&room->adopted, NULL, memory_order_acquire));
    fra_own.window = FRA_CLOSED;
    room->opened = FRA_CLOSED.cursor;
    fra_record_request(&room->record, room->peak_bytes);
    fra_room_count(&room->counters.requests, 1);
    if (++room->requests_to_age == FRA_POOL_AGE_REQUESTS) {
        room->requests_to_age = 0;
        fra_pool_age();
    }
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
        aim(room);
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

/* Rule 3. taken: the chunk's bytes that its first object needs. */
static void choose_current(struct fra_room *room, struct fra_chunk *chunk, size_t taken)
{
    uintptr_t start = start_of(chunk), cursor = start + taken;
    if (room->current == NULL ||
        end_of(chunk) - cursor >= end_of(room->current) - fra_own.window.cursor)
        settle(room, chunk, start, cursor);
    else
        room->used_bytes += taken;
    aim(room);
}

static void *put_in_new_chunk(struct fra_room *room, size_t size, size_t align)
{
    size_t offset = place_from(FIRST_OFFSET, align), end = offset + fra_room_cost(size);
    if (offset >= fra_settings.chunk_bytes || end > fra_settings.chunk_bytes)
        return spill_innermost(room, &room->counters.large, size, align);
    if (bytes_in_chunks(room) + end - FIRST_OFFSET > room->cap_bytes)
        return over_cap(room, size, align);
    struct fra_chunk *chunk = fra_pool_take(room);
    if (chunk == NULL)
        return spill_innermost(room, &room->counters.spills, size, align);
    chunk->below = room->top;
    chunk->depth = (unsigned)fra_room_innermost(room);
    room->top = chunk;
    choose_current(room, chunk, end - FIRST_OFFSET);
    return put(fra_pool_base_of(chunk) + offset, size);
}

void *fra_room_allocate(struct fra_room *room, size_t size, size_t align)
{
    if (fra_settings.debug && (align & (align - 1)) != 0)
        fba_panic("a scope was asked for an alignment that is no power of two");
    if (size > fra_settings.large_bytes)
        return spill_innermost(room, &room->counters.large, size, align);
    uintptr_t cursor = fra_own.window.cursor, block = place_from(cursor, align);
    uintptr_t end = block + fra_room_cost(size);
    if (room->current == NULL || end > end_of(room->current))
        return put_in_new_chunk(room, size, align);
    if (bytes_in_chunks(room) + (end - cursor) > room->cap_bytes)
        return over_cap(room, size, align);
    fra_own.window.cursor = end;
    return put(block, size);
}
