/* The counters of an allocator, for whoever asks: fragbench's worker does at the end of a run.
 *
 * An allocator that keeps counters exports fragbench_stats() next to malloc; a program finds it as
 * a weak symbol. Asking neither allocates nor blocks for longer than a lock of the allocator's own.
 */
#ifndef FRAGBENCH_STATS_H
#define FRAGBENCH_STATS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct fragbench_stat {
    char name[40];  /* lower_snake with the unit at its end: "budget_used_bytes", "refused_calls" */
    uint64_t value; /* never less than 0; what has no value yet is left out */
};

/* Fills at most `count` rows, in the allocator's own fixed order; returns how many there are. */
size_t fragbench_stats(struct fragbench_stat *out, size_t count);

#ifdef __cplusplus
}
#endif

#endif
