/* What libfragbench-live.so and the harness share: counters of live bytes, one cache line a thread.
 *
 * A memfd of the harness, opened by the library through the path in FB_LIVE_VARIABLE
 * (/proc/PID/fd/N: nothing to clean up, and exec'd children find it again). A slot belongs to a
 * thread of the process `owner` and only that thread adds to it, without locked instructions. A
 * thread that ends leaves its slot idle for the next thread of the process: the counts are sums and
 * stay right. Slots of processes that have ended are the harness's to free.
 *
 * Bytes are usable bytes (malloc_usable_size): the requested size of a block is not known at its
 * free. So rounding up to a size class counts as live.
 */
#ifndef FB_TRACE_LIVE_H
#define FB_TRACE_LIVE_H

#include <stdatomic.h>
#include <stdint.h>

#define FB_LIVE_VARIABLE "FRAGBENCH_LIVE"
#define FB_LIVE_MAGIC UINT64_C(0x3165766c6266)
#define FB_LIVE_SLOTS 16384U

struct fb_live_slot {
    _Atomic int32_t owner; /* process; 0 = free */
    _Atomic int32_t idle;  /* 1: its thread has ended */
    _Atomic uint64_t allocated_bytes, freed_bytes, calls;
    uint64_t unused[4];
};

struct fb_live_block {
    uint64_t magic;
    uint32_t slot_count;
    _Atomic uint32_t used;      /* slots ever taken: the others need no look */
    _Atomic uint32_t uncounted; /* threads that found no slot */
    _Atomic uint32_t blind;     /* processes whose allocator cannot tell a block's size */
    uint64_t unused[5];
    struct fb_live_slot slots[];
};

_Static_assert(sizeof(struct fb_live_slot) == 64, "one cache line");
_Static_assert(sizeof(struct fb_live_block) == 64, "slots start at a cache line");

#endif
