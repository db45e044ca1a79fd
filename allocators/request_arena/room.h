/* A room: the arena of one thread, and the scopes that are open in it.
 *
 * Glossary: a request is an outermost scope; the window is the rest of the current chunk, where the
 * next object goes; a header is the four bytes before each object that hold its size.
 *
 * A room is made at a thread's first scope, kept for its later ones, and goes to another thread
 * when its own is gone. Only its own thread touches it, but for `adopted` and the counters, which
 * are atomic.
 */
#ifndef ALLOCATORS_REQUEST_ARENA_ROOM_H
#define ALLOCATORS_REQUEST_ARENA_ROOM_H

#include "allocators/request_arena/pool.h"
#include "allocators/request_arena/record.h"
#include "allocators/request_arena/spill.h"

#include <fragbench/request_arena.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Scopes that are deeper in each other than this are counted, and end with the deepest one of
 * these. */
#define FRA_DEPTH_MAX 31

/* Where the room stood when a scope began. */
struct fra_scope {
    struct fra_chunk *top;     /* the newest chunk; NULL = none */
    struct fra_chunk *current; /* the one with the window */
    uintptr_t cursor;
    size_t used_bytes;
    struct fra_spilled *spilled; /* this scope's blocks at the inner allocator */
};

/* Ever since the room was made, in the order of the statistics. Written by its thread only. */
struct fra_counters {
    _Atomic uint64_t scopes;   /* begun, nested ones too */
    _Atomic uint64_t requests; /* ended */
    _Atomic uint64_t large;    /* went to the inner allocator for their size */
    _Atomic uint64_t spills;   /* for the cap, or without a chunk */
    _Atomic uint64_t spilled_bytes;
    _Atomic uint64_t refused;
    _Atomic uint64_t moves; /* resized objects that had to be copied */
};

struct fra_room {
    struct fra_chunk *top, *current;
    uintptr_t opened;     /* the cursor up to which used_bytes counts */
    size_t used_bytes;    /* of the request, in chunks: objects, headers, padding; up to opened */
    size_t spilled_bytes; /* of the request, alive at the inner allocator */
    size_t peak_bytes;    /* of the request, or of the last one */
    size_t cap_bytes;     /* of the request */
    bool refuse;          /* what is over it */
    size_t depth;         /* open scopes; may exceed FRA_DEPTH_MAX */
    _Atomic(struct fra_spilled *) adopted; /* made by other threads for this request */
    unsigned requests_to_age;              /* since the pool was told last */
    struct fra_counters counters;
    struct fra_record record;
    struct fra_room *next; /* of all rooms */
    struct fra_room *next_idle;
    struct fra_scope scopes[FRA_DEPTH_MAX + 1]; /* [1 … depth]; [0] is not used */
};

/* What a thread has: on one cache line, in its thread-local storage. */
struct fra_own {
    _Alignas(64) struct fragbench_request_window window;
    struct fra_room *room; /* NULL before the first scope */
    size_t roomless;       /* open scopes for which there was no memory for a room */
};

/* A window that nothing fits into, and whose cursor is no object's. */
#define FRA_CLOSED ((struct fragbench_request_window){.cursor = 8})

extern _Thread_local struct fra_own fra_own __attribute__((tls_model("initial-exec")));

/* Begins or ends a scope of the calling thread. */
void fra_room_begin(struct fra_room *room);
void fra_room_end(struct fra_room *room);
/* Ends all scopes and gives back all chunks: the thread is going. */
void fra_room_leave(struct fra_room *room);
/* What the window could not serve. A scope is open. NULL = refused. */
void *fra_room_allocate(struct fra_room *room, size_t size, size_t align);
/* A block of the inner allocator for the open scope of that depth. NULL = refused. */
void *fra_room_spill(struct fra_room *room, size_t depth, size_t size, size_t align);
/* The depth of the innermost scope that is kept apart, ≥ 1 while one is open. */
size_t fra_room_innermost(const struct fra_room *room);

/* An object of the room's range, whichever room's: its size as it was asked for. */
static inline uint32_t *fra_room_header(const void *object)
{
    return &((uint32_t *)(uintptr_t)object)[-1];
}
#define FRA_FREED ((uint32_t)1 << 31) /* debug mode: freed already */

/* What an object of size takes from the cursor on: itself and the next one's header, by eights. */
static inline size_t fra_room_cost(size_t size)
{
    return (size + sizeof(uint32_t) + 7) & ~(size_t)7;
}

/* The open scope that object, of this room's chunks, belongs to. */
size_t fra_room_scope_of(const struct fra_room *room, const void *object);
/* Objects and blocks of the request now, in bytes. */
size_t fra_room_used(const struct fra_room *room);
void fra_room_note_peak(struct fra_room *room);
/* Where the next object may end at most; below the cursor when nothing fits. */
uintptr_t fra_room_limit(const struct fra_room *room);

/* Counts in a counter of its own thread. */
static inline void fra_room_count(_Atomic uint64_t *counter, uint64_t by)
{
    uint64_t now = atomic_load_explicit(counter, memory_order_relaxed);
    atomic_store_explicit(counter, now + by, memory_order_relaxed);
}

#endif
