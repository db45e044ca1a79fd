#include "tensor_arena/scope.h"

#include "tensor_arena/heap.h"

enum { STEP_PAGES = 16, GROWTH_SHARE = 8 };

static void mark_pages(uint32_t index, uint32_t from)
{
    const struct ta_run *run = ta_run_at(index);
    for (uint32_t page = from; page < run->first + run->pages; page++)
        ta_region_mark(page, TA_WORD(TA_KIND_RING, 0, index));
}

static void point_at(struct ta_ring *ring, uint32_t index, char *cursor)
{
    const struct ta_run *run = ta_run_at(index);
    ring->chunk = index;
    ring->cursor = cursor != NULL ? cursor : ta_region_address(run->first);
    ring->end = ta_region_address(run->first + run->pages);
}

/* Of the chunk that holds the cursor, the pages that are in use. */
static uint32_t pages_below(const struct ta_ring *ring)
{
    const char *start = ta_region_address(ta_run_at(ring->chunk)->first);
    return (uint32_t)(((size_t)(ring->cursor - start) + TA_PAGE - 1) >> TA_PAGE_SHIFT);
}

static int resize(struct ta_ring *ring, uint32_t pages)
{
    struct ta_run *run = ta_run_at(ring->chunk);
    uint32_t before = run->pages;
    if (ta_heap_resize(ring->chunk, pages) != 0)
        return -1;
    mark_pages(ring->chunk, run->first + (pages < before ? pages : before) - 1);
    point_at(ring, ring->chunk, ring->cursor);
    return 0;
}

/* A step at least, and an eighth of the chunk, so that a long scope grows in few steps. */
static int grow(struct ta_ring *ring, size_t bytes)
{
    const struct ta_run *run = ta_run_at(ring->chunk);
    uint64_t end = (uint64_t)(ring->cursor - (char *)ta_region_address(run->first)) + bytes;
    uint64_t pages = (end + TA_PAGE - 1) >> TA_PAGE_SHIFT;
    uint64_t step = run->pages / GROWTH_SHARE > STEP_PAGES ? run->pages / GROWTH_SHARE : STEP_PAGES;
    uint64_t generous = run->pages + step > pages ? run->pages + step : pages;
    if (pages >= TA_INDEX_LIMIT)
        return -1;
    return resize(ring, (uint32_t)generous);
}

static int chain(struct ta_ring *ring, size_t bytes, size_t align)
{
    uint64_t pages = ((uint64_t)bytes + TA_PAGE - 1) >> TA_PAGE_SHIFT;
    uint32_t align_pages = align > TA_PAGE ? (uint32_t)(align >> TA_PAGE_SHIFT) : 1;
    bool zeroed;
    if (pages >= UINT32_C(1) << 30 || align_pages > TA_HUGE_PAGES)
        return -1;
    if (pages < STEP_PAGES)
        pages = STEP_PAGES;
    uint32_t index = ta_heap_take(TA_AREA_RING, (uint32_t)pages, align_pages, &zeroed);
    if (index == 0)
        return -1;
    uint32_t used = ring->chunk != 0 ? pages_below(ring) : 0;
    if (used != 0 && used < ta_run_at(ring->chunk)->pages)
        (void)resize(ring, used);
    ta_run_at(index)->ring_next = ring->chunk;
    ta_run_at(index)->kind = TA_KIND_RING;
    mark_pages(index, ta_run_at(index)->first);
    point_at(ring, index, NULL);
    return 0;
}

static char *fitting(const struct ta_ring *ring, size_t size, size_t align)
{
    uintptr_t start = ((uintptr_t)ring->cursor + align - 1) & ~(uintptr_t)(align - 1);
    uintptr_t end = (uintptr_t)ring->end;
    return ring->chunk != 0 && start <= end && size <= end - start ? (char *)start : NULL;
}

void ta_ring_begin(struct ta_ring *ring)
{
    if (ring->depth < TA_SCOPE_DEPTH)
        ring->marks[ring->depth] = (struct ta_mark){.chunk = ring->chunk, .cursor = ring->cursor};
    ring->depth++;
}

void *ta_ring_take(struct ta_ring *ring, size_t size, size_t align)
{
    char *start = fitting(ring, size, align);
    if (__builtin_expect(start == NULL, 0)) {
        size_t room;
        if (__builtin_add_overflow(size, align, &room))
            return NULL;
        if ((ring->chunk == 0 || grow(ring, room) != 0) && chain(ring, room - align, align) != 0)
            return NULL;
        start = fitting(ring, size, align);
    }
    if (start != NULL)
        ring->cursor = start + size;
    return start;
}

void ta_ring_end(struct ta_ring *ring)
{
    if (ring->depth == 0 || --ring->depth >= TA_SCOPE_DEPTH)
        return;
    struct ta_mark mark = ring->marks[ring->depth];
    while (ring->chunk != mark.chunk) {
        uint32_t older = ta_run_at(ring->chunk)->ring_next;
        ta_heap_give(ring->chunk);
        ring->chunk = older;
    }
    if (ring->chunk != 0)
        point_at(ring, ring->chunk, mark.cursor);
}

void ta_ring_close(struct ta_ring *ring)
{
    while (ring->depth != 0)
        ta_ring_end(ring);
}

size_t ta_ring_reach(const void *block)
{
    const struct ta_run *run = ta_run_at(TA_WORD_INDEX(ta_region_word(ta_region_page(block))));
    return (size_t)((char *)ta_region_address(run->first + run->pages) - (const char *)block);
}
