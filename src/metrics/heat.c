#include "metrics/heat.h"

#include "base/alloc.h"

struct place {
    size_t extent;
    uint64_t offset_pages; /* of the group in it */
};

/* Where a page belongs; extents are walked along with the pages. A page outside of all extents, of
 * a mapping that came between two looks, stands at the end of the last one. */
static struct place place_of(const struct fb_snapshot *snapshot, size_t *extent, uint64_t number,
                             uint64_t group_pages)
{
    uint64_t address = number * snapshot->page_bytes;
    while (*extent + 1 < snapshot->extent_count && snapshot->extents[*extent].end <= address)
        (*extent)++;
    uint64_t first =
        snapshot->extent_count > 0 ? snapshot->extents[*extent].start / snapshot->page_bytes : 0;
    uint64_t offset = number > first ? number - first : 0;
    return (struct place){*extent, offset / group_pages * group_pages};
}

static size_t count_groups(const struct fb_page_map *map, const struct fb_snapshot *snapshot,
                           uint64_t group_pages)
{
    size_t groups = 0, extent = 0;
    struct place last = {SIZE_MAX, 0};
    for (size_t i = 0; i < map->count; i++) {
        struct place here = place_of(snapshot, &extent, map->pages[i].number, group_pages);
        groups += here.extent != last.extent || here.offset_pages != last.offset_pages;
        last = here;
    }
    return groups;
}

static void add_page(struct fb_heat_row *row, const struct fb_page *page)
{
    static const size_t counters[] = {
        [FB_PAGE_FREE] = offsetof(struct fb_heat_row, free_pages),
        [FB_PAGE_CACHED] = offsetof(struct fb_heat_row, cached_pages),
        [FB_PAGE_STUCK] = offsetof(struct fb_heat_row, stuck_pages),
        [FB_PAGE_STARTUP] = offsetof(struct fb_heat_row, startup_pages),
        [FB_PAGE_BASE] = offsetof(struct fb_heat_row, base_pages),
        [FB_PAGE_OCCUPIED] = offsetof(struct fb_heat_row, occupied_pages),
    };
    row->resident_pages++;
    row->live_bytes += page->live_bytes;
    row->rounding_bytes += page->rounding_bytes;
    ++*(uint64_t *)(void *)((char *)row + counters[page->kind]);
}

void fb_heat_init(struct fb_heat *heat, const struct fb_page_map *map,
                  const struct fb_snapshot *snapshot)
{
    uint64_t group_pages = 1;
    size_t groups = count_groups(map, snapshot, group_pages);
    while (groups > FB_HEAT_ROWS_MAX && groups > snapshot->extent_count && group_pages < 1U << 20) {
        group_pages *= 2;
        groups = count_groups(map, snapshot, group_pages);
    }
    *heat = (struct fb_heat){.page_bytes = map->page_bytes, .group_pages = group_pages};
    heat->rows = fb_alloc(groups, sizeof *heat->rows);
    size_t extent = 0;
    struct place last = {SIZE_MAX, 0};
    for (size_t i = 0; i < map->count; i++) {
        struct place here = place_of(snapshot, &extent, map->pages[i].number, group_pages);
        if (here.extent != last.extent || here.offset_pages != last.offset_pages)
            heat->rows[heat->count++] = (struct fb_heat_row){
                .extent = here.extent,
                .kind = snapshot->extent_count > 0 ? snapshot->extents[here.extent].kind
                                                   : FB_EXTENT_ANONYMOUS,
                .offset_pages = here.offset_pages};
        add_page(&heat->rows[heat->count - 1], &map->pages[i]);
        last = here;
    }
}
