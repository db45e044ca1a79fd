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

#include "trace/live.h"

#include <stdbool.h>
#include <stddef.h>

#define LIVE_EXPORT __attribute__((visibility("default")))
#define LIVE_TLS __thread __attribute__((tls_model("initial-exec")))

/* This thread's counters; NULL: not taken yet, or the thread is ending. */
extern LIVE_TLS struct fb_live_slot *fb_live_slot;

/* Takes a slot for the thread. Never NULL: a slot of no meaning where none can be had. */
struct fb_live_slot *fb_live_slot_take(void);
/* The allocator cannot tell sizes: said once, and nothing is counted. */
void fb_live_slots_blind(void);

/* A thread that is ending shares a slot, which needs locked additions. */
bool fb_live_add_late(size_t allocated_bytes, size_t freed_bytes);

static inline void fb_live_add(size_t allocated_bytes, size_t freed_bytes)
{
    struct fb_live_slot *slot = fb_live_slot;
    if (__builtin_expect(slot == NULL, 0)) {
        if (fb_live_add_late(allocated_bytes, freed_bytes))
            return;
        slot = fb_live_slot_take();
    }
    /* Only this thread writes: no locked instruction. */
    atomic_store_explicit(&slot->allocated_bytes,
                          atomic_load_explicit(&slot->allocated_bytes, memory_order_relaxed) +
                              allocated_bytes,
                          memory_order_release);
    atomic_store_explicit(&slot->freed_bytes,
                          atomic_load_explicit(&slot->freed_bytes, memory_order_relaxed) +
                              freed_bytes,
                          memory_order_release);
    atomic_store_explicit(&slot->calls,
                          atomic_load_explicit(&slot->calls, memory_order_relaxed) + 1,
                          memory_order_relaxed);
}

/* The next allocator's word on a block; 0 where it has none. */
size_t fb_live_usable(void *block);
/* Whether an object's function belongs to the allocator that answers malloc behind this library:
 * what it defines beside malloc does not come by malloc. */
bool fb_live_is_allocators(void *function);

#endif
