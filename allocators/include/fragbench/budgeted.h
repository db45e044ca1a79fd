/* The budgeted allocator: a hard limit that holds, in front of any other allocator.
 *
 * Link with -lfragbench-budgeted, or preload the library and find these functions as weak symbols.
 * The budget may also come from the environment (docs/budgeted.md); without one there is no limit
 * and only the accounting. All functions may be called on any thread at any time; none allocates.
 */
#ifndef FRAGBENCH_BUDGETED_H
#define FRAGBENCH_BUDGETED_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* "No limit", and the most that a budget can be. */
#define FRAGBENCH_BUDGETED_UNLIMITED ((size_t)-1 >> 1)

/* What used and peak stand for, and what the budget bounds. */
enum fragbench_budgeted_mode {
    FRAGBENCH_BUDGETED_CHARGED = 0, /* usable bytes of all blocks handed out */
    FRAGBENCH_BUDGETED_FOOTPRINT,   /* resident bytes + handed-out bytes not yet touched */
};

/* The soft limit was reached: `used` bytes against the soft limit's `limit`. Runs on the thread
 * whose allocation crossed the line, inside that allocation and without any lock: it may allocate
 * and free, and should give back what it can (drop caches). Not called again before use has fallen
 * to 15/16 of the soft limit. */
typedef void fragbench_budgeted_callback(size_t used, size_t limit, void *context);

/* Sets the budget in bytes (above UNLIMITED counts as that). A budget below what is used takes
 * nothing away: all further allocations are refused until enough was freed. */
void fragbench_budgeted_set(size_t budget);
size_t fragbench_budgeted_budget(void);
enum fragbench_budgeted_mode fragbench_budgeted_mode(void);
/* Bytes used now; exact while no other thread allocates. In footprint mode: as measured last, plus
 * what was handed out since. */
size_t fragbench_budgeted_used(void);
/* The most that was drawn from the budget. Above the true peak of use by at most the credit that
 * threads held, 128 KiB each; never above the budget. */
size_t fragbench_budgeted_peak(void);
/* Calls answered with NULL because of the budget. */
size_t fragbench_budgeted_refused(void);
/* One callback; limit 0 or callback NULL removes it. `context` is handed through. */
void fragbench_budgeted_on_soft_limit(size_t limit, fragbench_budgeted_callback *callback,
                                      void *context);

#ifdef __cplusplus
}
#endif

#endif
