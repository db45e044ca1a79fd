/* Every page of a footprint, each classified once: the base of attribution and of the heat map.
 *
 * Classes take precedence in this order: a page that any part of a live block lies on is occupied;
 * one of the worker's own data or stack is base; one that was there before the first operation is
 * startup; all others are free, cached where a purge took them.
 */
#ifndef FB_METRICS_PAGE_MAP_H
#define FB_METRICS_PAGE_MAP_H

#include "result/snapshot.h"

enum fb_page_kind {
    FB_PAGE_FREE = 0, /* no purge was tried */
    FB_PAGE_CACHED,   /* gone after the purge */
    FB_PAGE_STUCK,    /* still there after it */
    FB_PAGE_STARTUP,
    FB_PAGE_BASE,
    FB_PAGE_OCCUPIED,
};

#define FB_PAGE_NOBODY UINT32_MAX
#define FB_PAGE_SEVERAL (UINT32_MAX - 1U)

struct fb_page {
    uint64_t number;         /* address / page size */
    uint32_t live_bytes;     /* requested */
    uint32_t rounding_bytes; /* usable beyond it; live + rounding ≤ page size */
    uint32_t owner_class;    /* NOBODY, SEVERAL or the class of all its blocks */
    uint32_t owner_slot;     /* NOBODY, SEVERAL or the slot of its only block */
    uint8_t kind;            /* enum fb_page_kind */
    uint8_t flags;           /* FB_PAGES_* */
};

struct fb_page_map {
    struct fb_page *pages; /* by number */
    size_t count;
    uint64_t page_bytes;
    uint64_t block_count;
    uint64_t *class_live_bytes; /* resident, by class of the snapshot */
};

/* Linear in pages and blocks, with a search among the runs of pages where blocks jump about. Blocks
 * that lie on one another, as a broken allocator hands out, fill a page at most. */
void fb_page_map_init(struct fb_page_map *map, const struct fb_snapshot *snapshot);
void fb_page_map_deinit(struct fb_page_map *map);

#endif
