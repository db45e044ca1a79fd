/* A made-up result with every kind of cell: two that finished (one with a spread over layouts and
 * the timing pass), one that refused, one that timed out, one not installed. Numbers are round so
 * that tests can state what follows from them. */
#ifndef FB_TESTS_UNIT_RESULT_SAMPLE_H
#define FB_TESTS_UNIT_RESULT_SAMPLE_H

#include "result/record.h"

#define MIB (UINT64_C(1) << 20)
#define SAMPLE_BOOT "5a0f7c52-6c1c-4c39-8f7e-1c0e7f1f2a11"
#define SAMPLE_PLAN "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"

enum { SAMPLE_JEMALLOC, SAMPLE_PTMALLOC2, SAMPLE_BUDGETED, SAMPLE_HUNG, SAMPLE_MISSING, SAMPLES };

/* Free with fb_result_deinit(). Summaries are filled by hand: result/ knows no statistics. */
void sample_result_init(struct fb_result *result);
/* Makes a whole result one that was joined from two shards, the cells taking turns. */
void sample_result_merge(struct fb_result *result);
/* The summary of a value: n, median, min, max. */
struct fb_summary sample_summary(double median, double min, double max);

#endif
