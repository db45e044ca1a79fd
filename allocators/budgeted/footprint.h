/* budget_mode=footprint: what gets a container killed stays under the budget.
 *
 * Footprint = resident anonymous bytes + bytes handed out and not yet touched, since pages fault
 * after malloc has returned and nobody can refuse them then.
 *
 *  1. A small block (< 64 KiB) is touched when it is handed out, one byte a page: it has no
 * untouched bytes then. Allocators cut such blocks from pages in use, so that is seldom a fault.
 *  2. A large block is written into a table (blocks.h) and the kernel is asked which of its pages
 * are there.
 *  3. A census therefore knows the footprint: resident + untouched of large blocks + bytes that
 * some thread is just asking for. What is left of the budget is granted, at most 1/16 of the budget
 * at a time, and drawn from by credit.h. Freeing gives nothing back: the inner allocator may keep
 * the pages, and only the next census can tell.
 *  4. So between two censuses the footprint grows by no more than was drawn. A draw that finds
 * nothing starts a census. If that grants nothing either, the block is made on trial: the inner
 * allocator may have had the pages for it. A second census decides; a purge and a third may help;
 * else the block goes back unseen.
 *
 * Slack: what is resident without having been handed out by us grows unseen between two censuses,
 * so by the inner allocator's own bookkeeping and rounding for 1/16 of the budget, by stacks and
 * mappings that the program makes itself, and by one trial of < 64 KiB a thread. Stated as 1/32 of
 * the budget + 1 MiB. Pages that were only read (the kernel's zero page) count as touched; where
 * the system backs heaps by huge pages unasked (THP always), add one of 2 MiB a heap.
 */
#ifndef ALLOCATORS_BUDGETED_FOOTPRINT_H
#define ALLOCATORS_BUDGETED_FOOTPRINT_H

#include <stdbool.h>
#include <stddef.h>

#define FBA_FOOTPRINT_LARGE ((size_t)64 << 10)

/* False: the kernel does not say what is resident (no /proc); the mode stays off. */
bool fba_footprint_open(void);
bool fba_footprint_is_on(void);

/* Makes a fresh block of `usable` bytes countable: touched, or listed. */
void fba_footprint_admit(void *block, size_t usable);
/* Before the block is given to the inner allocator. */
void fba_footprint_dismiss(void *block, size_t usable);
/* Counts, and grants part of what is left. True: the budget is kept, what this thread declared as
 * pending included, which therefore needs no draw any more. */
bool fba_footprint_census(void);
/* After a census that said no: true when a purge may bring what is missing. Another census then. */
bool fba_footprint_purge_may_help(void);
/* After a purge and its census: what is still kept cannot be purged. */
void fba_footprint_note_purged(void);
size_t fba_footprint_censuses(void);

#endif
