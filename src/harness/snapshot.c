#include "harness/snapshot.h"

#include "base/alloc.h"
#include "harness/mappings.h"

#include <stdlib.h>
#include <unistd.h>

struct extents {
    struct fb_extent *items;
    size_t count, capacity;
};

static void add_extent(struct extents *to, uint64_t start, uint64_t end, enum fb_extent_kind kind)
{
    struct fb_extent *last = to->count > 0 ? &to->items[to->count - 1] : NULL;
    if (start >= end)
        return;
    if (last != NULL && last->end == start && last->kind == kind) {
        last->end = end;
        return;
    }
    if (to->count == to->capacity) {
        to->capacity = to->capacity == 0 ? 64 : to->capacity * 2;
        to->items = fb_realloc(to->items, to->capacity, sizeof *to->items);
    }
    to->items[to->count++] = (struct fb_extent){start, end, kind};
}

/* The data range with the lowest start that reaches into [start, end), in whole pages; NULL. */
static const struct fb_data_range *next_range(const struct fb_data_range *ranges, size_t count,
                                              uint64_t start, uint64_t end, uint64_t page_bytes)
{
    const struct fb_data_range *next = NULL;
    for (size_t i = 0; i < count; i++) {
        uint64_t from = ranges[i].start / page_bytes * page_bytes;
        uint64_t to = (ranges[i].end + page_bytes - 1) / page_bytes * page_bytes;
        if (from < end && to > start && (next == NULL || ranges[i].start < next->start))
            next = &ranges[i];
    }
    return next;
}

/* A mapping may begin with a library's data and go on with a heap: neighbours that are alike are
 * one to the kernel. */
static void split_mapping(struct extents *to, const struct fb_mapping *mapping,
                          const struct fb_data_range *ranges, size_t count, uint64_t page_bytes)
{
    enum fb_extent_kind rest = mapping->is_heap    ? FB_EXTENT_HEAP
                               : mapping->is_stack ? FB_EXTENT_BASE
                                                   : FB_EXTENT_ANONYMOUS;
    uint64_t at = mapping->start;
    while (at < mapping->end) {
        const struct fb_data_range *range = next_range(ranges, count, at, mapping->end, page_bytes);
        if (range == NULL)
            break;
        uint64_t from = range->start / page_bytes * page_bytes;
        uint64_t until = (range->end + page_bytes - 1) / page_bytes * page_bytes;
        from = from > at ? from : at;
        until = until < mapping->end ? until : mapping->end;
        add_extent(to, at, from, rest);
        add_extent(to, from, until, range->is_allocator ? FB_EXTENT_LIBRARY : FB_EXTENT_BASE);
        at = until;
    }
    add_extent(to, at, mapping->end, rest);
}

int fb_snapshot_extents(pid_t pid, const struct fb_data_range *ranges, size_t range_count,
                        struct fb_extent **out, size_t *count, struct fb_error *err)
{
    struct fb_mappings mappings;
    struct extents extents = {0};
    if (fb_mappings_read(pid, false, &mappings, err) != 0)
        return -1;
    for (size_t i = 0; i < mappings.count; i++)
        if (!mappings.items[i].is_shared && !mappings.items[i].is_hugetlb)
            split_mapping(&extents, &mappings.items[i], ranges, range_count,
                          (uint64_t)sysconf(_SC_PAGESIZE));
    fb_mappings_deinit(&mappings);
    *out = extents.items;
    *count = extents.count;
    return 0;
}

static bool read_block(const void *context, size_t slot, struct fb_block *out)
{
    const struct fb_object_table *table = context;
    const struct fb_object *object = &table->objects[slot];
    if ((uintptr_t)object->address <= (uintptr_t)FB_OBJECT_REFUSED)
        return false;
    uint64_t size = FB_OBJECT_SIZE(object->size_class);
    *out = (struct fb_block){.address = (uint64_t)(uintptr_t)object->address,
                             .requested_bytes = size,
                             .usable_bytes = size,
                             .class_index = FB_OBJECT_CLASS(object->size_class)};
    if (table->details != NULL) {
        const struct fb_object_detail *detail = &table->details[slot];
        out->usable_bytes = detail->usable_bytes > size ? detail->usable_bytes : size;
        out->born_ns = detail->born_ns;
    }
    return true;
}

struct fb_block_table fb_snapshot_blocks(const struct fb_object_table *table, size_t count)
{
    return (struct fb_block_table){table, count, read_block};
}

void fb_sight_free(struct fb_sight *sight)
{
    if (sight == NULL)
        return;
    free(sight->pages.items);
    free(sight->after.items);
    free(sight->extents);
    free(sight->class_names);
    free(sight);
}
