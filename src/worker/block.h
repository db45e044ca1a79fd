/* What the worker does with one block: call, touch, stamp, check. */
#ifndef FB_WORKER_BLOCK_H
#define FB_WORKER_BLOCK_H

#include "trace/format.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { FB_BLOCK_PAGE = 4096 };

/* gcc removes an allocation whose result it can follow to its free: hide it. */
static inline void *fb_block_hide(void *block)
{
    __asm__ volatile("" : "+r"(block)::"memory");
    return block;
}

static inline void *fb_block_call(const struct fb_trace_class *class, size_t size)
{
    void *block = NULL;
    switch ((enum fb_call) class->call) {
    case FB_CALL_MALLOC:
        return fb_block_hide(malloc(size));
    case FB_CALL_CALLOC:
        return fb_block_hide(calloc(1, size));
    case FB_CALL_REALLOC:
        return fb_block_hide(realloc(fb_block_hide(NULL), size));
    case FB_CALL_ALIGNED:
        return posix_memalign(&block, class->align, size) == 0 ? fb_block_hide(block) : NULL;
    }
    return NULL;
}

/* One byte every 4 KiB of [from, to) and its last byte, so each page of it is written. */
static inline void fb_block_touch_pages(unsigned char *block, size_t from, size_t to)
{
    if (from >= to)
        return;
    for (size_t at = from; at < to; at += FB_BLOCK_PAGE)
        ((volatile unsigned char *)block)[at] = 0x5a;
    ((volatile unsigned char *)block)[to - 1] = 0x5a;
}

/* Writes what the class writes of bytes [from, size) of a block; touched: its T after. */
static inline void fb_block_touch(const struct fb_trace_class *class, void *block, size_t from,
                                  size_t size, uint64_t touched)
{
    if (class->touch == FB_TOUCH_ALL) {
        memset((unsigned char *)block + from, 0x5a, size - from);
        (void)fb_block_hide(block);
    } else {
        fb_block_touch_pages(block, from, touched);
    }
}

/* --verify: 8 bytes that tell slot and size, at the start of every touched page and at the end. */
static inline uint64_t fb_block_stamp_of(uint32_t slot, uint64_t at)
{
    return (slot + 1U) * UINT64_C(0x9e3779b97f4a7c15) ^ at * UINT64_C(0xc2b2ae3d27d4eb4f);
}

static inline void fb_block_stamp(void *block, uint32_t slot, uint64_t touched)
{
    for (uint64_t at = 0; at + 8 <= touched; at += FB_BLOCK_PAGE) {
        uint64_t stamp = fb_block_stamp_of(slot, at);
        memcpy((unsigned char *)block + at, &stamp, sizeof stamp);
    }
    if (touched > 0 && touched < 8)
        memset(block, (int)(slot & 0xffU), touched);
}

static inline bool fb_block_stamp_holds(const void *block, uint32_t slot, uint64_t touched)
{
    for (uint64_t at = 0; at + 8 <= touched; at += FB_BLOCK_PAGE) {
        uint64_t stamp = fb_block_stamp_of(slot, at), found;
        memcpy(&found, (const unsigned char *)block + at, sizeof found);
        if (found != stamp)
            return false;
    }
    if (touched < 8)
        for (uint64_t at = 0; at < touched; at++)
            if (((const unsigned char *)block)[at] != (unsigned char)(slot & 0xffU))
                return false;
    return true;
}

#endif
