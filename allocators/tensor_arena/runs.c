#include "tensor_arena/runs.h"

static struct ta_heap *const heap = &ta_heap;

void ta_run_mark(uint32_t index)
{
    const struct ta_run *run = ta_run_at(index);
    uint32_t word = TA_WORD(run->kind, 0, index);
    ta_region_mark(run->first, word);
    ta_region_mark(run->first + run->pages - 1, word);
}

uint32_t ta_run_make(enum ta_area_id area, uint32_t first, uint32_t pages, enum ta_run_state state)
{
    uint32_t index = ta_table_take(&heap->runs);
    if (index == 0)
        return 0;
    *ta_run_at(index) = (struct ta_run){.first = first,
                                        .pages = pages,
                                        .area = (uint8_t)area,
                                        .state = (uint8_t)state,
                                        .kind = TA_KIND_RUN};
    ta_run_mark(index);
    return index;
}

static void link_oldest(uint32_t index)
{
    struct ta_run *run = ta_run_at(index);
    run->older = 0;
    run->newer = heap->oldest;
    if (heap->oldest != 0)
        ta_run_at(heap->oldest)->older = index;
    else
        heap->newest = index;
    heap->oldest = index;
}

static void link_newest(uint32_t index)
{
    struct ta_run *run = ta_run_at(index);
    run->newer = 0;
    run->older = heap->newest;
    if (heap->newest != 0)
        ta_run_at(heap->newest)->newer = index;
    else
        heap->oldest = index;
    heap->newest = index;
}

static void unlink_age(uint32_t index)
{
    const struct ta_run *run = ta_run_at(index);
    if (run->older != 0)
        ta_run_at(run->older)->newer = run->newer;
    else
        heap->oldest = run->newer;
    if (run->newer != 0)
        ta_run_at(run->newer)->older = run->older;
    else
        heap->newest = run->older;
}

void ta_run_shelve(uint32_t index)
{
    struct ta_run *run = ta_run_at(index);
    ta_treap_insert(&heap->roots[run->area][run->state], index);
    if (run->state == TA_RUN_DIRTY)
        link_newest(index);
}

void ta_run_shelve_oldest(uint32_t index)
{
    const struct ta_run *run = ta_run_at(index);
    ta_treap_insert(&heap->roots[run->area][run->state], index);
    link_oldest(index);
}

void ta_run_unshelve(uint32_t index)
{
    struct ta_run *run = ta_run_at(index);
    ta_treap_remove(&heap->roots[run->area][run->state], index);
    if (run->state == TA_RUN_DIRTY)
        unlink_age(index);
}

uint32_t ta_run_neighbour(const struct ta_area *area, uint32_t page, enum ta_run_state state)
{
    if (page < area->begin || page >= area->frontier)
        return 0;
    uint32_t word = ta_region_word(page);
    if (TA_WORD_KIND(word) != TA_KIND_RUN)
        return 0;
    uint32_t index = TA_WORD_INDEX(word);
    return ta_run_at(index)->state == state ? index : 0;
}

void ta_run_settle(uint32_t index)
{
    struct ta_run *run = ta_run_at(index);
    struct ta_area *area = &ta_region.areas[run->area];
    uint32_t before = ta_run_neighbour(area, run->first - 1, run->state);
    if (before != 0) {
        ta_run_unshelve(before);
        run->first = ta_run_at(before)->first;
        run->pages += ta_run_at(before)->pages;
        ta_table_give(&heap->runs, before);
    }
    uint32_t after = ta_run_neighbour(area, run->first + run->pages, run->state);
    if (after != 0) {
        ta_run_unshelve(after);
        run->pages += ta_run_at(after)->pages;
        ta_table_give(&heap->runs, after);
    }
    if (run->state == TA_RUN_CLEAN && run->first + run->pages == area->frontier) {
        area->frontier = run->first;
        ta_table_give(&heap->runs, index);
        return;
    }
    ta_run_mark(index);
    ta_run_shelve(index);
}

uint32_t ta_run_cut(uint32_t index, uint32_t keep)
{
    struct ta_run *run = ta_run_at(index);
    uint32_t rest = ta_run_make(run->area, run->first + keep, run->pages - keep, run->state);
    if (rest == 0)
        return 0;
    run->pages = keep;
    ta_run_mark(index);
    return rest;
}
