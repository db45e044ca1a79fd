#include "allocators/request_arena/settings.h"

#include "allocators/preload/contract.h"

#include <fragbench/request_arena.h>

#include <stdint.h>
#include <string.h>

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)
#define GIB ((size_t)1 << 30)
#define CHUNK_MIN_BYTES (64 * KIB)
#define CHUNK_MAX_BYTES GIB /* sizes of objects are kept in 31 bits */
#define RANGE_DEFAULT_BYTES (64 * GIB)

#define OPTION(name) "FRAGBENCH_REQUEST_ARENA_" name

struct fra_settings fra_settings;

static size_t clamp(size_t value, size_t low, size_t high)
{
    return value < low ? low : value > high ? high : value;
}

static unsigned log2_upward(size_t value)
{
    unsigned shift = 0;
    while (((size_t)1 << shift) < value)
        shift++;
    return shift;
}

static size_t bytes_of(const char *variable, size_t otherwise)
{
    size_t value = otherwise;
    return fba_option_bytes(variable, &value) ? value : otherwise;
}

static bool read_refuse(void)
{
    const char *word = fba_option(OPTION("ON_CAP"));
    if (word == NULL || strcmp(word, "spill") == 0)
        return false;
    if (strcmp(word, "refuse") == 0)
        return true;
    fba_say(OPTION("ON_CAP") " is neither spill nor refuse; not used");
    return false;
}

void fra_settings_read(void)
{
    struct fra_settings *set = &fra_settings;
    size_t chunk = bytes_of(OPTION("CHUNK"), 256 * KIB);
    set->chunk_shift = log2_upward(clamp(chunk, CHUNK_MIN_BYTES, CHUNK_MAX_BYTES));
    set->chunk_bytes = (size_t)1 << set->chunk_shift;
    set->large_bytes = clamp(bytes_of(OPTION("LARGE"), 64 * KIB), FRAGBENCH_REQUEST_INLINE_BYTES,
                             set->chunk_bytes);
    set->range_bytes =
        clamp(bytes_of(OPTION("RANGE"), RANGE_DEFAULT_BYTES), set->chunk_bytes, SIZE_MAX / 4);
    set->pool_chunks = bytes_of(OPTION("POOL"), 64 * MIB) >> set->chunk_shift;
    size_t cap = bytes_of(OPTION("CAP"), 0);
    atomic_store_explicit(&set->cap_bytes, cap == 0 ? SIZE_MAX : cap, memory_order_relaxed);
    atomic_store_explicit(&set->refuse, read_refuse(), memory_order_relaxed);
    if (!fba_option_bool(OPTION("DEBUG"), &set->debug))
        set->debug = false;
}
