/* Opening: options, then every part once, in the order of their layers; and the fork handlers. */
#include "tensor_arena/arena.h"

#include "preload/contract.h"
#include "tensor_arena/cache.h"
#include "tensor_arena/direct.h"
#include "tensor_arena/heap.h"
#include "tensor_arena/os.h"

#include <string.h>

#define OPTION(name) "FRAGBENCH_TENSOR_ARENA_" name

/* Measured from 33 KiB to 64 MiB over fragbench's AI workloads: here free runs of either area suit
 * the most requests. */
static const size_t default_large = (size_t)64 << 10;

static struct ta_lock opening;

static const struct {
    const char *word;
    enum ta_policy_kind kind;
} policies[] = {
    {"learn", TA_POLICY_LEARN},
    {"none", TA_POLICY_NONE},
    {"peak", TA_POLICY_PEAK},
    {"all", TA_POLICY_ALL},
};

/* A word out of a list; what is not in it is said and ignored. */
static void read_policy(void)
{
    const char *word = fba_option(OPTION("KEEP"));
    if (word == NULL)
        return;
    for (size_t i = 0; i < sizeof policies / sizeof policies[0]; i++) {
        if (strcmp(word, policies[i].word) == 0) {
            ta_heap.policy.kind = policies[i].kind;
            return;
        }
    }
    fba_say(OPTION("KEEP") ": learn, peak, all or none is expected; learn is taken");
}

static bool read_ladder(void)
{
    const char *word = fba_option(OPTION("LADDER"));
    bool coarse = word != NULL && strcmp(word, "coarse") == 0;
    if (word != NULL && !coarse && strcmp(word, "fine") != 0)
        fba_say(OPTION("LADDER") ": fine or coarse is expected; fine is taken");
    return coarse;
}

static void read_options(void)
{
    size_t cache_bytes;
    ta_arena.large = default_large;
    ta_arena.direct = SIZE_MAX;
    ta_heap.huge = true;
    ta_heap.policy.limit = UINT64_MAX;
    (void)fba_option_bytes(OPTION("LARGE"), &ta_arena.large);
    (void)fba_option_bytes(OPTION("DIRECT"), &ta_arena.direct);
    (void)fba_option_bool(OPTION("HUGE"), &ta_heap.huge);
    if (fba_option_bytes(OPTION("CACHE"), &cache_bytes))
        ta_heap.policy.limit = cache_bytes >> TA_PAGE_SHIFT;
    read_policy();
    ta_classes_open(read_ladder());
}

void fba_open(void)
{
    if (atomic_load_explicit(&ta_arena.ready, memory_order_acquire))
        return;
    ta_lock(&opening);
    if (!atomic_load_explicit(&ta_arena.ready, memory_order_relaxed)) {
        read_options();
        bool open = (ta_region.base != NULL || ta_region_open() == 0) && ta_heap_open() == 0 &&
                    ta_slabs_open() == 0 && ta_caches_open() == 0;
        atomic_store_explicit(&ta_arena.ready, open, memory_order_release);
    }
    ta_unlock(&opening);
}

void fba_fork_prepare(void)
{
    ta_lock(&opening);
    ta_slabs_lock();
    ta_caches_lock();
    ta_direct_lock();
    ta_lock(&ta_heap.lock);
}

void fba_fork_parent(void)
{
    ta_unlock(&ta_heap.lock);
    ta_direct_unlock();
    ta_caches_unlock();
    ta_slabs_unlock();
    ta_unlock(&opening);
}

void fba_fork_child(void)
{
    ta_caches_forked();
    fba_fork_parent();
}
