/* The histogram of peaks.
 *
 *  1. Ranges of an eighth of an octave from 1 KiB to 1 TiB; one below, one above: 242 counters.
 *  2. A request's end is one atomic increment, and a second one when it is the largest so far.
 *
 * After HdrHistogram (hdrhistogram.org): logarithmic ranges, linear within an octave.
 */
#include "allocators/request_arena/record.h"

#include "allocators/preload/contract.h"

#include <fragbench/request_arena.h>

#include <stdatomic.h>
#include <stdbool.h>

#define FIRST_SHIFT 10 /* 1 KiB */
#define LAST_SHIFT 40  /* 1 TiB */
#define STEP_SHIFT 3
#define STEPS (1U << STEP_SHIFT)
#define RANGES ((LAST_SHIFT - FIRST_SHIFT) * STEPS + 2)

static struct {
    _Atomic uint64_t counts[RANGES];
    _Atomic uint64_t largest_bytes;
} record;

static size_t range_of(uint64_t bytes)
{
    if (bytes < (uint64_t)1 << FIRST_SHIFT)
        return 0;
    if (bytes >= (uint64_t)1 << LAST_SHIFT)
        return RANGES - 1;
    unsigned shift = 63U - (unsigned)__builtin_clzll(bytes);
    size_t step = (size_t)(bytes >> (shift - STEP_SHIFT)) - STEPS;
    return 1 + (shift - FIRST_SHIFT) * STEPS + step;
}

static uint64_t begin_of(size_t range)
{
    if (range == 0)
        return 0;
    size_t shift = FIRST_SHIFT + (range - 1) / STEPS, step = (range - 1) % STEPS;
    return (uint64_t)(STEPS + step) << (shift - STEP_SHIFT);
}

static uint64_t end_of(size_t range)
{
    return range == RANGES - 1 ? UINT64_MAX : begin_of(range + 1);
}

static uint64_t count_of(size_t range)
{
    return atomic_load_explicit(&record.counts[range], memory_order_relaxed);
}

void fra_record_request(size_t peak_bytes)
{
    atomic_fetch_add_explicit(&record.counts[range_of(peak_bytes)], 1, memory_order_relaxed);
    uint64_t largest = atomic_load_explicit(&record.largest_bytes, memory_order_relaxed);
    while (peak_bytes > largest &&
           !atomic_compare_exchange_weak_explicit(&record.largest_bytes, &largest, peak_bytes,
                                                  memory_order_relaxed, memory_order_relaxed))
        continue;
}

uint64_t fra_record_requests_from(uint64_t bytes)
{
    uint64_t sum = 0;
    for (size_t range = range_of(bytes); range < RANGES; range++)
        sum += count_of(range);
    return sum;
}

uint64_t fra_record_requests(void)
{
    return fra_record_requests_from(0);
}

uint64_t fra_record_largest_bytes(void)
{
    return atomic_load_explicit(&record.largest_bytes, memory_order_relaxed);
}

uint64_t fra_record_quantile_bytes(double share)
{
    double rank = share * (double)fra_record_requests();
    uint64_t seen = 0, largest = fra_record_largest_bytes();
    for (size_t range = 0; range < RANGES; range++) {
        seen += count_of(range);
        if (seen > 0 && (double)seen >= rank)
            return end_of(range) < largest ? end_of(range) : largest;
    }
    return 0;
}

FBA_EXPORT size_t fragbench_request_arena_histogram(struct fragbench_request_range *out,
                                                    size_t count)
{
    for (size_t range = 0; range < RANGES && range < count; range++)
        out[range] =
            (struct fragbench_request_range){begin_of(range), end_of(range), count_of(range)};
    return RANGES;
}
