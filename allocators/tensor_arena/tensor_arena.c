/* tensor-arena: an allocator for inference services, whose memory is small and fast at once.
 *
 *  1. A size up to 32 KiB belongs to one of 128 size classes, whose blocks lie in slabs (slab.h,
 *     classes.h); each thread has a few of each at hand (cache.h). From 8 KiB on a size that fills
 * its last page to 1/32 has pages of its own instead.
 *  2. Anything larger is a run of pages of its own (heap.h), rounded to the page; below `large`
 *     (64 KiB) in one area of address space with the slabs, from there on in another, so that
 *     what is small and stays does not break the huge pages of what is large and goes.
 *  3. Freed pages stay resident as the policy allows (policy.h): never more than raises the peak,
 *     nothing that lies idle or that the last of several threads left, and all that a loop
 *     without pauses takes again.
 *  4. Huge pages are asked for where a block fills one, or where the heap is 32 times as large: one
 *     page fault instead of 512, about a sixth of the time a MiB.
 *  5. A scope's memory is bump-allocated in a third area and goes as a whole (scope.h).
 *
 * Bound on waste: footprint ≤ 65/64 of the peak of pages in use (at worst 1.11, see policy.h) + 2
 * MiB. Of the pages in use, rounding takes less than 1/16 and on average 1/32 above 512 B, less
 * than 16 B below; page tails less than a page a block above 32 KiB; thread caches 1/64 of the heap
 * or 128 KiB a thread; what slabs have free is no more than a class's own peak (Robson, "Bounds for
 * some functions concerning dynamic storage allocation", 1974). Records: 4 B a page, 96 B a slab,
 * 32 B a run.
 *
 * After: Bonwick's slabs (1994), the page heaps of tcmalloc and jemalloc, and the article whose
 * ladder, direct mapping and ring it makes measurable (FRAGBENCH_TENSOR_ARENA_LADDER=coarse,
 * _DIRECT=4MiB). Not taken from there: mapping and unmapping each large block, which costs a page
 * fault a page each time, and an atomic cursor that moves even when the request does not fit.
 */
#include "tensor_arena/arena.h"

#include "preload/contract.h"
#include "tensor_arena/cache.h"
#include "tensor_arena/direct.h"
#include "tensor_arena/heap.h"

#include <string.h>

#define LIKELY(condition) __builtin_expect(!!(condition), 1)

struct ta_arena ta_arena;

static void *allocate_pages(size_t size, size_t align, bool *zeroed)
{
    size_t pages = (size + TA_PAGE - 1) >> TA_PAGE_SHIFT;
    (void)ta_cache_get(); /* so that its exit is noticed */
    size_t align_pages = align > TA_PAGE ? align >> TA_PAGE_SHIFT : 1;
    enum ta_area_id area = size >= ta_arena.large ? TA_AREA_LARGE : TA_AREA_SMALL;
    if (size < ta_arena.direct && pages < UINT32_C(1) << 30 && align_pages <= TA_HUGE_PAGES) {
        uint32_t run = ta_heap_take(area, (uint32_t)pages, (uint32_t)align_pages, zeroed);
        if (run != 0)
            return ta_region_address(ta_run_at(run)->first);
    }
    *zeroed = true;
    return ta_direct_take(size, align);
}

static __attribute__((noinline)) void *allocate_slowly(size_t size, size_t align, bool *zeroed)
{
    *zeroed = false;
    if (!atomic_load_explicit(&ta_arena.ready, memory_order_acquire)) {
        fba_open();
        if (!atomic_load_explicit(&ta_arena.ready, memory_order_acquire))
            return NULL;
    }
    uint32_t class = ta_class_of(size, align);
    if (class == TA_NO_CLASS)
        return allocate_pages(size, align, zeroed);
    struct ta_cache *cache = ta_cache_mine;
    struct ta_block *block = cache != NULL ? cache->bins[class].head : NULL;
    if (block == NULL)
        return ta_cache_refill(class);
    cache->bins[class].head = block->next;
    cache->bins[class].count--;
    return block;
}

static inline void *allocate(size_t size, size_t align, bool *zeroed)
{
    struct ta_cache *cache = ta_cache_mine;
    if (LIKELY(size < TA_QUICK_LIMIT && align <= 16 && cache != NULL)) {
        struct ta_bin_cache *bin = &cache->bins[ta_class_fine(size)];
        struct ta_block *block = bin->head;
        if (LIKELY(block != NULL)) {
            bin->head = block->next;
            bin->count--;
            *zeroed = false;
            return block;
        }
    }
    return allocate_slowly(size, align, zeroed);
}

void *fba_allocate(size_t size, size_t align)
{
    bool zeroed;
    return allocate(size, align, &zeroed);
}

void *fba_allocate_zeroed(size_t size)
{
    bool zeroed;
    void *block = allocate(size, 16, &zeroed);
    if (block != NULL && !zeroed)
        memset(block, 0, size);
    return block;
}

/* The run of a block that has pages of its own; anything else is no pointer of ours. */
static uint32_t run_of(const void *block, uint32_t word)
{
    uint32_t index = TA_WORD_INDEX(word);
    const struct ta_run *run = ta_run_at(index);
    if (TA_WORD_KIND(word) != TA_KIND_RUN || run->state != TA_RUN_USED ||
        ta_region_address(run->first) != block)
        fba_panic("a pointer that was freed already or never handed out");
    return index;
}

static __attribute__((noinline)) void release_slowly(void *block)
{
    if (!ta_region_holds(block)) {
        if (!ta_direct_give(block))
            fba_panic("a pointer that was never handed out was freed");
        return;
    }
    uint32_t word = ta_region_word(ta_region_page(block));
    if (TA_WORD_KIND(word) == TA_KIND_SLAB)
        ta_cache_overflow(TA_WORD_CLASS(word), block);
    else if (TA_WORD_KIND(word) != TA_KIND_RING) /* which its scope's end gives back */
        ta_heap_give(run_of(block, word));
}

void fba_release(void *block)
{
    struct ta_cache *cache = ta_cache_mine;
    if (LIKELY(cache != NULL && ta_region_holds(block))) {
        uint32_t word = ta_region_word(ta_region_page(block));
        struct ta_bin_cache *bin = &cache->bins[TA_WORD_CLASS(word)];
        if (LIKELY(TA_WORD_KIND(word) == TA_KIND_SLAB && bin->count < bin->limit)) {
            struct ta_block *freed = block;
            freed->next = bin->head;
            bin->head = freed;
            bin->count++;
            return;
        }
    }
    release_slowly(block);
}

size_t fba_usable(const void *block)
{
    if (!ta_region_holds(block))
        return ta_direct_usable(block);
    uint32_t word = ta_region_word(ta_region_page(block));
    if (TA_WORD_KIND(word) == TA_KIND_SLAB)
        return ta_classes[TA_WORD_CLASS(word)].size;
    if (TA_WORD_KIND(word) == TA_KIND_RING)
        return 0; /* nothing beyond what was asked for, and that is not recorded */
    return (size_t)ta_run_at(run_of(block, word))->pages << TA_PAGE_SHIFT;
}

static void *move(void *block, size_t kept, size_t size)
{
    void *moved = fba_allocate(size, 16);
    if (moved == NULL)
        return NULL;
    memcpy(moved, block, kept < size ? kept : size);
    fba_release(block);
    return moved;
}

/* In place where the pages behind it are free, or where it becomes shorter. */
static void *resize_run(void *block, uint32_t index, size_t size)
{
    size_t now = (size_t)ta_run_at(index)->pages << TA_PAGE_SHIFT;
    size_t pages = (size + TA_PAGE - 1) >> TA_PAGE_SHIFT;
    bool stays = ta_class_of(size, 16) == TA_NO_CLASS || size > now / 2;
    bool same_area = (now >= ta_arena.large) == (size >= ta_arena.large) || size <= now;
    if (stays && same_area && pages < UINT32_C(1) << 30 &&
        ta_heap_resize(index, (uint32_t)pages) == 0)
        return block;
    void *moved = move(block, now, size);
    return moved == NULL && size <= now ? block : moved;
}

void *fba_resize(void *block, size_t size)
{
    if (!ta_region_holds(block)) {
        size_t now = ta_direct_usable(block);
        if (now == 0)
            fba_panic("a pointer that was never handed out was resized");
        void *same =
            size >= ta_arena.direct || size > now / 2 ? ta_direct_resize(block, size) : NULL;
        return same != NULL ? same : move(block, now, size);
    }
    uint32_t word = ta_region_word(ta_region_page(block));
    if (TA_WORD_KIND(word) == TA_KIND_SLAB) {
        size_t now = ta_classes[TA_WORD_CLASS(word)].size;
        return size <= now && size > now / 2 ? block : move(block, now, size);
    }
    if (TA_WORD_KIND(word) == TA_KIND_RING)
        return move(block, ta_ring_reach(block), size);
    return resize_run(block, run_of(block, word), size);
}
