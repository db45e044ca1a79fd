#include "metrics/rank_test.h"

#include "base/alloc.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

struct pooled {
    double value;
    bool first;         /* of sample a */
    size_t double_rank; /* mean ranks are halves at worst: twice the rank is whole */
};

static int by_value(const void *left, const void *right)
{
    double a = ((const struct pooled *)left)->value, b = ((const struct pooled *)right)->value;
    return (a > b) - (a < b);
}

static bool equal(double a, double b)
{
    return a <= b && a >= b;
}

/* The pooled values in order, each with twice its mean rank. */
static struct pooled *pool(const double *a, size_t a_count, const double *b, size_t b_count)
{
    size_t count = a_count + b_count;
    struct pooled *values = fb_alloc(count, sizeof *values);
    for (size_t i = 0; i < count; i++)
        values[i] = (struct pooled){i < a_count ? a[i] : b[i - a_count], i < a_count, 0};
    qsort(values, count, sizeof *values, by_value);
    for (size_t start = 0, end = 0; start < count; start = end) {
        while (end < count && equal(values[end].value, values[start].value))
            end++;
        for (size_t i = start; i < end; i++)
            values[i].double_rank = start + 1 + end; /* twice the mean of start+1 … end */
    }
    return values;
}

static size_t rank_sum(const struct pooled *values, size_t count)
{
    size_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i].first ? values[i].double_rank : 0;
    return sum;
}

/* ways[k × (total + 1) + s]: in how many ways k of the values have the rank sum s. */
static double *count_ways(const struct pooled *values, size_t count, size_t chosen, size_t total)
{
    size_t stride = total + 1;
    double *ways = fb_alloc((chosen + 1) * stride, sizeof *ways);
    ways[0] = 1;
    for (size_t i = 0; i < count; i++) {
        size_t rank = values[i].double_rank;
        for (size_t k = i + 1 < chosen ? i + 1 : chosen; k > 0; k--)
            for (size_t sum = total; sum >= rank; sum--)
                ways[k * stride + sum] += ways[(k - 1) * stride + sum - rank];
    }
    return ways;
}

static double exact_p(const struct pooled *values, size_t count, size_t chosen)
{
    size_t observed = rank_sum(values, count), total = 0;
    for (size_t i = 0; i < count; i++)
        total += values[i].double_rank;
    double *ways = count_ways(values, count, chosen, total);
    const double *row = &ways[chosen * (total + 1)];
    double all = 0, low = 0, high = 0;
    for (size_t sum = 0; sum <= total; sum++) {
        all += row[sum];
        low += sum <= observed ? row[sum] : 0;
        high += sum >= observed ? row[sum] : 0;
    }
    free(ways);
    return fmin(1, 2 * fmin(low, high) / all);
}

/* Σ (t³ − t) over groups of equal values. */
static double tie_term(const struct pooled *values, size_t count)
{
    double term = 0;
    for (size_t start = 0, end = 0; start < count; start = end) {
        while (end < count && values[end].double_rank == values[start].double_rank)
            end++;
        double t = (double)(end - start);
        term += t * t * t - t;
    }
    return term;
}

static double normal_p(const struct pooled *values, size_t a_count, size_t b_count)
{
    size_t count = a_count + b_count;
    double n = (double)a_count, m = (double)b_count, all = n + m;
    double mean = n * (all + 1) / 2;
    double variance = n * m / 12 * (all + 1 - tie_term(values, count) / (all * (all - 1)));
    double distance = fabs((double)rank_sum(values, count) / 2 - mean) - 0.5;
    if (variance <= 0 || distance <= 0)
        return 1;
    return erfc(distance / sqrt(2 * variance));
}

double fb_rank_test(const double *a, size_t a_count, const double *b, size_t b_count)
{
    if (a_count == 0 || b_count == 0)
        return 1;
    struct pooled *values = pool(a, a_count, b, b_count);
    size_t count = a_count + b_count;
    double p = count <= FB_RANK_EXACT_MAX ? exact_p(values, count, a_count)
                                          : normal_p(values, a_count, b_count);
    free(values);
    return p;
}
