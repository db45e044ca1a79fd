/* The pool of chunks.
 *
 *  1. Chunks lie in one range of reserved, inaccessible address space; each is made accessible
 *     when it is first used, from the low end up. Address space that is refused (RLIMIT_AS, strict
 *     overcommit) is asked for by halves.
 *  2. Chunks that come back are hot: their pages stay. The last to come is the first to go, so the
 *     same few stay in the processor's caches.
 *  3. After every WINDOW events, as many chunks as lay unused in the pool through the whole window
 *     are given back to the system, coldest first. In a steady state that is none, and no request
 *     pays a page fault; after a burst the pool is down to need within two windows. This is the
 *     low-water mark of gperftools' tcmalloc (thread_cache.cc, Scavenge). No clock, no thread: an
 *     idle process does nothing, and can be asked to trim.
 *  4. Whatever happened, no more than `pool` bytes stay: one fat request does not make the process
 *     fat for good, and pays for its pages itself.
 *  5. In debug mode what comes back is inaccessible at once, and goes to the end of a queue behind
 *     the unused rest of the range: 64 GiB of scopes pass before an address is seen again.
 *
 * Waste: the pool holds at most `pool` bytes, and at most what rooms held at once within the last
 * two windows.
 */
#include "allocators/request_arena/pool.h"

#include "allocators/preload/contract.h"

#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#define WINDOW 64      /* events: a chunk that came back is one, … */
#define AGE_EVENTS 8   /* … and FRA_POOL_AGE_REQUESTS requests of a thread are these */
#define RETRY_AFTER 64 /* refused chunks, before address space is asked for anew */

struct list {
    struct fra_chunk *first, *last;
    size_t count;
};

struct fra_range fra_range;

static struct {
    pthread_mutex_t lock;
    struct list hot;  /* pages in place; newest first */
    struct list cold; /* accessible, pages given back; in debug mode inaccessible, oldest first */
    size_t fresh;     /* chunks from here on were never used */
    size_t limit;     /* chunks of the range */
    size_t held;
    size_t low;   /* fewest hot chunks in this window */
    size_t given; /* events of this window */
    size_t retry_in;
    size_t discarded_ever, failures;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER};

void fra_pool_lock(void)
{
    (void)pthread_mutex_lock(&pool.lock);
}

void fra_pool_unlock(void)
{
    (void)pthread_mutex_unlock(&pool.lock);
}

static void push(struct list *list, struct fra_chunk *first, struct fra_chunk *last, size_t count)
{
    last->below = list->first;
    if (list->first == NULL)
        list->last = last;
    list->first = first;
    list->count += count;
}

static void append(struct list *list, struct fra_chunk *first, struct fra_chunk *last, size_t count)
{
    last->below = NULL;
    if (list->first == NULL)
        list->first = first;
    else
        list->last->below = first;
    list->last = last;
    list->count += count;
}

static struct fra_chunk *pop(struct list *list)
{
    struct fra_chunk *chunk = list->first;
    if (chunk == NULL)
        return NULL;
    list->first = chunk->below;
    list->count--;
    return chunk;
}

/* Cuts off all but the first keep. */
static struct list cut(struct list *list, size_t keep)
{
    struct list rest = *list;
    if (keep == 0) {
        *list = (struct list){0};
        return rest;
    }
    struct fra_chunk *last = list->first;
    for (size_t i = 1; i < keep; i++)
        last = last->below;
    rest = (struct list){last->below, list->last, list->count - keep};
    last->below = NULL;
    list->last = last;
    list->count = keep;
    return rest;
}

static size_t round_up(size_t bytes, size_t to)
{
    return (bytes + to - 1) & ~(to - 1);
}

/* The table, then chunks at a multiple of their size. The lock is held. */
static bool reserve(size_t range_bytes)
{
    size_t chunk = fra_settings.chunk_bytes, count = range_bytes >> fra_settings.chunk_shift;
    size_t table = round_up(count * sizeof(struct fra_chunk), (size_t)sysconf(_SC_PAGESIZE));
    size_t total = table + chunk + (count << fra_settings.chunk_shift);
    void *start = mmap(NULL, total, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED)
        return false;
    if (mprotect(start, table, PROT_READ | PROT_WRITE) != 0) {
        (void)munmap(start, total);
        return false;
    }
    fra_range.chunks = start;
    pool.limit = count;
    atomic_store_explicit(&fra_range.base, round_up((uintptr_t)start + table, chunk),
                          memory_order_relaxed);
    atomic_store_explicit(&fra_range.bytes, count << fra_settings.chunk_shift,
                          memory_order_release);
    return true;
}

static bool open_range(void)
{
    if (pool.limit != 0)
        return true;
    if (pool.retry_in > 0) {
        pool.retry_in--;
        return false;
    }
    pool.retry_in = RETRY_AFTER;
    for (size_t bytes = fra_settings.range_bytes; bytes >= fra_settings.chunk_bytes; bytes /= 2) {
        if (reserve(bytes))
            return true;
    }
    return false;
}

static bool make_accessible(const struct fra_chunk *chunk)
{
    return mprotect((void *)fra_pool_base_of(chunk), fra_settings.chunk_bytes,
                    PROT_READ | PROT_WRITE) == 0;
}

static struct fra_chunk *take_fresh(void)
{
    if (!open_range() || pool.fresh == pool.limit)
        return NULL;
    struct fra_chunk *chunk = &fra_range.chunks[pool.fresh];
    if (!make_accessible(chunk))
        return NULL;
    pool.fresh++;
    return chunk;
}

static struct fra_chunk *take_hot(void)
{
    struct fra_chunk *chunk = pop(&pool.hot);
    if (pool.hot.count < pool.low)
        pool.low = pool.hot.count;
    return chunk;
}

static struct fra_chunk *take_any(void)
{
    struct fra_chunk *chunk;
    if (fra_settings.debug) {
        chunk = take_fresh();
        if (chunk != NULL || pool.cold.first == NULL || !make_accessible(pool.cold.first))
            return chunk;
        return pop(&pool.cold);
    }
    if ((chunk = take_hot()) != NULL || (chunk = pop(&pool.cold)) != NULL)
        return chunk;
    return take_fresh();
}

struct fra_chunk *fra_pool_take(struct fra_room *room)
{
    int saved = errno;
    fra_pool_lock();
    struct fra_chunk *chunk = take_any();
    if (chunk != NULL)
        pool.held++;
    else
        pool.failures++;
    fra_pool_unlock();
    errno = saved;
    if (chunk != NULL)
        atomic_store_explicit(&chunk->room, room, memory_order_relaxed);
    return chunk;
}

void fra_pool_discard(const struct fra_chunk *chunk)
{
    int saved = errno;
    void *base = (void *)fra_pool_base_of(chunk);
    if (madvise(base, fra_settings.chunk_bytes, MADV_DONTNEED) != 0)
        errno = saved; /* locked pages (mlockall) stay; they are still usable */
}

/* Without the lock: to give back pages takes long, and nobody else knows these chunks. */
static void discard_all(const struct list *list)
{
    for (const struct fra_chunk *chunk = list->first; chunk != NULL; chunk = chunk->below)
        fra_pool_discard(chunk);
}

static void cool(struct list *list)
{
    if (list->first == NULL)
        return;
    discard_all(list);
    fra_pool_lock();
    push(&pool.cold, list->first, list->last, list->count);
    pool.discarded_ever += list->count;
    fra_pool_unlock();
}

static void lock_away(struct fra_chunk *first, struct fra_chunk *last, size_t count)
{
    struct list list = {first, last, count};
    discard_all(&list);
    for (const struct fra_chunk *chunk = first; chunk != NULL; chunk = chunk->below)
        (void)mprotect((void *)fra_pool_base_of(chunk), fra_settings.chunk_bytes, PROT_NONE);
    fra_pool_lock();
    append(&pool.cold, first, last, count);
    pool.held -= count;
    pool.discarded_ever += count;
    fra_pool_unlock();
}

/* What is over the bound and, at a window's end, what lay unused all through it. The lock is held.
 */
static struct list surplus(void)
{
    size_t keep = fra_settings.pool_chunks;
    if (pool.given >= WINDOW) {
        size_t used = pool.hot.count - pool.low;
        keep = used < keep ? used : keep;
        pool.given = 0;
        pool.low = SIZE_MAX;
    }
    struct list rest = keep < pool.hot.count ? cut(&pool.hot, keep) : (struct list){0};
    if (pool.hot.count < pool.low)
        pool.low = pool.hot.count;
    return rest;
}

void fra_pool_give(struct fra_chunk *first, struct fra_chunk *last)
{
    size_t count = 1;
    last->below = NULL;
    for (struct fra_chunk *chunk = first; chunk != last; chunk = chunk->below)
        count++;
    for (struct fra_chunk *chunk = first; chunk != NULL; chunk = chunk->below)
        atomic_store_explicit(&chunk->room, NULL, memory_order_relaxed);
    if (fra_settings.debug) {
        lock_away(first, last, count);
        return;
    }
    fra_pool_lock();
    push(&pool.hot, first, last, count);
    pool.held -= count;
    pool.given += count;
    struct list rest = surplus();
    fra_pool_unlock();
    cool(&rest);
}

void fra_pool_age(void)
{
    fra_pool_lock();
    pool.given += AGE_EVENTS;
    struct list rest = surplus();
    fra_pool_unlock();
    cool(&rest);
}

void fra_pool_trim(void)
{
    if (fra_settings.debug)
        return; /* nothing is kept */
    fra_pool_lock();
    struct list all = cut(&pool.hot, 0);
    pool.low = 0;
    fra_pool_unlock();
    cool(&all);
}

void fra_pool_count(struct fra_pool_counts *out)
{
    fra_pool_lock();
    *out = (struct fra_pool_counts){.chunks = pool.fresh,
                                    .held = pool.held,
                                    .hot = pool.hot.count,
                                    .discarded_ever = pool.discarded_ever,
                                    .failures = pool.failures};
    fra_pool_unlock();
}
