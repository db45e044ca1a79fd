/* The live blocks of at least FB_SPOOL_BIG_BYTES, and how much of them is resident; and those few
 * of any size that were allocated for the recorder itself, as the loader does for a library's
 * variables of a thread: they are none of the program's.
 *
 * A table in memory of its own, behind a lock: such blocks are few and what is done with them
 * costs far more. A small filter answers for all others, at the price of one load a free.
 */
#ifndef FB_PRELOAD_RECORDER_BIG_H
#define FB_PRELOAD_RECORDER_BIG_H

#include "preload/recorder_log.h"

#include <limits.h>

#define FB_BIG_FILTER 4096U

extern _Atomic uint8_t fb_big_filter[FB_BIG_FILTER];

static inline size_t fb_big_place(const void *block)
{
    return (size_t)(((uint64_t)(uintptr_t)block * UINT64_C(0x9e3779b97f4a7c15)) >> 52);
}

/* Whether the block may be in the table. */
static inline bool fb_big_possible(const void *block)
{
    return atomic_load_explicit(&fb_big_filter[fb_big_place(block)], memory_order_relaxed) != 0;
}

/* A block was born: it gets fresh pages where FB_SPOOL_FRESH_VARIABLE asks for that. */
void fb_big_born(void *block, size_t size);
/* A block of the recorder's own. */
void fb_big_own(const void *block);
/* It is there, perhaps with what was in it before a realloc. */
void fb_big_add(const void *block, size_t size);
/* Forgets the block. Its resident share + 1 (FB_SPOOL_SHARES + 1 at the most), 0 when it is not in
 * the table, FB_BIG_OWN for one of the recorder's own. measure: false leaves the share out. */
#define FB_BIG_OWN UINT_MAX
unsigned fb_big_take(const void *block, bool measure);
/* Records the share of every block that is alive. */
void fb_big_note_all(struct fb_log_thread *thread);
/* In a process's first recorded call. In a child: what the parent had is none of its. */
void fb_big_open(void);
/* Of the table. */
size_t fb_big_bytes(void);

#endif
