#include "rig.h"

#include "allocators/tensor_arena/os.h"

#include <fragbench/stats.h>

#include <string.h>

struct rig rig = {.now_ns = 1000000000};

static bool refuses(void)
{
    if (!rig.armed)
        return false;
    if (rig.pass > 0) {
        rig.pass--;
        return false;
    }
    if (rig.failed == rig.fail)
        return false;
    rig.failed++;
    return true;
}

static void *reserve(size_t bytes)
{
    return refuses() ? NULL : ta_os_linux.reserve(bytes);
}

static int commit(void *start, size_t bytes)
{
    return refuses() ? -1 : ta_os_linux.commit(start, bytes);
}

static void *map(size_t bytes)
{
    void *start = refuses() ? NULL : ta_os_linux.map(bytes);
    rig.mapped_bytes += start != NULL ? bytes : 0;
    return start;
}

static void unmap(void *start, size_t bytes)
{
    rig.mapped_bytes -= bytes;
    ta_os_linux.unmap(start, bytes);
}

static void *remap(void *start, size_t old_bytes, size_t new_bytes)
{
    void *moved = refuses() ? NULL : ta_os_linux.remap(start, old_bytes, new_bytes);
    rig.mapped_bytes += moved != NULL ? new_bytes - old_bytes : 0;
    return moved;
}

static int purge(void *start, size_t bytes)
{
    if (refuses())
        return -1;
    rig.purged_bytes += bytes;
    return ta_os_linux.purge(start, bytes);
}

static int huge(void *start, size_t bytes, bool wanted)
{
    if (refuses())
        return -1;
    rig.huge_bytes += wanted ? bytes : 0;
    return ta_os_linux.huge(start, bytes, wanted);
}

static uint64_t now_ns(void)
{
    return rig.now_ns;
}

static const struct ta_os rigged = {
    .reserve = reserve,
    .commit = commit,
    .map = map,
    .unmap = unmap,
    .remap = remap,
    .purge = purge,
    .huge = huge,
    .now_ns = now_ns,
};

void rig_install(void)
{
    ta_os_set(&rigged);
}

void rig_arm(unsigned pass, unsigned fail)
{
    rig.pass = pass;
    rig.fail = fail;
    rig.failed = 0;
    rig.armed = fail != 0;
}

enum { SAMPLE_EVERY = 509 };

static unsigned char byte_at(size_t offset, unsigned seed)
{
    return (unsigned char)((size_t)seed * 31 + offset * 7 + 1);
}

void rig_fill(void *block, size_t size, unsigned seed)
{
    unsigned char *bytes = block;
    size_t step = size > 4096 ? SAMPLE_EVERY : 1;
    for (size_t i = 0; i < size; i += step)
        bytes[i] = byte_at(i, seed);
    bytes[size - 1] = byte_at(size - 1, seed);
}

bool rig_holds(const void *block, size_t size, unsigned seed)
{
    const unsigned char *bytes = block;
    size_t step = size > 4096 ? SAMPLE_EVERY : 1;
    for (size_t i = 0; i < size; i += step) {
        if (bytes[i] != byte_at(i, seed))
            return false;
    }
    return size <= 4096 || bytes[size - 1] == byte_at(size - 1, seed);
}

uint64_t rig_stat(const char *name)
{
    struct fragbench_stat rows[32];
    size_t there = fragbench_stats(rows, 32);
    assert_true(there <= 32);
    for (size_t i = 0; i < there; i++) {
        if (strcmp(rows[i].name, name) == 0)
            return rows[i].value;
    }
    fail_msg("no counter %s", name);
    return 0;
}

uint32_t rig_random(uint32_t *state)
{
    *state = *state * 1664525U + 1013904223U;
    return *state >> 8;
}
