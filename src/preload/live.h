/* libfragbench-live.so: counts live bytes of any program, preloaded before the allocator.
 *
 *   live.c        the malloc family, handed on to the next in line
 *   live_new.c    C++'s operators, which allocators define themselves
 *   live_slots.c  the counters, one slot a thread in the harness's block
 *
 * The library never allocates. Counting is two loads and a store beside the question for the
 * block's size; where there is no block to count in it hands on and counts into the void.
 */
#ifndef FB_PRELOAD_LIVE_H
#define FB_PRELOAD_LIVE_H

#include "allocators/preload/usable.h"
#include "trace/live.h"

#include <stdbool.h>
#include <stddef.h>

#define LIVE_EXPORT __attribute__((visibility("default")))
#define LIVE_TLS __thread __attribute__((tls_model("initial-exec")))

/* This thread's counters; NULL: not taken yet, or the thread is ending. */
extern LIVE_TLS struct fb_live_slot *fb_live_slot;

/* Where nothing is counted: written to by many, read by nobody. */
extern struct fb_live_slot fb_live_nowhere;

/* Takes a slot for the thread. Never NULL: a slot of no meaning where none can be had. */
struct fb_live_slot *fb_live_slot_take(void);
/* The allocator cannot tell sizes: said once, and nothing is counted. */
void fb_live_slots_blind(void);

/* A thread that is ending shares a slot, which needs locked additions. */
bool fb_live_add_late(size_t allocated_bytes, size_t freed_bytes);

/* Only this thread writes: no locked instruction. Written after the counter that it follows, so
 * that a reader who takes `freed` first never sees a block freed and not allocated. */
static inline void fb_live_raise(_Atomic uint64_t *counter, uint64_t by)
{
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + by,
                          memory_order_release);
}

/* One function for blocks that come and one for those that go, each touching what it needs: inlined
 * into every call, a needless load and store is a tenth of the cost. */
static inline void fb_live_came(size_t bytes)
{
    struct fb_live_slot *slot = fb_live_slot;
    if (__builtin_expect(slot == NULL, 0)) {
        if (fb_live_add_late(bytes, 0))
            return;
        slot = fb_live_slot_take();
    }
    fb_live_raise(&slot->allocated_bytes, bytes);
    fb_live_raise(&slot->calls, 1);
}

static inline void fb_live_went(size_t bytes)
{
    struct fb_live_slot *slot = fb_live_slot;
    if (__builtin_expect(slot == NULL, 0)) {
        if (fb_live_add_late(0, bytes))
            return;
        slot = fb_live_slot_take();
    }
    fb_live_raise(&slot->freed_bytes, bytes);
    fb_live_raise(&slot->calls, 1);
}

/* A reallocation: one call. */
static inline void fb_live_moved(size_t before_bytes, size_t after_bytes)
{
    struct fb_live_slot *slot = fb_live_slot;
    fb_live_came(after_bytes);
    if (__builtin_expect(slot == NULL, 0))
        fb_live_went(before_bytes);
    else
        fb_live_raise(&slot->freed_bytes, before_bytes);
}

/* The next allocator's word on a block; 0 where it has none. */
static inline size_t fb_live_usable(void *block)
{
    return fba_usable_of(block);
}

/* Whether an object's function belongs to the allocator that answers malloc behind this library:
 * what it defines beside malloc does not come by malloc. */
bool fb_live_is_allocators(void *function);

#endif
