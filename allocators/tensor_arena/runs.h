/* The inside of the page heap, shared by heap.c (requests), runs.c (records) and giveback.c (the
 * kernel). The heap's lock is held throughout.
 *
 * A run in use or on its way (TA_RUN_LEAVING) is in no tree; a free one is in the tree of its area
 * and state, and a dirty one in the list by age as well.
 */
#ifndef ALLOCATORS_TENSOR_ARENA_RUNS_H
#define ALLOCATORS_TENSOR_ARENA_RUNS_H

#include "tensor_arena/heap.h"

/* Writes the map's words at both ends: neighbours and free() find a run by them. */
void ta_run_mark(uint32_t index);
/* A record in no tree; 0 = no memory. */
uint32_t ta_run_make(enum ta_area_id area, uint32_t first, uint32_t pages, enum ta_run_state state);
/* Into the tree of its state, as the newest or the oldest, and out of it. */
void ta_run_shelve(uint32_t index);
void ta_run_shelve_oldest(uint32_t index);
void ta_run_unshelve(uint32_t index);
/* The run that has a page at its end, when it is in that state; 0 otherwise. */
uint32_t ta_run_neighbour(const struct ta_area *area, uint32_t page, enum ta_run_state state);
/* Puts a run that is in no tree among the free ones of its state, merged with its neighbours. A
 * clean one at the frontier lowers it and is no more. */
void ta_run_settle(uint32_t index);
/* Cuts the pages from `keep` on off a run that is in no tree; the new one has the same state. 0: no
 * memory for it, nothing changed. */
uint32_t ta_run_cut(uint32_t index, uint32_t keep);

/* Gives back what is over the allowance, over that of a thread's exit, or everything. Releases the
 * lock during system calls. */
enum ta_trim { TA_TRIM_EXCESS = 0, TA_TRIM_EXIT, TA_TRIM_ALL };
void ta_heap_trim(enum ta_trim why);
/* Asks for huge pages under the fresh pages first … end, which lie in clean space that reaches to
 * clean_end. Returns the page up to which the first touch will bring memory in. */
uint32_t ta_heap_freshen(uint32_t first, uint32_t end, uint32_t clean_end);

#endif
