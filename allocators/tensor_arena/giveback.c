/* The two ways in which the heap talks to the kernel about pages: giving back, and asking for huge
 * ones. */
#include "tensor_arena/os.h"
#include "tensor_arena/runs.h"

enum { LEAST_PURGE_PAGES = 16 };

static struct ta_heap *const heap = &ta_heap;

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
    ta_run_unshelve(index);
    uint32_t keep = pages_to_keep(ta_run_at(index), heap->policy.dirty - allowed);
    uint32_t rest = keep == 0 ? 0 : ta_run_cut(index, keep);
    if (rest != 0) {
        ta_run_shelve_oldest(index);
        index = rest;
    }
    ta_run_at(index)->state = TA_RUN_LEAVING;
    return index;
}

/* Not under the lock, which all page requests wait for: a run that is leaving merges with nobody.
 * false: the kernel does not take it. */
static bool let_go(uint32_t index)
{
    struct ta_run *run = ta_run_at(index);
    char *start = ta_region_address(run->first);
    ta_unlock(&heap->lock);
    bool gone = ta_os->purge(start, (size_t)run->pages << TA_PAGE_SHIFT) == 0;
    ta_lock(&heap->lock);
    run->state = gone ? TA_RUN_CLEAN : TA_RUN_DIRTY;
    if (!gone) {
        ta_policy_spill(&heap->policy, run->pages);
        heap->stuck = true;
    }
    ta_run_settle(index);
    return gone;
}

static uint64_t allowed_for(enum ta_trim why)
{
    if (why == TA_TRIM_ALL)
        return 0;
    return why == TA_TRIM_EXIT ? ta_policy_exit(&heap->policy) : ta_policy_allowed(&heap->policy);
}

void ta_heap_trim(enum ta_trim why)
{
    uint64_t patience = why == TA_TRIM_EXCESS ? ta_policy_patience(&heap->policy) : 0;
    uint64_t allowed = allowed_for(why);
    if (heap->policy.dirty <= allowed + patience)
        return;
    for (;;) {
        uint32_t index = take_excess(allowed);
        if (index == 0)
            return;
        uint32_t pages = ta_run_at(index)->pages;
        if (why == TA_TRIM_EXIT)
            ta_policy_part(&heap->policy, pages);
        else
            ta_policy_purge(&heap->policy, pages);
        if (!let_go(index))
            return;
        if (why == TA_TRIM_EXCESS) /* others went on meanwhile */
            allowed = ta_policy_allowed(&heap->policy);
    }
}

static void advise(uint32_t first, uint32_t end, bool wanted)
{
    char *start = ta_region_address(first);
    if (ta_os->huge(start, (size_t)(end - first) << TA_PAGE_SHIFT, wanted) != 0)
        heap->huge = false; /* a kernel without them */
    for (uint32_t page = first; page < end; page += TA_HUGE_PAGES)
        heap->advised[page / TA_HUGE_PAGES] = wanted;
}

uint32_t ta_heap_freshen(uint32_t first, uint32_t end, uint32_t clean_end)
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
    bool large = heap->policy.used >= TA_HUGE_FROM_PAGES;
    bool advised = heap->advised[last / TA_HUGE_PAGES] != 0;
    if (advised != large)
        advise(last, last + TA_HUGE_PAGES, large);
    return large ? last + TA_HUGE_PAGES : end;
}
