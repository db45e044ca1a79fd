/* The histogram of peaks.
 *
 *  1. Ranges of an eighth of an octave from 1 KiB to 1 TiB; one below, one above: 242 counters.
 *  2. The end of a request is two loads and two stores of its thread's own.
 *
 * After HdrHistogram (hdrhistogram.org): logarithmic ranges, linear within an octave.
 */
#include "allocators/request_arena/record.h"

#include "allocators/preload/contract.h"
#include "allocators/request_arena/threads.h"

#include <fragbench/request_arena.h>

#define FIRST_SHIFT FRA_RECORD_FIRST_SHIFT
#define LAST_SHIFT FRA_RECORD_LAST_SHIFT
#define STEP_SHIFT FRA_RECORD_STEP_SHIFT
#define RANGES ((size_t)FRA_RECORD_RANGES)
#define STEPS ((size_t)1 << STEP_SHIFT)

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

static uint64_t load(const _Atomic uint64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

void fra_record_request(struct fra_record *record, size_t peak_bytes)
{
    fra_room_count(&record->requests[range_of(peak_bytes)], 1);
    if (peak_bytes > load(&record->largest_bytes))
        atomic_store_explicit(&record->largest_bytes, peak_bytes, memory_order_relaxed);
}

void fra_record_add(struct fra_record *sum, const struct fra_record *one)
{
    for (size_t range = 0; range < RANGES; range++)
        fra_room_count(&sum->requests[range], load(&one->requests[range]));
    uint64_t largest = load(&one->largest_bytes);
    if (largest > load(&sum->largest_bytes))
        atomic_store_explicit(&sum->largest_bytes, largest, memory_order_relaxed);
}

uint64_t fra_record_requests_from(const struct fra_record *record, uint64_t bytes)
{
    uint64_t sum = 0;
    for (size_t range = range_of(bytes); range < RANGES; range++)
        sum += load(&record->requests[range]);
    return sum;
}

uint64_t fra_record_quantile_bytes(const struct fra_record *record, double share)
{
    double rank = share * (double)fra_record_requests_from(record, 0);
    uint64_t seen = 0, largest = load(&record->largest_bytes);
    for (size_t range = 0; range < RANGES; range++) {
        seen += load(&record->requests[range]);
        if (seen > 0 && (double)seen >= rank)
            return end_of(range) < largest ? end_of(range) : largest;
    }
    return 0;
}

FBA_EXPORT size_t fragbench_request_arena_histogram(struct fragbench_request_range *out,
                                                    size_t count)
{
    struct fra_counters counters;
    struct fra_record sum;
    (void)fra_threads_count(&counters, &sum);
    for (size_t range = 0; range < RANGES && range < count; range++)
        out[range] = (struct fragbench_request_range){begin_of(range), end_of(range),
                                                      load(&sum.requests[range])};
    return RANGES;
}
