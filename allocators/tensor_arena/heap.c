#include "tensor_arena/heap.h"

#include "tensor_arena/os.h"

enum { LEAST_PURGE_PAGES = 16, HUGE_SHARE = 64, LOOKED_AT = 8, STRETCH_PAGES = 8 };

struct ta_heap ta_heap;

static struct ta_heap *const heap = &ta_heap;

int ta_heap_open(void)
{
    size_t huge_pages = ta_region.bytes >> TA_PAGE_SHIFT;
    heap->advised = ta_os->map(huge_pages / TA_HUGE_PAGES);
    if (heap->advised == NULL)
        return -1;
    return ta_table_open(&heap->runs, sizeof(struct ta_run), TA_INDEX_LIMIT);
}

/* The map's words at both ends: neighbours and free() find the run by them. */
static void mark(uint32_t index)
{
    const struct ta_run *run = ta_run_at(index);
    uint32_t word = TA_WORD(run->kind, 0, index);
    ta_region_mark(run->first, word);
    ta_region_mark(run->first + run->pages - 1, word);
}

static uint32_t make(enum ta_area_id area, uint32_t first, uint32_t pages, enum ta_run_state state)
{
    uint32_t index = ta_table_take(&heap->runs);
    if (index == 0)
        return 0;
    *ta_run_at(index) = (struct ta_run){.first = first,
                                        .pages = pages,
                                        .area = (uint8_t)area,
                                        .state = (uint8_t)state,
                                        .kind = TA_KIND_RUN};
    mark(index);
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

static void shelve(uint32_t index)
{
    struct ta_run *run = ta_run_at(index);
    ta_treap_insert(&heap->roots[run->area][run->state], index);
    if (run->state == TA_RUN_DIRTY)
        link_newest(index);
}

static void unshelve(uint32_t index)
{
    struct ta_run *run = ta_run_at(index);
    ta_treap_remove(&heap->roots[run->area][run->state], index);
    if (run->state == TA_RUN_DIRTY)
        unlink_age(index);
}

/* The run at a page that is the end of one, when it is in that state; 0 otherwise. */
static uint32_t neighbour(const struct ta_area *area, uint32_t page, enum ta_run_state state)
{
    if (page < area->begin || page >= area->frontier)
        return 0;
    uint32_t word = ta_region_word(page);
    if (TA_WORD_KIND(word) != TA_KIND_RUN)
        return 0;
    uint32_t index = TA_WORD_INDEX(word);
    return ta_run_at(index)->state == state ? index : 0;
}

/* Puts a run that is in no tree among the free ones of its state, merged with its neighbours. */
static void settle(uint32_t index)
{
    struct ta_run *run = ta_run_at(index);
    struct ta_area *area = &ta_region.areas[run->area];
    uint32_t before = neighbour(area, run->first - 1, run->state);
    if (before != 0) {
        unshelve(before);
        run->first = ta_run_at(before)->first;
        run->pages += ta_run_at(before)->pages;
        ta_table_give(&heap->runs, before);
    }
    uint32_t after = neighbour(area, run->first + run->pages, run->state);
    if (after != 0) {
        unshelve(after);
        run->pages += ta_run_at(after)->pages;
        ta_table_give(&heap->runs, after);
    }
    if (run->state == TA_RUN_CLEAN && run->first + run->pages == area->frontier) {
        area->frontier = run->first;
        ta_table_give(&heap->runs, index);
        return;
    }
    mark(index);
    shelve(index);
}

/* Cuts the pages from `keep` on off a run that is in no tree; the new run has the same state. 0: no
 * memory for it, nothing changed. */
static uint32_t cut(uint32_t index, uint32_t keep)
{
    struct ta_run *run = ta_run_at(index);
    uint32_t rest = make(run->area, run->first + keep, run->pages - keep, run->state);
    if (rest == 0)
        return 0;
    run->pages = keep;
    mark(index);
    return rest;
}

/* How many pages of a dirty run may stay when `excess` are to go. */
static uint32_t pages_to_keep(const struct ta_run *run, uint64_t excess)
{
    if (excess < LEAST_PURGE_PAGES)
        excess = LEAST_PURGE_PAGES;
    if (excess + LEAST_PURGE_PAGES >= run->pages)
        return 0;
    uint32_t keep = run->pages - (uint32_t)excess;
    uint32_t end = run->first + keep;
    if (heap->advised[end / TA_HUGE_PAGES] == 0)
        return keep;
    uint32_t inside = end % TA_HUGE_PAGES; /* a huge page goes whole or not at all */
    return keep > inside ? keep - inside : 0;
}

/* Detaches the oldest dirty pages that are over the allowance; 0 = none. */
static uint32_t take_excess(uint64_t allowed)
{
    if (heap->policy.dirty <= allowed || heap->oldest == 0 || heap->stuck)
        return 0;
    uint32_t index = heap->oldest;
    unshelve(index);
    uint32_t keep = pages_to_keep(ta_run_at(index), heap->policy.dirty - allowed);
    uint32_t rest = keep == 0 ? 0 : cut(index, keep);
    if (rest != 0) {
        struct ta_run *run = ta_run_at(index);
        ta_treap_insert(&heap->roots[run->area][run->state], index);
        link_oldest(index);
        index = rest;
    }
    ta_run_at(index)->state = TA_RUN_LEAVING;
    return index;
}

/* Gives back what is over the allowance. The lock is held on entry and on return, but not during
 * the system call: a run that is leaving merges with nobody. */
static void trim(bool all)
{
    uint64_t patience = all ? 0 : ta_policy_patience(&heap->policy);
    if (heap->policy.dirty <= ta_policy_allowed(&heap->policy) + patience && !all)
        return;
    for (;;) {
        uint32_t index = take_excess(all ? 0 : ta_policy_allowed(&heap->policy));
        if (index == 0)
            return;
        struct ta_run *run = ta_run_at(index);
        uint32_t pages = run->pages;
        char *start = ta_region_address(run->first);
        ta_policy_purge(&heap->policy, pages);
        ta_unlock(&heap->lock);
        bool gone = ta_os->purge(start, (size_t)pages << TA_PAGE_SHIFT) == 0;
        ta_lock(&heap->lock);
        run->state = gone ? TA_RUN_CLEAN : TA_RUN_DIRTY;
        if (!gone) {
            ta_policy_spill(&heap->policy, pages);
            heap->stuck = true;
        }
        settle(index);
    }
}

/* Everyone who changed the policy's numbers ends with this. */
static void leave(void)
{
    trim(false);
    atomic_store_explicit(&heap->used_pages, heap->policy.used, memory_order_relaxed);
    ta_unlock(&heap->lock);
}

static void advise(uint32_t first, uint32_t end, bool wanted)
{
    char *start = ta_region_address(first);
    (void)ta_os->huge(start, (size_t)(end - first) << TA_PAGE_SHIFT, wanted);
    for (uint32_t page = first; page < end; page += TA_HUGE_PAGES)
        heap->advised[page / TA_HUGE_PAGES] = wanted;
}

/* Asks for huge pages under the fresh pages first … end, which lie in free clean space that reaches
 * to `clean_end`. Returns the page up to which the first touch will bring memory in. */
static uint32_t freshen(uint32_t first, uint32_t end, uint32_t clean_end)
{
    if (!heap->huge)
        return end;
    uint32_t inner = first + (TA_HUGE_PAGES - first % TA_HUGE_PAGES) % TA_HUGE_PAGES;
    uint32_t last = end - end % TA_HUGE_PAGES;
    for (uint32_t page = inner; page < last; page += TA_HUGE_PAGES) {
        if (heap->advised[page / TA_HUGE_PAGES] == 0) {
            advise(page, last, true);
            break;
        }
    }
    bool whole = last >= inner && last < end && last + TA_HUGE_PAGES <= clean_end;
    if (!whole)
        return end;
    bool large = heap->policy.used >= (uint64_t)TA_HUGE_PAGES * HUGE_SHARE;
    bool advised = heap->advised[last / TA_HUGE_PAGES] != 0;
    if (advised != large)
        advise(last, last + TA_HUGE_PAGES, large);
    return large ? last + TA_HUGE_PAGES : end;
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
    uint32_t index = make(id, area->frontier, (uint32_t)end - area->frontier, TA_RUN_CLEAN);
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
    unshelve(index);
    return index;
}

/* Puts back what a request leaves of the clean run that it was cut from: the rest of a huge page is
 * dirty, since the request's first touch brings it in. */
static void put_back_clean(uint32_t rest, uint32_t spilled)
{
    struct ta_run *run = ta_run_at(rest);
    uint32_t cold = spilled == 0 || spilled == run->pages ? 0 : cut(rest, spilled);
    if (spilled != 0 && (cold != 0 || spilled == run->pages)) {
        run->state = TA_RUN_DIRTY;
        ta_policy_spill(&heap->policy, run->pages);
    }
    if (cold != 0)
        settle(cold);
    settle(rest);
}

/* Leaves the pages before a multiple of align_pages among the free. 0: no memory, all is free
 * again. */
static uint32_t align(uint32_t index, uint32_t align_pages)
{
    const struct ta_run *run = ta_run_at(index);
    uint32_t skip = (align_pages - run->first % align_pages) % align_pages;
    if (skip == 0)
        return index;
    uint32_t aligned = cut(index, skip);
    uint8_t state = run->state;
    if (aligned != 0)
        ta_run_at(aligned)->state = TA_RUN_LEAVING; /* not to be merged with what is before it */
    settle(index);
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
    uint32_t rest = run->pages == pages ? 0 : cut(index, pages);
    if (run->pages != pages) {
        settle(index);
        return 0;
    }
    *fresh = run->state == TA_RUN_CLEAN;
    run->state = TA_RUN_USED;
    uint32_t end = run->first + pages;
    uint32_t clean_end = end + (rest == 0 ? 0 : ta_run_at(rest)->pages);
    uint32_t warm = *fresh ? freshen(run->first, end, clean_end) : end;
    if (rest != 0 && *fresh)
        put_back_clean(rest, warm - end);
    else if (rest != 0)
        settle(rest);
    return index;
}

/* The free run at either end of a dirty one that a request could be stretched into: pages there
 * are. */
static uint32_t room_before(const struct ta_run *run, uint32_t *clean)
{
    *clean = neighbour(&ta_region.areas[run->area], run->first - 1, TA_RUN_CLEAN);
    return *clean != 0 ? ta_run_at(*clean)->pages : 0;
}

static uint32_t room_after(const struct ta_run *run, uint32_t *clean)
{
    const struct ta_area *area = &ta_region.areas[run->area];
    uint32_t end = run->first + run->pages;
    *clean = neighbour(area, end, TA_RUN_CLEAN);
    if (*clean != 0)
        return ta_run_at(*clean)->pages;
    return end == area->frontier ? area->end - end : 0;
}

/* Of the largest dirty runs, the first that fits the request together with clean space around it.
 */
static uint32_t find_stretchable(enum ta_area_id area, uint32_t pages)
{
    uint32_t root = heap->roots[area][TA_RUN_DIRTY];
    uint32_t index = ta_treap_below(root, 0);
    for (unsigned i = 0; i < LOOKED_AT && index != 0; i++) {
        const struct ta_run *run = ta_run_at(index);
        uint32_t clean;
        if (run->pages + room_before(run, &clean) + room_after(run, &clean) >= pages)
            return index;
        index = ta_treap_below(root, index);
    }
    return 0;
}

/* The last pages of a clean run become the first of a used one. */
static uint32_t take_before(uint32_t index, uint32_t wanted)
{
    struct ta_run *run = ta_run_at(index);
    uint32_t clean, there = room_before(run, &clean);
    if (there == 0 || wanted == 0)
        return 0;
    unshelve(clean);
    uint32_t pages = wanted < there ? wanted : there;
    uint32_t rest = pages == there ? clean : cut(clean, there - pages);
    if (rest == 0) {
        settle(clean);
        return 0;
    }
    ta_run_at(rest)->state = TA_RUN_LEAVING;
    if (rest != clean)
        settle(clean);
    run->first -= pages;
    run->pages += pages;
    ta_table_give(&heap->runs, rest);
    mark(index);
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
        next = neighbour(area, end, TA_RUN_DIRTY);
        if (next == 0)
            next = neighbour(area, end, TA_RUN_CLEAN);
        if (next != 0)
            unshelve(next);
    }
    if (next == 0)
        return 0;
    uint32_t pages = ta_run_at(next)->pages < wanted ? ta_run_at(next)->pages : wanted;
    bool clean = false;
    if (carve(next, pages, 1, &clean) == 0)
        return 0;
    ta_table_give(&heap->runs, next);
    run->pages += pages;
    mark(index);
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
    unshelve(index);
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
    settle(index);
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
        unshelve(index);
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
    settle(index);
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
    uint32_t rest = cut(index, pages);
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
    trim(true);
    ta_unlock(&heap->lock);
}
