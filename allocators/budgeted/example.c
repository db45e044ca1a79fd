/* A service that degrades instead of being killed: it caches what it can, drops the cache when
 * memory gets tight, and answers a request that does not fit with an error.
 *
 *     cc example.c -lfragbench-budgeted
 */
#include <fragbench/budgeted.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIB ((size_t)1 << 20)
#define CACHE_SLOTS 64

struct cache {
    void *slots[CACHE_SLOTS];
    size_t used;
    int drops;
};

/* Called inside the allocation that crossed the soft limit: freeing is allowed, and wanted. */
static void drop_cache(size_t used, size_t limit, void *context)
{
    struct cache *cache = context;
    (void)used;
    (void)limit;
    while (cache->used > 0)
        free(cache->slots[--cache->used]);
    cache->drops++;
}

/* A request needs a buffer for its time, and leaves 1 MiB in the cache. */
static bool serve(struct cache *cache, size_t bytes)
{
    unsigned char *buffer = malloc(bytes);
    if (buffer == NULL)
        return false; /* "try again later", and the service lives on */
    memset(buffer, 1, bytes);
    free(buffer);
    void *result = malloc(1 * MIB); /* may call drop_cache(): look at the cache after it only */
    if (result != NULL && cache->used < CACHE_SLOTS)
        cache->slots[cache->used++] = result;
    else
        free(result);
    return true;
}

int main(void)
{
    struct cache cache = {.used = 0};
    int served = 0, degraded = 0;
    fragbench_budgeted_set(64 * MIB);
    fragbench_budgeted_on_soft_limit(48 * MIB, drop_cache, &cache);
    for (int request = 0; request < 200; request++) {
        /* Every 20th is larger than the whole budget. */
        if (serve(&cache, request % 20 == 19 ? 80 * MIB : 8 * MIB))
            served++;
        else
            degraded++;
    }
    printf("served %d, degraded %d, cache dropped: %s, peak within the budget: %s\n", served,
           degraded, cache.drops > 0 ? "yes" : "no",
           fragbench_budgeted_peak() <= fragbench_budgeted_budget() ? "yes" : "no");
    drop_cache(0, 0, &cache);
    return fragbench_budgeted_refused() == (size_t)degraded ? EXIT_SUCCESS : EXIT_FAILURE;
}
