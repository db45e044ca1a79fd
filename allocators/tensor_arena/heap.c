#include "tensor_arena/heap.h"

#include "tensor_arena/os.h"
#include "tensor_arena/runs.h"

enum { LOOKED_AT = 32, HOPS = 4, STRETCH_PAGES = 8 };

struct ta_heap ta_heap;

static struct ta_heap *const heap = &ta_heap;

int ta_heap_open(void)
{
    size_t pages = ta_region.bytes >> TA_PAGE_SHIFT;
    if (heap->advised == NULL)
        heap->advised = ta_os->map(pages / TA_HUGE_PAGES);
    if (heap->advised == NULL)
        return -1;
    return ta_table_open(&heap->runs, sizeof(struct ta_run), TA_INDEX_LIMIT);
}

/* Everyone who changed the policy's numbers ends with this. */
static void leave(void)
{
    ta_heap_trim(TA_TRIM_EXCESS);
    atomic_store_explicit(&heap->used_pages, heap->policy.used, memory_order_relaxed);
    ta_unlock(&heap->lock);
}

/* New pages at the frontier as one clean run in no tree; 0 = no memory. Takes along a clean run
 * that ends there, which the frontier's rule makes impossible, so there is none. */
static uint32_t grow(enum ta_area_id id, uint32_t pages, uint32_t align_pages)
{
    struct ta_area *area = &ta_region.areas[id];
    uint32_t skip = (align_pages - area->frontier % align_pages) % align_pages;
    uint64_t end = (uint64_t)area->frontier + skip + pages;
    end = (end + TA_HUGE_PAGES - 1) / TA_HUGE_PAGES * TA_HUGE_PAGES;
    if (end > area->end || ta_region_commit(id, (uint32_t)end) != 0)
        return 0;
    uint32_t index = ta_run_make(id, area->frontier, (uint32_t)end - area->frontier, TA_RUN_CLEAN);
    if (index != 0)
        area->frontier = (uint32_t)end;
    return index;
}

/* A clean run that holds the request, in no tree; 0 = no memory. */
static uint32_t find_clean(enum ta_area_id area, uint32_t pages, uint32_t align_pages)
{
    uint32_t index = ta_treap_fit(heap->roots[area][TA_RUN_CLEAN], pages + align_pages - 1);
    if (index == 0)
        return grow(area, pages, align_pages);
    ta_run_unshelve(index);
    return index;
}

/* Puts back what a request leaves of the clean run that it was cut from: the rest of a huge page is
 * dirty, since the request's first touch brings it in. */
static void put_back_clean(uint32_t rest, uint32_t spilled)
{
    struct ta_run *run = ta_run_at(rest);
    uint32_t cold = spilled == 0 || spilled == run->pages ? 0 : ta_run_cut(rest, spilled);
    if (spilled != 0 && (cold != 0 || spilled == run->pages)) {
        run->state = TA_RUN_DIRTY;
        ta_policy_spill(&heap->policy, run->pages);
    }
    if (cold != 0)
        ta_run_settle(cold);
    ta_run_settle(rest);
}

/* Leaves the pages before a multiple of align_pages among the free. 0: no memory, all is free
 * again. */
static uint32_t align(uint32_t index, uint32_t align_pages)
{
    const struct ta_run *run = ta_run_at(index);
    uint32_t skip = (align_pages - run->first % align_pages) % align_pages;
    if (skip == 0)
        return index;
    uint32_t aligned = ta_run_cut(index, skip);
    uint8_t state = run->state;
    if (aligned != 0)
        ta_run_at(aligned)->state = TA_RUN_LEAVING; /* not to be merged with what is before it */
    ta_run_settle(index);
    if (aligned != 0)
        ta_run_at(aligned)->state = state;
    return aligned;
}

/* Cuts a free run that is in no tree to the request and makes it used; what is around it goes back
 * among the free. 0: no memory, all is free again. */
static uint32_t carve(uint32_t index, uint32_t pages, uint32_t align_pages, bool *fresh)
{
    index = align(index, align_pages);
    if (index == 0)
        return 0;
    struct ta_run *run = ta_run_at(index);
    uint32_t rest = run->pages == pages ? 0 : ta_run_cut(index, pages);
    if (run->pages != pages) {
        ta_run_settle(index);
        return 0;
    }
    *fresh = run->state == TA_RUN_CLEAN;
    run->state = TA_RUN_USED;
    uint32_t end = run->first + pages;
    uint32_t clean_end = end + (rest == 0 ? 0 : ta_run_at(rest)->pages);
    uint32_t warm = *fresh ? ta_heap_freshen(run->first, end, clean_end) : end;
    if (rest != 0 && *fresh)
        put_back_clean(rest, warm - end);
    else if (rest != 0)
        ta_run_settle(rest);
    return index;
}

/* Pages of the clean run before a run, *clean; 0 = there is none. */
static uint32_t room_before(const struct ta_run *run, uint32_t *clean)
{
    *clean = ta_run_neighbour(&ta_region.areas[run->area], run->first - 1, TA_RUN_CLEAN);
    return *clean != 0 ? ta_run_at(*clean)->pages : 0;
}

/* How many clean pages it takes to stretch a dirty run to the request, upwards over free runs of
 * both states and then downwards; UINT32_MAX = it cannot be. */
static uint32_t price_of(const struct ta_run *run, uint32_t pages)
{
    const struct ta_area *area = &ta_region.areas[run->area];
    uint32_t have = run->pages, end = run->first + run->pages, price = 0, next = 0;
    for (unsigned hop = 0; hop < HOPS && have < pages; hop++) {
        bool dirty = (next = ta_run_neighbour(area, end, TA_RUN_DIRTY)) != 0;
        if (!dirty && (next = ta_run_neighbour(area, end, TA_RUN_CLEAN)) == 0)
            break;
        uint32_t there = ta_run_at(next)->pages, wanted = pages - have;
        uint32_t taken = there < wanted ? there : wanted;
        price += dirty ? 0 : taken;
        have += taken;
        end += there;
    }
    if (have >= pages)
        return price;
    uint32_t room = end == area->frontier ? area->end - end : room_before(run, &next);
    return room >= pages - have ? price + pages - have : UINT32_MAX;
}

/* Of the largest dirty runs the one that is stretched to the request at the least price. */
static uint32_t find_stretchable(enum ta_area_id area, uint32_t pages)
{
    uint32_t root = heap->roots[area][TA_RUN_DIRTY];
    uint32_t index = ta_treap_below(root, 0), best = 0, least = UINT32_MAX;
    for (unsigned i = 0; i < LOOKED_AT && index != 0; i++) {
        uint32_t price = price_of(ta_run_at(index), pages);
        if (price < least) {
            least = price;
            best = index;
        }
        index = ta_treap_below(root, index);
    }
    return best;
}

/* The last pages of a clean run become the first of a used one. */
static uint32_t take_before(uint32_t index, uint32_t wanted)
{
    struct ta_run *run = ta_run_at(index);
    uint32_t clean, there = room_before(run, &clean);
    if (there == 0 || wanted == 0)
        return 0;
    ta_run_unshelve(clean);
    uint32_t pages = wanted < there ? wanted : there;
    uint32_t rest = pages == there ? clean : ta_run_cut(clean, there - pages);
    if (rest == 0) {
        ta_run_settle(clean);
        return 0;
    }
    ta_run_at(rest)->state = TA_RUN_LEAVING;
    if (rest != clean)
        ta_run_settle(clean);
    run->first -= pages;
    run->pages += pages;
    ta_table_give(&heap->runs, rest);
    ta_run_mark(index);
    return pages;
}

/* Takes the first pages of the free run that follows, at most `wanted`; how many it took,
 * and adds those of them that are fresh. */
static uint32_t absorb(uint32_t index, uint32_t wanted, uint32_t *fresh)
{
    struct ta_run *run = ta_run_at(index);
    struct ta_area *area = &ta_region.areas[run->area];
    uint32_t end = run->first + run->pages;
    uint32_t next = 0;
    if (end == area->frontier) {
        next = grow(run->area, wanted, 1);
    } else {
        next = ta_run_neighbour(area, end, TA_RUN_DIRTY);
        if (next == 0)
            next = ta_run_neighbour(area, end, TA_RUN_CLEAN);
        if (next != 0)
            ta_run_unshelve(next);
    }
    if (next == 0)
        return 0;
    uint32_t pages = ta_run_at(next)->pages < wanted ? ta_run_at(next)->pages : wanted;
    bool clean = false;
    if (carve(next, pages, 1, &clean) == 0)
        return 0;
    ta_table_give(&heap->runs, next);
    run->pages += pages;
    ta_run_mark(index);
    *fresh += clean ? pages : 0;
    return pages;
}

/* Stretches a dirty run over clean space around it, so that fewer pages are fresh than if all were.
 * It is used afterwards; 0: not possible, nothing changed but what is free where. */
static uint32_t stretch(enum ta_area_id area, uint32_t pages, uint32_t *fresh)
{
    uint32_t index = find_stretchable(area, pages);
    if (index == 0)
        return 0;
    struct ta_run *run = ta_run_at(index);
    ta_run_unshelve(index);
    run->state = TA_RUN_USED;
    *fresh = 0;
    while (run->pages < pages) {
        uint32_t taken = absorb(index, pages - run->pages, fresh);
        if (taken == 0)
            break;
    }
    *fresh += take_before(index, pages - run->pages);
    if (run->pages == pages)
        return index;
    ta_policy_spill(&heap->policy, *fresh);
    run->state = TA_RUN_DIRTY;
    ta_run_settle(index);
    return 0;
}

/* A used run for the request; *fresh of its pages come from the kernel. */
static uint32_t obtain(enum ta_area_id area, uint32_t pages, uint32_t align_pages, uint32_t *fresh)
{
    uint32_t room = pages + align_pages - 1;
    bool clean = false;
    uint32_t index = ta_treap_fit(heap->roots[area][TA_RUN_DIRTY], room);
    if (index == 0 && align_pages == 1 && pages >= STRETCH_PAGES)
        index = stretch(area, pages, fresh);
    else if (index != 0)
        ta_run_unshelve(index);
    if (index != 0 && ta_run_at(index)->state == TA_RUN_USED)
        return index;
    if (index == 0)
        index = find_clean(area, pages, align_pages);
    if (index != 0)
        index = carve(index, pages, align_pages, &clean);
    *fresh = clean ? pages : 0;
    return index;
}

uint32_t ta_heap_take(enum ta_area_id area, uint32_t pages, uint32_t align_pages, bool *zeroed)
{
    uint32_t fresh = 0;
    ta_lock(&heap->lock);
    ta_policy_tick(&heap->policy, ta_os->now_ns());
    uint32_t index = obtain(area, pages, align_pages, &fresh);
    for (unsigned i = 1; i < TA_AREAS && index == 0; i++) /* lying apart is worth no refusal */
        index = obtain((area + i) % TA_AREAS, pages, align_pages, &fresh);
    if (index != 0)
        ta_policy_take(&heap->policy, pages, fresh);
    leave();
    *zeroed = fresh == pages && ta_region.zero_pages;
    return index;
}

static void drop(uint32_t index)
{
    struct ta_run *run = ta_run_at(index);
    run->state = TA_RUN_DIRTY;
    run->kind = TA_KIND_RUN;
    ta_policy_drop(&heap->policy, run->pages);
    ta_run_settle(index);
}

void ta_heap_give(uint32_t index)
{
    ta_lock(&heap->lock);
    ta_policy_tick(&heap->policy, ta_os->now_ns());
    drop(index);
    leave();
}

static int shrink(uint32_t index, uint32_t pages)
{
    uint32_t rest = ta_run_cut(index, pages);
    if (rest == 0)
        return -1;
    drop(rest);
    return 0;
}

static int extend(uint32_t index, uint32_t pages)
{
    struct ta_run *run = ta_run_at(index);
    uint32_t before = run->pages, fresh = 0, taken = 1;
    while (run->pages < pages && taken != 0)
        taken = absorb(index, pages - run->pages, &fresh);
    ta_policy_take(&heap->policy, run->pages - before, fresh);
    if (run->pages == pages)
        return 0;
    if (run->pages != before)
        (void)shrink(index, before);
    return -1;
}

int ta_heap_resize(uint32_t index, uint32_t pages)
{
    ta_lock(&heap->lock);
    ta_policy_tick(&heap->policy, ta_os->now_ns());
    uint32_t now = ta_run_at(index)->pages;
    int result = 0;
    if (pages < now)
        result = shrink(index, pages);
    else if (pages > now)
        result = extend(index, pages);
    leave();
    return result;
}

void ta_heap_purge(void)
{
    ta_lock(&heap->lock);
    heap->stuck = false;
    ta_heap_trim(TA_TRIM_ALL);
    ta_unlock(&heap->lock);
}

void ta_heap_exit(void)
{
    ta_lock(&heap->lock);
    ta_policy_tick(&heap->policy, ta_os->now_ns());
    ta_heap_trim(TA_TRIM_EXIT);
    ta_unlock(&heap->lock);
}
