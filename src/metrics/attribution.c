#include "metrics/attribution.h"

#include "base/alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add_parts(const struct fb_page_map *map, struct fb_attribution *out)
{
    static const int part_of[] = {
        [FB_PAGE_FREE] = -1,
        [FB_PAGE_CACHED] = FB_PART_CACHED,
        [FB_PAGE_STUCK] = FB_PART_STUCK,
        [FB_PAGE_STARTUP] = FB_PART_STARTUP,
        [FB_PAGE_BASE] = FB_PART_BASE,
    };
    for (size_t i = 0; i < map->count; i++) {
        const struct fb_page *page = &map->pages[i];
        out->huge_bytes += (page->flags & FB_PAGES_HUGE) != 0 ? map->page_bytes : 0;
        out->swapped_bytes += (page->flags & FB_PAGES_SWAPPED) != 0 ? map->page_bytes : 0;
        if (page->kind == FB_PAGE_OCCUPIED) {
            out->parts[FB_PART_LIVE] += page->live_bytes;
            out->parts[FB_PART_ROUNDING] += page->rounding_bytes;
            out->parts[FB_PART_HOLES] += map->page_bytes - page->live_bytes - page->rounding_bytes;
            continue;
        }
        if (page->kind <= FB_PAGE_STUCK)
            out->free_bytes += map->page_bytes;
        if (part_of[page->kind] >= 0)
            out->parts[part_of[page->kind]] += map->page_bytes;
    }
}

static void copy_name(char *to, const struct fb_snapshot *snapshot, uint32_t class_index)
{
    bool known = class_index < snapshot->class_count;
    (void)snprintf(to, FB_CLASS_NAME_MAX, "%s", known ? snapshot->class_names[class_index] : "?");
}

static void add_page(struct fb_hostage *hostage, const struct fb_page *page, uint64_t page_bytes)
{
    size_t bin = page->live_bytes * (uint64_t)FB_OCCUPANCY_BINS / page_bytes;
    hostage->held_bytes += page_bytes;
    hostage->held_live_bytes += page->live_bytes;
    hostage->pages++;
    hostage->histogram[bin < FB_OCCUPANCY_BINS ? bin : FB_OCCUPANCY_BINS - 1]++;
}

static void add_hostages(const struct fb_page_map *map, const struct fb_snapshot *snapshot,
                         struct fb_attribution *out)
{
    size_t count = snapshot->class_count;
    struct fb_hostage *all = fb_alloc(count, sizeof *all);
    for (size_t i = 0; i < map->count; i++)
        if (map->pages[i].kind == FB_PAGE_OCCUPIED && map->pages[i].owner_class < count)
            add_page(&all[map->pages[i].owner_class], &map->pages[i], map->page_bytes);
    for (size_t i = 0; i < count; i++) {
        all[i].live_bytes = map->class_live_bytes[i];
        if (all[i].live_bytes == 0 && all[i].pages == 0)
            continue;
        copy_name(all[i].class_name, snapshot, (uint32_t)i);
        all[out->hostage_count++] = all[i];
    }
    out->hostages = all;
}

struct candidate {
    struct fb_block block;
    uint64_t held_bytes;
    uint32_t slot;
};

static uint64_t excess(const struct candidate *candidate)
{
    uint64_t size = candidate->block.requested_bytes;
    return candidate->held_bytes > size ? candidate->held_bytes - size : 0;
}

/* By bytes kept beyond its own, then the older, then by slot: no address decides. */
static bool is_worse(const struct candidate *a, const struct candidate *b)
{
    if (excess(a) != excess(b))
        return excess(a) > excess(b);
    if (a->block.born_ns != b->block.born_ns)
        return a->block.born_ns < b->block.born_ns;
    return a->slot < b->slot;
}

static void insert(struct candidate *worst, size_t *count, const struct candidate *new)
{
    size_t at = *count;
    if (at == FB_HOLDERS_MAX && !is_worse(new, &worst[at - 1]))
        return;
    at = at == FB_HOLDERS_MAX ? at - 1 : (*count)++;
    for (; at > 0 && is_worse(new, &worst[at - 1]); at--)
        worst[at] = worst[at - 1];
    worst[at] = *new;
}

/* A block's own pages follow one another. */
static size_t find_worst(const struct fb_page_map *map, const struct fb_block_table *blocks,
                         struct candidate *worst)
{
    size_t count = 0;
    for (size_t i = 0; i < map->count;) {
        struct candidate candidate = {.slot = map->pages[i].owner_slot};
        size_t end = i + 1;
        while (end < map->count && map->pages[end].owner_slot == candidate.slot)
            end++;
        candidate.held_bytes = (end - i) * map->page_bytes;
        if (candidate.slot < blocks->count &&
            blocks->read(blocks->context, candidate.slot, &candidate.block) &&
            excess(&candidate) > 0)
            insert(worst, &count, &candidate);
        i = end;
    }
    return count;
}

static void add_holders(const struct fb_page_map *map, const struct fb_snapshot *snapshot,
                        struct fb_attribution *out)
{
    struct candidate worst[FB_HOLDERS_MAX];
    out->holder_count = find_worst(map, &snapshot->blocks, worst);
    for (size_t i = 0; i < out->holder_count; i++) {
        const struct fb_block *block = &worst[i].block;
        struct fb_holder *holder = &out->holders[i];
        *holder = (struct fb_holder){
            .size_bytes = block->requested_bytes,
            .held_bytes = worst[i].held_bytes,
            .age_ns = snapshot->now_ns > block->born_ns ? snapshot->now_ns - block->born_ns : 0};
        copy_name(holder->class_name, snapshot, block->class_index);
    }
}

struct fb_attribution *fb_attribution_new(const struct fb_page_map *map,
                                          const struct fb_snapshot *snapshot)
{
    struct fb_attribution *out = fb_alloc(1, sizeof *out);
    out->footprint_bytes = snapshot->footprint_bytes;
    out->is_split = snapshot->purged;
    out->blocks = map->block_count;
    out->snapshot_ns = snapshot->taken_ns;
    out->account_known = snapshot->account_known;
    for (int i = 0; i < FB_ACCOUNT_COUNT; i++)
        out->account[i] = snapshot->account_known ? snapshot->account[i] : FB_ACCOUNT_NA;
    add_parts(map, out);
    add_hostages(map, snapshot, out);
    add_holders(map, snapshot, out);
    out->mismatch_bytes =
        (int64_t)snapshot->footprint_bytes - (int64_t)(map->count * map->page_bytes);
    return out;
}

static bool same_before_purge(const struct fb_attribution *a, const struct fb_attribution *b)
{
    bool same = a->footprint_bytes == b->footprint_bytes && a->free_bytes == b->free_bytes &&
                a->blocks == b->blocks;
    for (int part = 0; part < FB_PART_COUNT; part++)
        if (part != FB_PART_CACHED && part != FB_PART_STUCK)
            same = same && a->parts[part] == b->parts[part];
    return same;
}

void fb_attribution_merge(struct fb_attribution **first, struct fb_attribution *second)
{
    struct fb_attribution *kept = *first;
    if (kept == NULL || !same_before_purge(kept, second)) {
        second->is_second_run = true;
        fb_attribution_free(kept);
        *first = second;
        return;
    }
    kept->is_split = second->is_split;
    kept->parts[FB_PART_CACHED] = second->parts[FB_PART_CACHED];
    kept->parts[FB_PART_STUCK] = second->parts[FB_PART_STUCK];
    kept->account_known = second->account_known;
    memcpy(kept->account, second->account, sizeof kept->account);
    free(kept->heat_file);
    kept->heat_file = second->heat_file;
    second->heat_file = NULL;
    fb_attribution_free(second);
}
