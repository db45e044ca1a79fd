/* The table of spilled blocks.
 *
 *  1. A hash table of fixed size with chains through the headers; buckets are spread by
 *     multiplication (Knuth, The Art of Computer Programming 3, 6.4). 64 Ki buckets are 512 KiB of
 *     which only the pages in use are resident; chains get longer than a few only with some 100,000
 * spilled blocks alive.
 *  2. A look-up reads the bucket's head without the lock, and leaves when it is empty: whoever
 *     holds a spilled block sees a head that is not, because the block was put there before it was
 *     handed out. Otherwise it walks under the lock of the bucket's stripe.
 *  3. In debug mode a block whose scope ended stays in the table, marked, until QUARANTINE_BYTES of
 *     later ones have ended: so that a late free() is known for what it is.
 *
 * Waste: 64 bytes a block, up to its alignment if that is larger.
 */
#include "allocators/request_arena/spill.h"

#include "allocators/preload/inner.h"
#include "allocators/request_arena/plain.h"
#include "allocators/request_arena/settings.h"

#include <pthread.h>

#define BUCKET_BITS 16
#define STRIPES \
    32 /* ThreadSanitizer knows of 64 locks that a thread holds at once: fork takes all */
#define QUARANTINE_BYTES ((size_t)64 << 20)
#define HEADER_BYTES (sizeof(struct fra_spilled))

_Static_assert(HEADER_BYTES % 16 == 0, "the block after a header is aligned for any object");

_Atomic size_t fra_spill_live;

typedef _Atomic(struct fra_spilled *) bucket;

struct stripe {
    _Alignas(64) pthread_mutex_t lock;
};

static struct {
    bucket buckets[1 << BUCKET_BITS];
    struct stripe stripes[STRIPES];
    pthread_mutex_t quarantine_lock;
    struct fra_spilled *oldest, *newest; /* in quarantine, linked by newer */
    size_t quarantine_bytes;
} table = {.quarantine_lock = PTHREAD_MUTEX_INITIALIZER};

static size_t index_of(const void *block)
{
    return (size_t)(((uint64_t)(uintptr_t)block >> 4) * 0x9E3779B97F4A7C15ULL >>
                    (64 - BUCKET_BITS));
}

static pthread_mutex_t *lock_of(size_t index)
{
    return &table.stripes[index % STRIPES].lock;
}

void fra_spill_open(void)
{
    for (size_t i = 0; i < STRIPES; i++)
        (void)pthread_mutex_init(&table.stripes[i].lock, NULL);
}

void fra_spill_lock(void)
{
    (void)pthread_mutex_lock(&table.quarantine_lock);
    for (size_t i = 0; i < STRIPES; i++)
        (void)pthread_mutex_lock(&table.stripes[i].lock);
}

void fra_spill_unlock(void)
{
    for (size_t i = 0; i < STRIPES; i++)
        (void)pthread_mutex_unlock(&table.stripes[i].lock);
    (void)pthread_mutex_unlock(&table.quarantine_lock);
}

struct fra_spilled *fra_spill_look_up(const void *block)
{
    size_t index = index_of(block);
    if (atomic_load_explicit(&table.buckets[index], memory_order_relaxed) == NULL)
        return NULL;
    (void)pthread_mutex_lock(lock_of(index));
    struct fra_spilled *spilled = atomic_load_explicit(&table.buckets[index], memory_order_relaxed);
    while (spilled != NULL && (const void *)spilled->block != block)
        spilled = spilled->chain;
    (void)pthread_mutex_unlock(lock_of(index));
    return spilled;
}

static void enter(struct fra_spilled *spilled)
{
    size_t index = index_of(spilled->block);
    atomic_fetch_add_explicit(&fra_spill_live, 1, memory_order_relaxed);
    (void)pthread_mutex_lock(lock_of(index));
    spilled->chain = atomic_load_explicit(&table.buckets[index], memory_order_relaxed);
    atomic_store_explicit(&table.buckets[index], spilled, memory_order_relaxed);
    (void)pthread_mutex_unlock(lock_of(index));
}

static void leave(struct fra_spilled *spilled)
{
    size_t index = index_of(spilled->block);
    (void)pthread_mutex_lock(lock_of(index));
    struct fra_spilled *at = atomic_load_explicit(&table.buckets[index], memory_order_relaxed);
    if (at == spilled) {
        atomic_store_explicit(&table.buckets[index], spilled->chain, memory_order_relaxed);
    } else {
        while (at->chain != spilled)
            at = at->chain;
        at->chain = spilled->chain;
    }
    (void)pthread_mutex_unlock(lock_of(index));
    atomic_fetch_sub_explicit(&fra_spill_live, 1, memory_order_relaxed);
}

static void *base_of(struct fra_spilled *spilled)
{
    return spilled->block - spilled->front;
}

static void link_up(struct fra_spilled *spilled, struct fra_spilled **list)
{
    spilled->newer = NULL;
    spilled->older = *list;
    if (*list != NULL)
        (*list)->newer = spilled;
    *list = spilled;
}

static void unlink_from(struct fra_spilled *spilled, struct fra_spilled **list)
{
    if (spilled->newer != NULL)
        spilled->newer->older = spilled->older;
    else
        *list = spilled->older;
    if (spilled->older != NULL)
        spilled->older->newer = spilled->newer;
}

/* In no list yet, and not in the table. */
static struct fra_spilled *make(struct fra_room *room, unsigned depth, size_t size, size_t align)
{
    size_t front = align > HEADER_BYTES ? align : HEADER_BYTES, total;
    if (front > UINT32_MAX || __builtin_add_overflow(size, front, &total) || total > PTRDIFF_MAX)
        return NULL;
    char *base = fra_plain_allocate(total, align < 16 ? 16 : align);
    if (base == NULL)
        return NULL;
    struct fra_spilled *spilled = (struct fra_spilled *)(void *)(base + front - HEADER_BYTES);
    spilled->room = room;
    spilled->size = size;
    spilled->front = (uint32_t)front;
    spilled->depth = depth;
    atomic_init(&spilled->ended, false);
    return spilled;
}

struct fra_spilled *fra_spill_new(struct fra_room *room, unsigned depth, struct fra_spilled **list,
                                  size_t size, size_t align)
{
    struct fra_spilled *spilled = make(room, depth, size, align);
    if (spilled == NULL)
        return NULL;
    link_up(spilled, list);
    enter(spilled);
    return spilled;
}

struct fra_spilled *fra_spill_new_adopted(struct fra_room *room, size_t size)
{
    struct fra_spilled *spilled = make(room, 0, size, 16);
    if (spilled != NULL)
        enter(spilled);
    return spilled;
}

static void give_back(struct fra_spilled *spilled)
{
    leave(spilled);
    fra_plain_release(base_of(spilled));
}

void fra_spill_free(struct fra_spilled *spilled, struct fra_spilled **list)
{
    unlink_from(spilled, list);
    give_back(spilled);
}

struct fra_spilled *fra_spill_resize(struct fra_spilled *spilled, struct fra_spilled **list,
                                     size_t size)
{
    size_t front = spilled->front, total;
    if (__builtin_add_overflow(size, front, &total) || total > PTRDIFF_MAX)
        return NULL;
    leave(spilled); /* while it moves, its old address may become another's */
    char *base = fra_plain_resize(base_of(spilled), total);
    if (base == NULL) {
        enter(spilled);
        return NULL;
    }
    struct fra_spilled *moved = (struct fra_spilled *)(void *)(base + front - HEADER_BYTES);
    moved->size = size;
    if (moved->newer != NULL)
        moved->newer->older = moved;
    else
        *list = moved;
    if (moved->older != NULL)
        moved->older->newer = moved;
    enter(moved);
    return moved;
}

/* Takes the oldest out of quarantine while it holds too much; the lock is held. */
static struct fra_spilled *overdue(void)
{
    struct fra_spilled *oldest = table.oldest;
    if (oldest == NULL || table.quarantine_bytes <= QUARANTINE_BYTES)
        return NULL;
    table.oldest = oldest->newer;
    table.quarantine_bytes -= oldest->size + HEADER_BYTES;
    return oldest;
}

static void quarantine(struct fra_spilled *spilled)
{
    atomic_store_explicit(&spilled->ended, true, memory_order_relaxed);
    spilled->newer = NULL;
    (void)pthread_mutex_lock(&table.quarantine_lock);
    if (table.oldest == NULL)
        table.oldest = spilled;
    else
        table.newest->newer = spilled;
    table.newest = spilled;
    table.quarantine_bytes += spilled->size + HEADER_BYTES;
    struct fra_spilled *done;
    while ((done = overdue()) != NULL)
        give_back(done);
    (void)pthread_mutex_unlock(&table.quarantine_lock);
}

size_t fra_spill_end(struct fra_spilled *list)
{
    size_t bytes = 0;
    while (list != NULL) {
        struct fra_spilled *older = list->older;
        bytes += list->size;
        if (fra_settings.debug)
            quarantine(list);
        else
            give_back(list);
        list = older;
    }
    return bytes;
}

size_t fra_spill_usable(const struct fra_spilled *spilled)
{
    const char *base = spilled->block - spilled->front;
    return fra_plain_usable(base) - spilled->front;
}
