/* libfragbench-request-arena: short lives in one room.
 *
 * A program marks a request with fragbench_scope_begin() and fragbench_scope_end() (scope.h) and
 * takes the memory that lives and dies with it from fragbench_scope_alloc(), or from the inline
 * function below. Everything else it allocates as ever: plain malloc() is never drawn into the
 * room.
 *
 * Link with -lfragbench-request-arena, or preload the library. All sizes are bytes. Every function
 * may be called on any thread, none before main() is forbidden, and none of them allocates.
 */
#ifndef FRAGBENCH_REQUEST_ARENA_H
#define FRAGBENCH_REQUEST_ARENA_H

#include <fragbench/scope.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The open part of the calling thread's current chunk. Read it only through
 * fragbench_request_arena_alloc(); never write it. Closed (no object fits) outside a scope. */
struct fragbench_request_window {
    uintptr_t cursor; /* where the next object goes: a multiple of 8, its header is right before */
    uintptr_t limit;  /* no object may end beyond */
};

/* Larger objects are never allocated inline, so the compare is with a constant. */
#define FRAGBENCH_REQUEST_INLINE_BYTES ((size_t)1024)

/* The calling thread's window: the same pointer for all of the thread's life, whatever scopes it
 * opens and ends; never NULL. No other thread may use it. */
struct fragbench_request_window *fragbench_request_arena_window(void);

/* As fragbench_scope_alloc(), inlined, without looking up thread-local storage: align is a power of
 * two from 1 (0 is not allowed here). With a constant align up to 8, the next call waits for
 * nothing but one addition: what an object takes is worked out from its size, which is known early.
 */
static inline void *fragbench_request_arena_alloc(struct fragbench_request_window *window,
                                                  size_t size, size_t align)
{
    uintptr_t mask = (uintptr_t)align - 1;
    uintptr_t block = align <= 8 ? window->cursor : (window->cursor + mask) & ~mask;
    if (__builtin_expect(size > FRAGBENCH_REQUEST_INLINE_BYTES || block + size > window->limit, 0))
        return fragbench_scope_alloc(size, align);
    if (block == 0)
        __builtin_unreachable(); /* so that the caller's check for NULL costs nothing here */
    window->cursor = block + ((size + sizeof(uint32_t) + 7) & ~(size_t)7);
    ((uint32_t *)block)[-1] = (uint32_t)size;
    return (void *)block;
}

/* What happens to a request that would go over its cap. */
enum fragbench_request_over {
    FRAGBENCH_REQUEST_SPILL =
        0, /* single objects of the inner allocator, freed at the scope's end */
    FRAGBENCH_REQUEST_REFUSE = 1 /* NULL with errno ENOMEM */
};

/* The most bytes of the room that one request may take, 0 = no cap (the default), from the next
 * request on, on all threads. What goes to the inner allocator for its size is not counted. */
void fragbench_request_arena_set_cap(size_t bytes, enum fragbench_request_over over);

/* Bytes that the calling thread's open request takes now: the room's, with headers and padding, and
 * those at the inner allocator. 0 outside a request. */
size_t fragbench_request_arena_used(void);
/* The most that the open request took so far or, outside one, that the thread's last request took.
 */
size_t fragbench_request_arena_peak(void);

/* Requests by their peak: one row a range of sizes, smallest first. */
struct fragbench_request_range {
    uint64_t from_bytes; /* including */
    uint64_t to_bytes;   /* excluding; the last row ends at UINT64_MAX */
    uint64_t requests;   /* that ended since the program's start, on all threads */
};
/* Fills at most count rows; returns how many there are (always the same number). Rows are at most
 * 12.5 % wide from 1 KiB to 1 TiB. */
size_t fragbench_request_arena_histogram(struct fragbench_request_range *out, size_t count);

/* Gives all chunks back to the system that no request holds (those that other threads keep for
 * their next request stay), and asks the inner allocator for the same. */
void fragbench_request_arena_trim(void);

#ifdef __cplusplus
}
#endif

#endif
