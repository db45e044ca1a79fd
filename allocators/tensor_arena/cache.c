#include "tensor_arena/cache.h"

#include "tensor_arena/heap.h"

#include <pthread.h>
#include <string.h>

enum {
    LEAST_BUDGET_BYTES = 128 << 10,
    MOST_BUDGET_BYTES = 2 << 20,
    HEAP_SHARE = 64,
    PAGES_A_CACHE = 8, /* of address space: as many threads may have one */
    STEAL_EVERY = 16,  /* misses: a limit moves slowly, since moving it empties a list */
};

__thread struct ta_cache *ta_cache_mine;

static __thread bool gone;

static struct {
    struct ta_lock lock;
    struct ta_table table;
    _Atomic uint32_t count;
    pthread_key_t key;
    bool keyed;
} caches;

static void leave(void *cache);

int ta_caches_open(void)
{
    if (!caches.keyed && pthread_key_create(&caches.key, leave) != 0)
        return -1;
    caches.keyed = true;
    uint64_t pages = ta_region.bytes >> TA_PAGE_SHIFT;
    uint32_t most = TA_INDEX_LIMIT >> 4;
    uint32_t limit = pages / PAGES_A_CACHE < most ? (uint32_t)(pages / PAGES_A_CACHE) : most;
    return ta_table_open(&caches.table, sizeof(struct ta_cache), limit);
}

static struct ta_cache *cache_at(uint32_t index)
{
    return (struct ta_cache *)(void *)(caches.table.base + index * sizeof(struct ta_cache));
}

/* pthread_setspecific may allocate for keys above 31: by then the cache is in place. */
struct ta_cache *ta_cache_get(void)
{
    if (ta_cache_mine != NULL || gone)
        return ta_cache_mine;
    ta_lock(&caches.lock);
    uint32_t index = ta_table_take(&caches.table);
    ta_unlock(&caches.lock);
    if (index == 0)
        return NULL;
    struct ta_cache *cache = cache_at(index);
    memset(cache, 0, sizeof *cache);
    cache->index = index;
    atomic_fetch_add_explicit(&caches.count, 1, memory_order_relaxed);
    ta_cache_mine = cache;
    (void)pthread_setspecific(caches.key, cache);
    return cache;
}

static void flush_class(struct ta_cache *cache, uint32_t class, uint32_t count)
{
    struct ta_bin_cache *bin = &cache->bins[class];
    struct ta_block *list = bin->head;
    if (count == 0)
        return;
    for (uint32_t i = 0; i < count; i++)
        bin->head = bin->head->next;
    bin->count -= count;
    ta_slabs_give(class, list, count);
}

static void forget_class(struct ta_cache *cache, uint32_t class)
{
    flush_class(cache, class, cache->bins[class].count);
    cache->promised_bytes -= (size_t)cache->bins[class].limit * ta_classes[class].size;
    cache->bins[class].limit = 0;
}

void ta_cache_flush(void)
{
    for (uint32_t class = 0; ta_cache_mine != NULL && class < TA_CLASSES; class ++)
        forget_class(ta_cache_mine, class);
}

static void leave(void *cache)
{
    gone = true;
    ta_ring_close(&((struct ta_cache *)cache)->ring);
    ta_cache_flush();
    ta_cache_mine = NULL;
    ta_lock(&caches.lock);
    ta_table_give(&caches.table, ((struct ta_cache *)cache)->index);
    ta_unlock(&caches.lock);
    if (atomic_fetch_sub_explicit(&caches.count, 1, memory_order_relaxed) <= 2)
        ta_heap_exit();
}

static size_t budget_bytes(void)
{
    uint64_t used = atomic_load_explicit(&ta_heap.used_pages, memory_order_relaxed);
    uint32_t threads = atomic_load_explicit(&caches.count, memory_order_relaxed);
    uint64_t share = (used << TA_PAGE_SHIFT) / HEAP_SHARE / (threads != 0 ? threads : 1);
    if (share < LEAST_BUDGET_BYTES)
        return LEAST_BUDGET_BYTES;
    return share < MOST_BUDGET_BYTES ? share : MOST_BUDGET_BYTES;
}

/* Takes another class's limit away, round and round. */
static void steal(struct ta_cache *cache, uint32_t for_class)
{
    if (++cache->misses % STEAL_EVERY != 0)
        return;
    for (uint32_t i = 0; i < TA_CLASSES; i++) {
        cache->victim = (cache->victim + 1) % TA_CLASSES;
        if (cache->victim != for_class && cache->bins[cache->victim].limit != 0) {
            forget_class(cache, cache->victim);
            return;
        }
    }
}

/* A batch more for a list that missed, if the thread's budget has it. */
static void raise_limit(struct ta_cache *cache, uint32_t class)
{
    struct ta_bin_cache *bin = &cache->bins[class];
    const struct ta_class *kind = &ta_classes[class];
    uint32_t most = kind->cached;
    uint32_t step = bin->limit == 0 ? 1 : bin->limit;
    if (step > most - bin->limit)
        step = most - bin->limit;
    size_t bytes = (size_t)step * kind->size, budget = budget_bytes();
    if (cache->promised_bytes + bytes > budget)
        steal(cache, class);
    if (cache->promised_bytes + bytes > budget)
        return;
    bin->limit += step;
    cache->promised_bytes += bytes;
}

static uint32_t least(uint32_t left, uint32_t right)
{
    return left < right ? left : right;
}

void *ta_cache_refill(uint32_t class)
{
    struct ta_cache *cache = ta_cache_get();
    struct ta_block *list;
    if (cache == NULL)
        return ta_slabs_take(class, 1, &list) != 0 ? list : NULL;
    raise_limit(cache, class);
    struct ta_bin_cache *bin = &cache->bins[class];
    uint32_t wanted = least(bin->limit / 2 + 1, ta_classes[class].batch);
    uint32_t taken = ta_slabs_take(class, wanted, &list);
    if (taken == 0)
        return NULL;
    bin->head = list->next;
    bin->count = taken - 1;
    return list;
}

void ta_cache_overflow(uint32_t class, void *freed)
{
    struct ta_cache *cache = ta_cache_get();
    struct ta_block *block = freed;
    if (cache == NULL) {
        ta_slabs_give(class, block, 1);
        return;
    }
    struct ta_bin_cache *bin = &cache->bins[class];
    raise_limit(cache, class);
    block->next = bin->head;
    bin->head = block;
    bin->count++;
    if (bin->count > bin->limit)
        flush_class(cache, class, least(bin->limit / 2 + 1, bin->count));
}

void ta_caches_forked(void)
{
    atomic_store_explicit(&caches.count, ta_cache_mine != NULL, memory_order_relaxed);
}

void ta_caches_lock(void)
{
    ta_lock(&caches.lock);
}

void ta_caches_unlock(void)
{
    ta_unlock(&caches.lock);
}

uint32_t ta_caches_count(void)
{
    return atomic_load_explicit(&caches.count, memory_order_relaxed);
}
