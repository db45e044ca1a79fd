/* What the harness saw of a stopped worker: its pages, its objects, its mappings. The input of
 * attribution, made in harness/ and read in metrics/. All borrowed, for the time of a call.
 *
 * Arrays are sorted by address and free of overlaps. Blocks are read from the table they are in:
 * with some millions of them a copy would cost more than the rest.
 */
#ifndef FB_RESULT_SNAPSHOT_H
#define FB_RESULT_SNAPSHOT_H

#include "result/attribution.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FB_PAGES_HUGE 1U    /* mapped as part of a huge page */
#define FB_PAGES_SWAPPED 2U /* on swap: in the footprint, not in memory */

/* Consecutive pages that the footprint counts: anonymous, present or swapped, never the shared page
 * of zeros. */
struct fb_page_run {
    uint64_t first; /* address / page size */
    uint64_t count;
    uint32_t flags; /* FB_PAGES_* */
};

struct fb_page_runs {
    struct fb_page_run *items;
    size_t count;
};

/* A live object. */
struct fb_block {
    uint64_t address, requested_bytes;
    uint64_t usable_bytes; /* ≥ requested; the same where the allocator does not tell */
    uint64_t born_ns;
    uint32_t class_index;
};

/* Objects by slot, the trace's number of one: the same in every run. */
struct fb_block_table {
    const void *context;
    size_t count;                                                         /* of slots */
    bool (*read)(const void *context, size_t slot, struct fb_block *out); /* false: none there */
};

enum fb_extent_kind {
    FB_EXTENT_ANONYMOUS = 0,
    FB_EXTENT_HEAP,    /* brk */
    FB_EXTENT_LIBRARY, /* writable data of the allocator's library or of one it brought along */
    FB_EXTENT_BASE,    /* the worker's own: data of program and libc, main stack and its TLS */
    FB_EXTENT_KIND_COUNT
};
/* "anonymous", "heap", "library", "base". */
extern const char *const fb_extent_names[FB_EXTENT_KIND_COUNT];

struct fb_extent {
    uint64_t start, end; /* addresses, whole pages */
    enum fb_extent_kind kind;
};

struct fb_snapshot {
    uint64_t page_bytes;
    uint64_t footprint_bytes; /* the kernel's own count, from another source than pages */
    uint64_t now_ns;          /* on the clock of born_ns */
    uint64_t taken_ns;        /* real time it took */
    struct fb_page_runs pages;
    struct fb_page_runs startup; /* the pages before the first operation */
    bool purged;
    struct fb_page_runs after; /* purged: the pages after a purge on the same state */
    struct fb_block_table blocks;
    const char *const *class_names;
    size_t class_count;
    const struct fb_extent *extents;
    size_t extent_count;
    bool account_known;
    uint64_t account[FB_ACCOUNT_COUNT];
};

#endif
