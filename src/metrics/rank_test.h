/* The rank test of two small samples. */
#ifndef FB_METRICS_RANK_TEST_H
#define FB_METRICS_RANK_TEST_H

#include <stddef.h>

/* Up to this many values together the test is exact; above it a normal approximation is used. */
#define FB_RANK_EXACT_MAX 100U

/* Two-sided p of the Mann-Whitney U test (Mann and Whitney 1947; Wilcoxon's rank sum): the chance
 * that two samples of one population lie at least as far apart in their ranks. 0 < p ≤ 1.
 *
 * Exact, ties included: equal values share their mean rank, and the distribution is that of the
 * rank sum over all ways to choose a_count of the pooled values, counted by the shift algorithm of
 * Streitberg and Röhmel (1986, "Exact distributions for permutation and rank tests"). The
 * distribution with ties need not be symmetric, so p is twice the smaller tail, at most 1.
 * Smallest p: 2 / C(n + m, n), which is 0.1 at 3 and 3, 0.0286 at 4 and 4, 0.0079 at 5 and 5.
 *
 * More than FB_RANK_EXACT_MAX values: the normal approximation with corrections for continuity and
 * ties (Lehmann, Nonparametrics, 1975, 1.5). An empty sample: 1. Values must not be NaN. */
double fb_rank_test(const double *a, size_t a_count, const double *b, size_t b_count);

#endif
