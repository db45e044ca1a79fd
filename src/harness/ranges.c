#include "harness/ranges.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

size_t fb_ranges_find(const struct fb_ranges *ranges, uint64_t address)
{
    size_t low = 0, high = ranges->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (ranges->items[middle].end > address)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Puts `count` ranges in the place of those from first up to last. */
static void replace(struct fb_ranges *ranges, size_t first, size_t last,
                    const struct fb_range *items, size_t count)
{
    size_t behind = ranges->count - last, total = first + count + behind;
    if (total > ranges->capacity) {
        ranges->capacity = total * 2 + 16;
        ranges->items = fb_realloc(ranges->items, ranges->capacity, sizeof *ranges->items);
    }
    if (behind > 0)
        memmove(ranges->items + first + count, ranges->items + last,
                behind * sizeof *ranges->items);
    if (count > 0)
        memcpy(ranges->items + first, items, count * sizeof *ranges->items);
    ranges->count = total;
}

void fb_ranges_add(struct fb_ranges *ranges, uint64_t start, uint64_t end)
{
    if (end <= start)
        return;
    struct fb_range whole = {start, end};
    size_t first = start > 0 ? fb_ranges_find(ranges, start - 1) : 0, last = first;
    for (; last < ranges->count && ranges->items[last].start <= end; last++) {
        if (ranges->items[last].start < whole.start)
            whole.start = ranges->items[last].start;
        if (ranges->items[last].end > whole.end)
            whole.end = ranges->items[last].end;
    }
    replace(ranges, first, last, &whole, 1);
}

void fb_ranges_remove(struct fb_ranges *ranges, uint64_t start, uint64_t end)
{
    struct fb_range left[2];
    size_t first = fb_ranges_find(ranges, start), last = first, count = 0;
    if (end <= start)
        return;
    for (; last < ranges->count && ranges->items[last].start < end; last++) {
        const struct fb_range *range = &ranges->items[last];
        if (range->start < start)
            left[count++] = (struct fb_range){range->start, start};
        if (range->end > end)
            left[count++] = (struct fb_range){end, range->end};
    }
    if (last > first)
        replace(ranges, first, last, left, count);
}

uint64_t fb_ranges_overlap(const struct fb_ranges *ranges, uint64_t start, uint64_t end)
{
    uint64_t sum = 0;
    for (size_t i = fb_ranges_find(ranges, start); i < ranges->count; i++) {
        const struct fb_range *range = &ranges->items[i];
        if (range->start >= end)
            break;
        sum +=
            (range->end < end ? range->end : end) - (range->start > start ? range->start : start);
    }
    return sum;
}

void fb_ranges_copy(const struct fb_ranges *from, struct fb_ranges *to)
{
    fb_ranges_deinit(to);
    replace(to, 0, 0, from->items, from->count);
}

void fb_ranges_deinit(struct fb_ranges *ranges)
{
    free(ranges->items);
    *ranges = (struct fb_ranges){0};
}
