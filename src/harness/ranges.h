/* A set of addresses as ranges that neither touch nor overlap, by address. */
#ifndef FB_HARNESS_RANGES_H
#define FB_HARNESS_RANGES_H

#include <stddef.h>
#include <stdint.h>

struct fb_range {
    uint64_t start, end; /* end not included */
};

struct fb_ranges { /* zeroed: empty */
    struct fb_range *items;
    size_t count, capacity;
};

/* Nothing happens where end is not above start. */
void fb_ranges_add(struct fb_ranges *ranges, uint64_t start, uint64_t end);
void fb_ranges_remove(struct fb_ranges *ranges, uint64_t start, uint64_t end);
/* How many of the bytes from start to end are in the set. */
uint64_t fb_ranges_overlap(const struct fb_ranges *ranges, uint64_t start, uint64_t end);
/* The index of the first range that ends above address; count where there is none. */
size_t fb_ranges_find(const struct fb_ranges *ranges, uint64_t address);
/* *to gets its own copy; what it had is freed. */
void fb_ranges_copy(const struct fb_ranges *from, struct fb_ranges *to);
void fb_ranges_deinit(struct fb_ranges *ranges);

#endif
