#include "metrics/page_map.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS, ADDRESS_BITS = 55 };

/* Addresses are spread in a few clusters: five passes beat a comparison sort of a million blocks
 * about fivefold. Stable, so equal addresses keep the order of slots. */
static void sort_by_address(struct fb_block *blocks, size_t count)
{
    struct fb_block *from = blocks, *to = fb_alloc(count, sizeof *to), *spare = to;
    size_t *starts = fb_alloc(DIGITS, sizeof *starts);
    for (unsigned shift = 0; shift < ADDRESS_BITS; shift += DIGIT_BITS) {
        memset(starts, 0, DIGITS * sizeof *starts);
        for (size_t i = 0; i < count; i++)
            starts[(from[i].address >> shift) % DIGITS]++;
        size_t sum = 0;
        for (size_t digit = 0; digit < DIGITS; digit++) {
            size_t here = starts[digit];
            starts[digit] = sum;
            sum += here;
        }
        for (size_t i = 0; i < count; i++)
            to[starts[(from[i].address >> shift) % DIGITS]++] = from[i];
        struct fb_block *swap = from;
        from = to;
        to = swap;
    }
    if (from != blocks)
        memcpy(blocks, from, count * sizeof *blocks);
    free(spare);
    free(starts);
}

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
                                                .owner_block = FB_PAGE_NOBODY,
                                                .flags = (uint8_t)runs->items[i].flags};
}

/* Bytes of [start, end) on the page that begins at `page`. */
static uint64_t overlap(uint64_t start, uint64_t end, uint64_t page, uint64_t page_bytes)
{
    uint64_t from = start > page ? start : page;
    uint64_t to = end < page + page_bytes ? end : page + page_bytes;
    return to > from ? to - from : 0;
}

static void occupy(struct fb_page *page, const struct fb_block *block, uint32_t index,
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
    page->owner_block = page->owner_block == FB_PAGE_NOBODY ? index : FB_PAGE_SEVERAL;
    bool same_class =
        page->owner_class == FB_PAGE_NOBODY || page->owner_class == block->class_index;
    page->owner_class = same_class ? block->class_index : FB_PAGE_SEVERAL;
}

/* The block's last page. A block of 0 bytes without rounding still stands on its first byte. */
static uint64_t last_page(const struct fb_block *block, uint64_t page_bytes)
{
    uint64_t bytes = block->usable_bytes > block->requested_bytes ? block->usable_bytes
                                                                  : block->requested_bytes;
    return (block->address + (bytes > 0 ? bytes - 1 : 0)) / page_bytes;
}

/* The first page from `at` on with at least that number. Blocks come in order, so a gallop from the
 * last place finds it. */
static size_t seek(const struct fb_page_map *map, size_t at, uint64_t number)
{
    size_t step = 1, low = at;
    while (low + step < map->count && map->pages[low + step].number < number) {
        low += step;
        step *= 2;
    }
    size_t high = low + step < map->count ? low + step : map->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (map->pages[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void place_blocks(struct fb_page_map *map)
{
    size_t at = 0;
    for (size_t i = 0; i < map->block_count; i++) {
        const struct fb_block *block = &map->blocks[i];
        uint64_t last = last_page(block, map->page_bytes);
        at = seek(map, at, block->address / map->page_bytes);
        for (size_t page = at; page < map->count && map->pages[page].number <= last; page++)
            occupy(&map->pages[page], block, (uint32_t)i, map->page_bytes);
    }
}

static void mark_base(struct fb_page_map *map, const struct fb_snapshot *snapshot)
{
    size_t extent = 0;
    for (size_t i = 0; i < map->count; i++) {
        uint64_t address = map->pages[i].number * map->page_bytes;
        while (extent < snapshot->extent_count && snapshot->extents[extent].end <= address)
            extent++;
        bool inside =
            extent < snapshot->extent_count && snapshot->extents[extent].start <= address;
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
    *map = (struct fb_page_map){.block_count = snapshot->block_count,
                                .page_bytes = snapshot->page_bytes};
    expand(map, &snapshot->pages);
    map->blocks = fb_alloc(map->block_count, sizeof *map->blocks);
    if (map->block_count > 0)
        memcpy(map->blocks, snapshot->blocks, map->block_count * sizeof *map->blocks);
    sort_by_address(map->blocks, map->block_count);
    place_blocks(map);
    mark_base(map, snapshot);
    mark_by_runs(map, &snapshot->startup, FB_PAGE_STARTUP, FB_PAGE_FREE);
    if (snapshot->purged)
        mark_by_runs(map, &snapshot->after, FB_PAGE_STUCK, FB_PAGE_CACHED);
}

void fb_page_map_deinit(struct fb_page_map *map)
{
    free(map->pages);
    free(map->blocks);
    *map = (struct fb_page_map){0};
}
