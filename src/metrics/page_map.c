#include "metrics/page_map.h"

#include "base/alloc.h"

#include <stdlib.h>

static void expand(struct fb_page_map *map, const struct fb_page_runs *runs)
{
    size_t total = 0, at = 0;
    for (size_t i = 0; i < runs->count; i++)
        total += runs->items[i].count;
    map->pages = fb_alloc(total, sizeof *map->pages);
    map->count = total;
    for (size_t i = 0; i < runs->count; i++)
        for (uint64_t page = 0; page < runs->items[i].count; page++)
            map->pages[at++] = (struct fb_page){.number = runs->items[i].first + page,
                                                .owner_class = FB_PAGE_NOBODY,
                                                .owner_slot = FB_PAGE_NOBODY,
                                                .flags = (uint8_t)runs->items[i].flags};
}

/* Bytes of [start, end) on the page that begins at `page`. */
static uint64_t overlap(uint64_t start, uint64_t end, uint64_t page, uint64_t page_bytes)
{
    uint64_t from = start > page ? start : page;
    uint64_t to = end < page + page_bytes ? end : page + page_bytes;
    return to > from ? to - from : 0;
}

/* Returns the requested bytes of the block on the page. */
static uint64_t occupy(struct fb_page *page, const struct fb_block *block, uint32_t slot,
                       uint64_t page_bytes)
{
    uint64_t begin = page->number * page_bytes;
    uint64_t middle = block->address + block->requested_bytes;
    uint64_t live = overlap(block->address, middle, begin, page_bytes);
    uint64_t rounding = overlap(middle, block->address + block->usable_bytes, begin, page_bytes);
    uint64_t room = page_bytes - page->live_bytes - page->rounding_bytes;
    live = live < room ? live : room;
    rounding = rounding < room - live ? rounding : room - live;
    page->live_bytes += (uint32_t)live;
    page->rounding_bytes += (uint32_t)rounding;
    page->kind = FB_PAGE_OCCUPIED;
    page->owner_slot = page->owner_slot == FB_PAGE_NOBODY ? slot : FB_PAGE_SEVERAL;
    bool same_class =
        page->owner_class == FB_PAGE_NOBODY || page->owner_class == block->class_index;
    page->owner_class = same_class ? block->class_index : FB_PAGE_SEVERAL;
    return live;
}

/* The runs of pages, each with where its first page is in the map. */
struct index {
    const struct fb_page_runs *runs;
    size_t *firsts;
    size_t
        last; /* the run that was found last: blocks of neighbouring slots are often neighbours */
};

static bool is_run_of(const struct index *index, size_t run, uint64_t number)
{
    const struct fb_page_run *items = index->runs->items;
    return items[run].first + items[run].count > number &&
           (run == 0 || items[run - 1].first + items[run - 1].count <= number);
}

/* The first run that ends behind the page; the count where there is none. */
static size_t find_run(struct index *index, uint64_t number)
{
    size_t low = 0, high = index->runs->count;
    if (index->last < high && is_run_of(index, index->last, number))
        return index->last;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct fb_page_run *run = &index->runs->items[middle];
        if (run->first + run->count <= number)
            low = middle + 1;
        else
            high = middle;
    }
    index->last = low;
    return low;
}

/* The place in the map of the first page with at least that number. */
static size_t find_page(struct index *index, const struct fb_page_map *map, uint64_t number)
{
    size_t run = find_run(index, number);
    if (run == index->runs->count)
        return map->count;
    uint64_t first = index->runs->items[run].first;
    return index->firsts[run] + (number > first ? number - first : 0);
}

/* The block's last page. One of 0 bytes without rounding still stands on its first byte. */
static uint64_t last_page(const struct fb_block *block, uint64_t page_bytes)
{
    uint64_t bytes =
        block->usable_bytes > block->requested_bytes ? block->usable_bytes : block->requested_bytes;
    return (block->address + (bytes > 0 ? bytes - 1 : 0)) / page_bytes;
}

static void place_block(struct fb_page_map *map, struct index *index, uint32_t slot,
                        const struct fb_block *block, size_t class_count)
{
    uint64_t last = last_page(block, map->page_bytes), live = 0;
    size_t page = find_page(index, map, block->address / map->page_bytes);
    for (; page < map->count && map->pages[page].number <= last; page++)
        live += occupy(&map->pages[page], block, slot, map->page_bytes);
    if (block->class_index < class_count)
        map->class_live_bytes[block->class_index] += live;
    map->block_count++;
}

static void place_blocks(struct fb_page_map *map, const struct fb_snapshot *snapshot)
{
    const struct fb_block_table *blocks = &snapshot->blocks;
    struct index index = {&snapshot->pages, fb_alloc(snapshot->pages.count, sizeof(size_t)), 0};
    for (size_t i = 1; i < snapshot->pages.count; i++)
        index.firsts[i] = index.firsts[i - 1] + snapshot->pages.items[i - 1].count;
    map->class_live_bytes = fb_alloc(snapshot->class_count, sizeof *map->class_live_bytes);
    struct fb_block block;
    for (size_t slot = 0; slot < blocks->count; slot++)
        if (blocks->read(blocks->context, slot, &block))
            place_block(map, &index, (uint32_t)slot, &block, snapshot->class_count);
    free(index.firsts);
}

static void mark_base(struct fb_page_map *map, const struct fb_snapshot *snapshot)
{
    size_t extent = 0;
    for (size_t i = 0; i < map->count; i++) {
        uint64_t address = map->pages[i].number * map->page_bytes;
        while (extent < snapshot->extent_count && snapshot->extents[extent].end <= address)
            extent++;
        bool inside = extent < snapshot->extent_count && snapshot->extents[extent].start <= address;
        if (inside && snapshot->extents[extent].kind == FB_EXTENT_BASE &&
            map->pages[i].kind == FB_PAGE_FREE)
            map->pages[i].kind = FB_PAGE_BASE;
    }
}

/* Gives free pages the one kind where the runs have them and the other where not. */
static void mark_by_runs(struct fb_page_map *map, const struct fb_page_runs *runs,
                         enum fb_page_kind inside, enum fb_page_kind outside)
{
    size_t run = 0;
    for (size_t i = 0; i < map->count; i++) {
        struct fb_page *page = &map->pages[i];
        while (run < runs->count && runs->items[run].first + runs->items[run].count <= page->number)
            run++;
        bool found = run < runs->count && runs->items[run].first <= page->number;
        if (page->kind == FB_PAGE_FREE)
            page->kind = (uint8_t)(found ? inside : outside);
    }
}

void fb_page_map_init(struct fb_page_map *map, const struct fb_snapshot *snapshot)
{
    *map = (struct fb_page_map){.page_bytes = snapshot->page_bytes};
    expand(map, &snapshot->pages);
    place_blocks(map, snapshot);
    mark_base(map, snapshot);
    mark_by_runs(map, &snapshot->startup, FB_PAGE_STARTUP, FB_PAGE_FREE);
    if (snapshot->purged)
        mark_by_runs(map, &snapshot->after, FB_PAGE_STUCK, FB_PAGE_CACHED);
}

void fb_page_map_deinit(struct fb_page_map *map)
{
    free(map->pages);
    free(map->class_live_bytes);
    *map = (struct fb_page_map){0};
}
