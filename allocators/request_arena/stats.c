/* fragbench_stats(): the effective settings, what was asked of the rooms, what they hold, and how
 * large requests became. */
#include "allocators/preload/contract.h"
#include "allocators/request_arena/record.h"
#include "allocators/request_arena/threads.h"

#include <fragbench/stats.h>

#include <string.h>

/* Where rows go; what does not fit is counted only. */
struct rows {
    struct fragbench_stat *out;
    size_t room, count;
};

static void add(struct rows *rows, const char *name, uint64_t value)
{
    if (rows->count < rows->room) {
        struct fragbench_stat *row = &rows->out[rows->count];
        memset(row->name, 0, sizeof row->name);
        strncpy(row->name, name, sizeof row->name - 1);
        row->value = value;
    }
    rows->count++;
}

static void add_settings(struct rows *rows)
{
    size_t cap = atomic_load_explicit(&fra_settings.cap_bytes, memory_order_relaxed);
    add(rows, "chunk_bytes", fra_settings.chunk_bytes);
    add(rows, "large_bytes", fra_settings.large_bytes);
    add(rows, "pool_limit_chunks", fra_settings.pool_chunks);
    if (cap != SIZE_MAX)
        add(rows, "cap_bytes", cap);
}

static void add_counters(struct rows *rows, struct fra_record *record)
{
    struct fra_counters sum;
    size_t rooms = fra_threads_count(&sum, record);
    add(rows, "room_threads", rooms);
    add(rows, "scopes_begun_calls", sum.scopes);
    add(rows, "ended_requests", sum.requests);
    add(rows, "large_calls", sum.large);
    add(rows, "spilled_calls", sum.spills);
    add(rows, "inner_bytes", sum.spilled_bytes);
    add(rows, "refused_calls", sum.refused);
    add(rows, "moved_realloc_calls", sum.moves);
}

static void add_pool(struct rows *rows)
{
    struct fra_pool_counts pool;
    fra_pool_count(&pool);
    add(rows, "held_chunks", pool.held);
    add(rows, "pooled_chunks", pool.hot);
    add(rows, "most_chunks", pool.chunks);
    add(rows, "given_back_chunks", pool.discarded_ever);
    add(rows, "failed_chunk_calls", pool.failures);
}

/* Ranges wide enough to be read at a glance; fragbench_request_arena_histogram() has fine ones. */
static const struct {
    const char *name;
    uint64_t from_bytes;
} ranges[] = {
    {"peak_below_4_kib_requests", 0},
    {"peak_4_to_16_kib_requests", (uint64_t)4 << 10},
    {"peak_16_to_64_kib_requests", (uint64_t)16 << 10},
    {"peak_64_to_256_kib_requests", (uint64_t)64 << 10},
    {"peak_256_kib_to_1_mib_requests", (uint64_t)256 << 10},
    {"peak_1_to_4_mib_requests", (uint64_t)1 << 20},
    {"peak_4_to_16_mib_requests", (uint64_t)4 << 20},
    {"peak_16_to_64_mib_requests", (uint64_t)16 << 20},
    {"peak_from_64_mib_requests", (uint64_t)64 << 20},
};
#define RANGE_COUNT (sizeof ranges / sizeof ranges[0])

static void add_peaks(struct rows *rows, const struct fra_record *record)
{
    if (fra_record_requests_from(record, 0) == 0)
        return;
    add(rows, "request_peak_p50_bytes", fra_record_quantile_bytes(record, 0.5));
    add(rows, "request_peak_p90_bytes", fra_record_quantile_bytes(record, 0.9));
    add(rows, "request_peak_p99_bytes", fra_record_quantile_bytes(record, 0.99));
    add(rows, "request_peak_largest_bytes", atomic_load(&record->largest_bytes));
    for (size_t i = 0; i < RANGE_COUNT; i++) {
        uint64_t from = fra_record_requests_from(record, ranges[i].from_bytes);
        uint64_t beyond =
            i + 1 == RANGE_COUNT ? 0 : fra_record_requests_from(record, ranges[i + 1].from_bytes);
        add(rows, ranges[i].name, from > beyond ? from - beyond : 0);
    }
}

FBA_EXPORT size_t fragbench_stats(struct fragbench_stat *out, size_t count)
{
    struct rows rows = {.out = out, .room = count};
    fra_threads_open();
    add_settings(&rows);
    struct fra_record record;
    add_counters(&rows, &record);
    add_pool(&rows);
    add_peaks(&rows, &record);
    return rows.count;
}
