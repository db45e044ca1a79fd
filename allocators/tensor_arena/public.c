/* The C API: scopes, tensors with count × size, statistics, giving back on demand. */
#include "fragbench/tensor_arena.h"

#include "fragbench/scope.h"
#include "fragbench/stats.h"
#include "preload/contract.h"
#include "tensor_arena/arena.h"
#include "tensor_arena/cache.h"
#include "tensor_arena/direct.h"
#include "tensor_arena/heap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGN = 64, STATS = 17 };

/* The calling thread's ring, or NULL where it can have none. */
static struct ta_ring *ring_of_thread(void)
{
    fba_open();
    bool ready = atomic_load_explicit(&ta_arena.ready, memory_order_acquire);
    struct ta_cache *cache = ready ? ta_cache_get() : NULL;
    return cache != NULL ? &cache->ring : NULL;
}

/* Scopes of this thread that began without a ring (no memory for one): all that is asked for in
 * them is refused, since malloc's memory would never be freed there. */
static __thread uint32_t barren;

FBA_EXPORT void fragbench_scope_begin(void)
{
    struct ta_ring *ring = barren == 0 ? ring_of_thread() : NULL;
    if (ring != NULL)
        ta_ring_begin(ring);
    else
        barren++;
}

FBA_EXPORT void fragbench_scope_end(void)
{
    if (barren != 0) {
        barren--;
        return;
    }
    struct ta_ring *ring = ring_of_thread();
    if (ring == NULL || ring->depth == 0)
        return;
    ta_ring_end(ring);
    if (ring->depth == 0)
        atomic_fetch_add_explicit(&ta_arena.scopes, 1, memory_order_relaxed);
}

static void *refuse(void)
{
    atomic_fetch_add_explicit(&ta_arena.scope_refused, 1, memory_order_relaxed);
    errno = ENOMEM;
    return NULL;
}

FBA_EXPORT void *fragbench_scope_alloc(size_t size, size_t align)
{
    struct ta_ring *ring = ring_of_thread();
    bool is_power = (align & (align - 1)) == 0;
    if (barren != 0 || size > PTRDIFF_MAX - ALIGN || align > PTRDIFF_MAX / 2 || !is_power)
        return refuse();
    if (ring == NULL || ring->depth == 0) {
        void *block = fba_allocate(size != 0 ? size : 1, align > 16 ? align : 16);
        return block != NULL ? block : refuse();
    }
    size_t rounded = (size + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    void *block = ta_ring_take(ring, rounded != 0 ? rounded : ALIGN, align > ALIGN ? align : ALIGN);
    return block != NULL ? block : refuse();
}

FBA_EXPORT void *fragbench_tensor_alloc(size_t count, size_t size)
{
    size_t total;
    if (__builtin_mul_overflow(count, size, &total))
        return refuse();
    return fragbench_scope_alloc(total, ALIGN);
}

FBA_EXPORT void fragbench_purge(void)
{
    if (!atomic_load_explicit(&ta_arena.ready, memory_order_acquire))
        return;
    ta_cache_flush();
    ta_heap_purge();
}

static struct ta_policy policy_now(void)
{
    ta_lock(&ta_heap.lock);
    struct ta_policy policy = ta_heap.policy;
    ta_unlock(&ta_heap.lock);
    return policy;
}

static void set(struct fragbench_stat *stat, const char *name, uint64_t value)
{
    *stat = (struct fragbench_stat){.value = value};
    strncpy(stat->name, name, sizeof stat->name - 1);
}

static size_t collect(struct fragbench_stat rows[STATS])
{
    struct ta_policy policy = policy_now();
    struct ta_slab_counts slabs;
    uint64_t mappings, mapped_bytes;
    size_t n = 0;
    ta_slabs_count(&slabs);
    ta_direct_count(&mappings, &mapped_bytes);
    set(&rows[n++], "used_bytes", policy.used << TA_PAGE_SHIFT);
    set(&rows[n++], "cached_bytes", policy.dirty << TA_PAGE_SHIFT);
    set(&rows[n++], "used_peak_bytes", policy.high << TA_PAGE_SHIFT);
    set(&rows[n++], "keep_bytes", policy.keep << TA_PAGE_SHIFT);
    set(&rows[n++], "given_back_bytes", policy.purges << TA_PAGE_SHIFT);
    set(&rows[n++], "regretted_bytes", policy.regrets << TA_PAGE_SHIFT);
    set(&rows[n++], "pauses_seen", policy.pauses);
    set(&rows[n++], "slabs", slabs.slabs);
    set(&rows[n++], "slab_slots", slabs.slots);
    set(&rows[n++], "slab_slots_free", slabs.free_slots);
    set(&rows[n++], "direct_mappings", mappings);
    set(&rows[n++], "direct_bytes", mapped_bytes);
    set(&rows[n++], "thread_caches", ta_caches_count());
    set(&rows[n++], "scopes_ended", atomic_load(&ta_arena.scopes));
    set(&rows[n++], "scope_refused_calls", atomic_load(&ta_arena.scope_refused));
    return n;
}

FBA_EXPORT size_t fragbench_stats(struct fragbench_stat *out, size_t count)
{
    struct fragbench_stat rows[STATS];
    if (!atomic_load_explicit(&ta_arena.ready, memory_order_acquire))
        return 0;
    size_t there = collect(rows);
    for (size_t i = 0; i < there && i < count; i++)
        out[i] = rows[i];
    return there;
}
