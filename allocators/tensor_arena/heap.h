/* The page heap: runs of whole pages, free ones merged with their neighbours, kept resident as
 * policy.h allows.
 *
 * 1. A run is in use, dirty (free, perhaps resident) or clean (free, surely not). Free neighbours
 * of one state are always merged.
 * 2. A request takes the smallest dirty run that holds it, of equals the lowest; else the smallest
 *    clean one; else new pages at the area's frontier. So the top empties, and an empty top lowers
 * the frontier.
 * 3. A fresh huge page comes whole: what the request leaves of it is a dirty run, the first to be
 *    taken next. It is asked for where the request fills it, or where the heap is 32 times as
 * large.
 * 4. What the policy does not allow to stay goes back oldest first, cut from the upper end, outside
 * of the lock.
 *
 * Waste: less than a page a run; holes cost address space, not memory. Both trees are treaps
 * (Seidel and Aragon 1996), by pages then address; their nodes lie in one dense table, not in the
 * pages.
 *
 * Any thread may call; one lock. Runs are numbers of the table; 0 is none.
 */
#ifndef ALLOCATORS_TENSOR_ARENA_HEAP_H
#define ALLOCATORS_TENSOR_ARENA_HEAP_H

#include "tensor_arena/lock.h"
#include "tensor_arena/policy.h"
#include "tensor_arena/region.h"

enum ta_run_state { TA_RUN_USED = 0, TA_RUN_DIRTY, TA_RUN_CLEAN, TA_RUN_LEAVING, TA_RUN_STATES };

struct ta_run {
    uint32_t first, pages;
    uint32_t left, right;  /* of the tree, when free */
    uint32_t older, newer; /* of the list of dirty runs, by age */
    uint8_t state;         /* enum ta_run_state */
    uint8_t area;          /* enum ta_area_id */
    uint8_t kind;          /* enum ta_kind of its words in the map: RUN, or RING when in use */
    uint8_t unused;
    uint32_t ring_next; /* of a ring's chunks, when in use */
};

struct ta_heap {
    struct ta_lock lock;
    struct ta_policy policy;
    struct ta_table runs;
    uint32_t roots[TA_AREAS][TA_RUN_STATES]; /* of the trees: dirty and clean */
    uint32_t oldest, newest;
    uint8_t *advised;            /* a byte a huge page: asked for already */
    _Atomic uint64_t used_pages; /* policy.used, for those without the lock */
    bool huge;                   /* option: ask for huge pages at all */
    bool stuck;                  /* the kernel takes nothing back (mlockall): stop asking */
};

extern struct ta_heap ta_heap;

int ta_heap_open(void);

static inline struct ta_run *ta_run_at(uint32_t index)
{
    return (struct ta_run *)(void *)ta_heap.runs.base + index;
}

/* A run of so many pages, aligned to align_pages (a power of two up to TA_HUGE_PAGES, which the
 * region itself is aligned to), in that area, or in another when it is full. *zeroed: all its
 * pages are fresh. 0 when there is no memory. */
uint32_t ta_heap_take(enum ta_area_id area, uint32_t pages, uint32_t align_pages, bool *zeroed);
void ta_heap_give(uint32_t index);
/* Makes a run longer or shorter where it is: 0, or -1 when its neighbour is in the way. */
int ta_heap_resize(uint32_t index, uint32_t pages);
/* Gives back all dirty pages, whatever the policy. */
void ta_heap_purge(void);
/* The last thread but one has gone. */
void ta_heap_exit(void);

/* treap.c: one tree by (pages, first). */
void ta_treap_insert(uint32_t *root, uint32_t run);
void ta_treap_remove(uint32_t *root, uint32_t run);
/* The smallest with at least so many pages, of equals the lowest; 0 = none. */
uint32_t ta_treap_fit(uint32_t root, uint32_t pages);
/* The one before `run`, which is in the tree; the last of all for run = 0; 0 = none. */
uint32_t ta_treap_below(uint32_t root, uint32_t run);

#endif
