#include "arena.h"

#include "allocators/request_arena/pool.h"

#include <fragbench/stats.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS 64

uint64_t arena_stat(const char *name)
{
    struct fragbench_stat rows[ROWS];
    size_t count = fragbench_stats(rows, ROWS);
    assert_true(count <= ROWS);
    for (size_t i = 0; i < count; i++)
        if (strcmp(rows[i].name, name) == 0)
            return rows[i].value;
    fail_msg("no statistic %s", name);
    return 0;
}

void arena_set(const char *name, const char *value)
{
    char variable[64];
    (void)snprintf(variable, sizeof variable, "FRAGBENCH_REQUEST_ARENA_%s", name);
    if (setenv(variable, value, 1) != 0)
        abort();
}

int arena_in_room(const void *block)
{
    return fra_pool_owns(block);
}

static unsigned char pattern(size_t at, unsigned seed)
{
    return (unsigned char)(at * 31 + (size_t)seed * 2654435761U + (seed >> 8));
}

/* The next place to look at: all of the first page, then one in 16, which is quick under a
 * sanitizer. */
static size_t after(size_t at)
{
    return at < 4096 ? at + 1 : at + 16;
}

void arena_fill(void *block, size_t size, unsigned seed)
{
    unsigned char *bytes = block;
    for (size_t i = 0; i < size; i = after(i))
        bytes[i] = pattern(i, seed);
}

int arena_holds(const void *block, size_t size, unsigned seed)
{
    const unsigned char *bytes = block;
    for (size_t i = 0; i < size; i = after(i))
        if (bytes[i] != pattern(i, seed))
            return 0;
    return 1;
}
