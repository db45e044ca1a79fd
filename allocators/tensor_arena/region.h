/* The address space of the arena: one reservation, three areas in it that grow upwards, and a word
 * a page that says whose it is.
 *
 * Pages have numbers: 0 is no page. The map holds a valid word for every page of a slab or a ring
 * and for the first and last page of every other run below an area's frontier; the words between
 * are stale. Writers hold the heap's lock and readers own the block that they look up, so a plain
 * load does.
 */
#ifndef ALLOCATORS_TENSOR_ARENA_REGION_H
#define ALLOCATORS_TENSOR_ARENA_REGION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The arena's own page. Where the kernel's is larger, only whole kernel pages are given back. */
#define TA_PAGE_SHIFT 12
#define TA_PAGE ((size_t)1 << TA_PAGE_SHIFT)
/* A huge page: what one page fault brings in where the kernel was asked for it. */
#define TA_HUGE_PAGES UINT32_C(512)

enum ta_kind { TA_KIND_NONE = 0, TA_KIND_SLAB, TA_KIND_RUN, TA_KIND_RING };

/* kind: 2 bits, size class: 8, index of the slab or run: 22. */
#define TA_INDEX_LIMIT (UINT32_C(1) << 22)
#define TA_WORD(kind, class, index) \
    ((uint32_t)(kind) << 30 | (uint32_t)(class) << 22 | (uint32_t)(index))
#define TA_WORD_KIND(word) ((enum ta_kind)((word) >> 30))
#define TA_WORD_CLASS(word) ((word) >> 22 & 0xFFU)
#define TA_WORD_INDEX(word) ((word) & (TA_INDEX_LIMIT - 1))

/* An array in reserved space that becomes memory as it grows; elements never move. */
struct ta_table {
    char *base;
    size_t element_bytes;
    uint32_t count; /* handed out so far, 0 excluded */
    uint32_t limit; /* reserved */
    size_t committed_bytes;
    uint32_t free_head; /* given back; the first four bytes of each hold the next */
};

/* Slabs and short runs; long runs; rings, which grow where they are when nobody else is about. */
enum ta_area_id { TA_AREA_SMALL = 0, TA_AREA_LARGE, TA_AREA_RING, TA_AREAS };

struct ta_area {
    uint32_t begin, end; /* pages, reserved */
    uint32_t committed;  /* pages up to here may be used */
    uint32_t frontier;   /* pages up to here belong to runs; beyond, nothing was ever touched */
};

struct ta_region {
    char *base;
    size_t bytes;
    _Atomic uint32_t *map;
    struct ta_area areas[TA_AREAS];
    size_t map_committed[TA_AREAS]; /* bytes, from each area's first word on */
    bool zero_pages;                /* what was given back reads as zeros: kernel pages of 4 KiB */
};

extern struct ta_region ta_region;

/* Reserves; 0, or -1 when there is no address space at all. */
int ta_region_open(void);
/* Makes the area's pages up to `end` usable. */
int ta_region_commit(enum ta_area_id id, uint32_t end);

static inline bool ta_region_holds(const void *block)
{
    return (uintptr_t)block - (uintptr_t)ta_region.base < ta_region.bytes;
}

static inline uint32_t ta_region_page(const void *block)
{
    return (uint32_t)(((uintptr_t)block - (uintptr_t)ta_region.base) >> TA_PAGE_SHIFT);
}

static inline void *ta_region_address(uint32_t page)
{
    return ta_region.base + ((size_t)page << TA_PAGE_SHIFT);
}

static inline uint32_t ta_region_word(uint32_t page)
{
    return atomic_load_explicit(&ta_region.map[page], memory_order_relaxed);
}

static inline void ta_region_mark(uint32_t page, uint32_t word)
{
    atomic_store_explicit(&ta_region.map[page], word, memory_order_relaxed);
}

/* Reserves a table, once, after the region; 0 or -1. */
int ta_table_open(struct ta_table *table, size_t element_bytes, uint32_t limit);
/* A new element's number, never 0, content undefined; 0 = no memory. */
uint32_t ta_table_take(struct ta_table *table);
void ta_table_give(struct ta_table *table, uint32_t index);

#endif
