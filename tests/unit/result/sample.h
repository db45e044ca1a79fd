/* A made-up result with every kind of cell: two that finished (one with a spread over layouts and
 * the timing pass), one that refused, one that timed out, one not installed. Numbers are round so
 * that tests can state what follows from them. */
#ifndef FB_TESTS_UNIT_RESULT_SAMPLE_H
#define FB_TESTS_UNIT_RESULT_SAMPLE_H

#include "result/record.h"

#define MIB (UINT64_C(1) << 20)

enum { SAMPLE_JEMALLOC, SAMPLE_PTMALLOC2, SAMPLE_BUDGETED, SAMPLE_HUNG, SAMPLE_MISSING, SAMPLES };

/* Free with fb_result_deinit(). Summaries are filled by hand: result/ knows no statistics. */
void sample_result_init(struct fb_result *result);
/* The summary of a value: n, median, min, max. */
struct fb_summary sample_summary(double median, double min, double max);

#endif
