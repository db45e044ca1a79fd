/* budgeted: a hard limit in front of the next allocator in line.
 *
 *  1. Reserve: the requested bytes are drawn from the budget before the inner allocator is called.
 * No draw, no call.
 *  2. Allocate: the inner allocator makes the block. NULL: the reservation goes back.
 *  3. Settle: the block's usable bytes are known only now; the difference is drawn or put back. If
 *     it cannot be drawn, the block is given back before anybody has seen it, and the reservation
 * too.
 *  4. Free: the usable bytes are put back after the inner allocator has the block.
 *     So the charged bytes of all blocks handed out are covered by draws at every instant, and
 * draws never exceed the budget (credit.h).
 *  5. Resize: growing reserves the most that an allocator rounds up to, less what the block has,
 * and settles after the inner realloc: the old block is charged on, not twice. Where that most is
 * no longer there, an inner realloc could not be undone; so a new block is made by 1 to 3, for the
 *     difference only, and the content copied: the old one counts as part of it until it is freed.
 *  6. Refused: the inner allocator's caches are purged once, the attempt is repeated, then NULL.
 *  7. budget_mode=footprint: the same steps with another count, see footprint.h.
 *
 * Waste: none of its own, no header is put before a block. What is refused early: nothing; the
 * threads' credit is collected before anybody is refused. Cost: the block's usable size twice
 * (preload/usable.h) and two visits to the thread's pocket for each block.
 *
 * The reservation follows the seed of the idea, a counter checked before each allocation (a Rust
 * GlobalAlloc with an atomic), whose load, comparison and add are three steps that threads can pass
 * between. Credit in batches is Linux's percpu_counter and memory cgroup stock (try_charge() draws
 * 64 pages at a time and drains the other CPUs' stock before it refuses).
 */
#include "budgeted/budgeted.h"
#include "budgeted/blocks.h"
#include "budgeted/credit.h"
#include "budgeted/footprint.h"
#include "budgeted/shortage.h"
#include "fragbench/budgeted.h"
#include "preload/contract.h"
#include "preload/inner.h"
#include "preload/usable.h"

#include <errno.h>
#include <sched.h>
#include <string.h>

#define LIKELY(condition) __builtin_expect(!!(condition), 1)
#define IN_LINE inline __attribute__((always_inline))
#define ROUNDED_MOST (8 * ((size_t)FBA_POCKET_ROUNDED - 1))
#define MIN_ALIGN ((size_t)16)
/* From here on glibc's realloc moves pages, not bytes: its mmap_threshold is never above. */
#define REMAP_BYTES ((size_t)32 << 20)
#define PAGE_MOST ((size_t)64 << 10) /* of arm64 */

/* One word tells each call which way to go. */
enum way { SHUT = 0, OPENING, CHARGED, FOOTPRINT };

static struct {
    struct fba_inner inner;
    _Atomic int way;
    _Atomic size_t inner_failed;
} state;

struct request {
    size_t size;
    size_t align; /* 0 = as malloc */
    bool zeroed;
};

static void set_options(void)
{
    static const char mode_variable[] = "FRAGBENCH_BUDGETED_MODE";
    size_t budget = FRAGBENCH_BUDGETED_UNLIMITED, soft;
    const char *mode = fba_option(mode_variable);
    bool footprint = mode != NULL && strcmp(mode, "footprint") == 0;
    if (mode != NULL && !footprint && strcmp(mode, "charged") != 0)
        fba_say("FRAGBENCH_BUDGETED_MODE: expected charged or footprint; not used");
    (void)fba_option_bytes("FRAGBENCH_BUDGETED_BUDGET", &budget);
    if (budget > FRAGBENCH_BUDGETED_UNLIMITED)
        budget = FRAGBENCH_BUDGETED_UNLIMITED;
    if (footprint && !fba_footprint_open()) {
        fba_say("/proc/self/statm cannot be read: the budget counts charged bytes instead");
        footprint = false;
    }
    fba_credit_open(budget, footprint);
    if (fba_option_bytes("FRAGBENCH_BUDGETED_SOFT", &soft))
        fba_shortage_set_soft(soft, fba_budgeted_say_soft, NULL);
}

void fba_open(void)
{
    const struct fba_inner *inner = fba_inner();
    int shut = SHUT;
    if (inner == NULL) /* within the search for it: bootstrap memory until it is over */
        return;
    if (!atomic_compare_exchange_strong(&state.way, &shut, OPENING)) {
        while (atomic_load_explicit(&state.way, memory_order_acquire) == OPENING)
            (void)sched_yield(); /* the other one reads options; it needs no lock of ours */
        return;
    }
    state.inner = *inner;
    fba_usable_open(inner->malloc_usable_size, inner->is_glibc);
    set_options();
    atomic_store_explicit(&state.way, fba_footprint_is_on() ? FOOTPRINT : CHARGED,
                          memory_order_release);
}

static inline bool is_charged(void)
{
    return LIKELY(atomic_load_explicit(&state.way, memory_order_acquire) == CHARGED);
}

static inline void *inner_allocate(struct request request)
{
    if (request.align > MIN_ALIGN) {
        void *block;
        return state.inner.posix_memalign(&block, request.align, request.size) == 0 ? block : NULL;
    }
    return request.zeroed ? state.inner.calloc(1, request.size) : state.inner.malloc(request.size);
}

static void *inner_failed(void)
{
    atomic_fetch_add(&state.inner_failed, 1);
    return NULL;
}

static __attribute__((noinline, cold)) void *hand_back(void *block, size_t reserved)
{
    state.inner.free(block);
    fba_credit_give(reserved);
    return NULL;
}

static IN_LINE uint16_t *rounded_slot(size_t size)
{
    return &fba_pocket.rounded[(size + 7) / 8];
}

/* Rules 2 and 3 with `reserved` bytes drawn. *refused: NULL is the budget's word, not the inner
 * allocator's. */
static void *settle(void *block, size_t size, size_t reserved, bool *refused)
{
    if (block == NULL) {
        fba_credit_give(reserved);
        return inner_failed();
    }
    size_t usable = fba_usable_of(block);
    if (size <= ROUNDED_MOST && usable <= UINT16_MAX)
        *rounded_slot(size) = (uint16_t)usable;
    if (usable <= reserved) {
        fba_credit_give(reserved - usable);
        return block;
    }
    if (fba_credit_take(usable - reserved))
        return block;
    *refused = true;
    return hand_back(block, reserved);
}

/* Rules 1 to 3. */
static void *attempt(struct request request, bool *refused)
{
    *refused = !fba_credit_take(request.size);
    if (*refused)
        return NULL;
    return settle(inner_allocate(request), request.size, request.size, refused);
}

bool fba_budgeted_purge(void)
{
    const struct fba_inner *inner = fba_inner();
    if (inner == NULL || inner->purge == NULL)
        return false;
    inner->purge();
    fba_shortage_note_purge();
    return true;
}

static bool purge_and_count(void)
{
    if (!fba_footprint_purge_may_help() || !fba_budgeted_purge())
        return false;
    bool kept = fba_footprint_census();
    fba_footprint_note_purged();
    return kept;
}

/* The same three rules where pages count: what could not be drawn is made on trial and counted. */
static void *attempt_footprint(struct request request, bool *refused)
{
    *refused = request.size > fba_credit_budget();
    if (*refused)
        return NULL;
    fba_credit_add_pending((int64_t)request.size);
    bool drawn = fba_credit_take(request.size);
    void *block = inner_allocate(request);
    size_t usable = block != NULL ? fba_usable_of(block) : 0;
    if (block != NULL)
        fba_footprint_admit(block, usable);
    fba_credit_add_pending(-(int64_t)request.size);
    if (block == NULL)
        return inner_failed();
    fba_credit_add_handed((int64_t)usable);
    drawn = drawn && (usable == request.size || fba_credit_take(usable - request.size));
    if (drawn || fba_footprint_census() || purge_and_count())
        return block;
    *refused = true;
    fba_footprint_dismiss(block, usable);
    state.inner.free(block);
    fba_credit_add_handed(-(int64_t)usable);
    return NULL;
}

/* Once a shortage: it cannot make room for charged bytes, but what comes after the refusal. */
static void purge_charged(void)
{
    if (fba_shortage_begins())
        (void)fba_budgeted_purge();
}

static __attribute__((noinline, cold)) void *try_again(struct request request)
{
    bool refused;
    purge_charged();
    void *block = attempt(request, &refused);
    if (refused)
        fba_shortage_refuse(request.size);
    return block;
}

static __attribute__((noinline)) void *allocate_footprint(struct request request)
{
    bool refused = false;
    void *block = attempt_footprint(request, &refused);
    if (refused)
        fba_shortage_refuse(request.size);
    return block;
}

static __attribute__((noinline)) void *allocate(struct request request)
{
    bool refused;
    int way = atomic_load_explicit(&state.way, memory_order_acquire);
    if (way == FOOTPRINT)
        return allocate_footprint(request);
    if (way != CHARGED)
        return fba_bootstrap_allocate(request.size, request.align);
    void *block = attempt(request, &refused);
    return LIKELY(!refused) ? block : try_again(request);
}

static __attribute__((noinline)) void *settle_small(void *block, struct request request,
                                                    size_t reserved)
{
    bool refused = false;
    block = settle(block, request.size, reserved, &refused);
    /* Exactly what is asked for the second time: a guess too high must not refuse the last bytes.
     */
    return LIKELY(!refused) ? block : try_again(request);
}

/* The contract promises 16-byte alignment for any size; jemalloc, tcmalloc and mimalloc align to 8
 * what is smaller than 16. */
static IN_LINE size_t at_least(size_t size)
{
    return size < MIN_ALIGN ? MIN_ALIGN : size;
}

/* Rules 1 to 3 in line, for small sizes out of the thread's pocket. What is reserved is what such a
 * size was rounded up to last time: mostly that is exact, and settling costs a comparison. */
static IN_LINE void *allocate_small(struct request request)
{
    size_t rounded = *rounded_slot(request.size);
    size_t reserved = rounded < request.size ? request.size : rounded;
    if (!LIKELY(fba_pocket_take(reserved)))
        return allocate(request);
    void *block =
        request.zeroed ? state.inner.calloc(1, request.size) : state.inner.malloc(request.size);
    if (LIKELY(block != NULL && fba_usable_of(block) == reserved))
        return block;
    return settle_small(block, request, reserved);
}

void *fba_allocate(size_t size, size_t align)
{
    size = at_least(size);
    if (!LIKELY(align <= MIN_ALIGN))
        return allocate((struct request){.size = size, .align = align});
    if (!LIKELY(size <= ROUNDED_MOST) || !is_charged())
        return allocate((struct request){.size = size});
    return allocate_small((struct request){.size = size});
}

void *fba_allocate_zeroed(size_t size)
{
    struct request request = {.size = at_least(size), .zeroed = true};
    bool small = LIKELY(request.size <= ROUNDED_MOST) && is_charged();
    return small ? allocate_small(request) : allocate(request);
}

static __attribute__((noinline)) void release_footprint(void *block, size_t usable)
{
    fba_footprint_dismiss(block, usable);
    state.inner.free(block);
    fba_credit_add_handed(-(int64_t)usable);
}

void fba_release(void *block)
{
    if (fba_inner_owns_bootstrap(block))
        return;
    size_t usable = fba_usable_of(block);
    if (!is_charged()) {
        release_footprint(block, usable);
        return;
    }
    state.inner.free(block);
    fba_credit_give(usable);
}

/* The most that size may be rounded up to. Size classes of the known allocators lie at most a
 * quarter apart (jemalloc, tcmalloc), 16 bytes below 128; large blocks are whole pages of at most
 * 64 KiB. */
static size_t most_usable(size_t size)
{
    return size + size / 4 + (size < ((size_t)128 << 10) ? 64 : PAGE_MOST);
}

static void *copied(void *block, size_t usable, void *fresh, size_t size)
{
    memcpy(fresh, block, usable < size ? usable : size);
    return fresh;
}

/* Rule 5 where the room is narrow. The new block is charged for what it has more than the old one,
 * whose charge goes over to it when the old one is freed. */
static __attribute__((noinline, cold)) void *resize_by_copy(void *block, size_t usable, size_t size)
{
    size_t reserved = size > usable ? size - usable : 0;
    if (!fba_credit_take(reserved))
        return NULL;
    void *fresh = state.inner.malloc(size);
    if (fresh == NULL) {
        fba_credit_give(reserved);
        return inner_failed();
    }
    size_t total = fba_usable_of(fresh);
    if (total > usable + reserved && !fba_credit_take(total - usable - reserved))
        return hand_back(fresh, reserved);
    (void)copied(block, usable, fresh, size);
    state.inner.free(block);
    if (total < usable + reserved)
        fba_credit_give(usable + reserved - total);
    return fresh;
}

static void *resize_charged(void *block, size_t usable, size_t size, bool *roomy)
{
    size_t most = most_usable(size);
    size_t reserved = most > usable ? most - usable : 0;
    *roomy = fba_credit_take(reserved);
    if (!*roomy)
        return NULL;
    void *resized = state.inner.realloc(block, size);
    if (resized == NULL) {
        fba_credit_give(reserved);
        return inner_failed();
    }
    size_t total = fba_usable_of(resized);
    if (total <= usable + reserved)
        fba_credit_give(usable + reserved - total);
    else if (!fba_credit_take(total - usable - reserved))
        fba_panic("the inner realloc rounded up by more than a quarter where the budget ends");
    return resized;
}

static void *resize_or_refuse(void *block, size_t size)
{
    bool roomy;
    size_t usable = fba_usable_of(block);
    void *resized = resize_charged(block, usable, size, &roomy);
    if (LIKELY(roomy))
        return resized;
    resized = resize_by_copy(block, usable, size);
    if (resized == NULL) {
        purge_charged();
        resized = resize_by_copy(block, usable, size);
    }
    if (resized == NULL)
        fba_shortage_refuse(size);
    return resized;
}

/* Copies by hand; NULL leaves the block as it was. */
static void *resize_to_fresh(void *block, size_t usable, size_t size)
{
    void *fresh = fba_allocate(size, MIN_ALIGN);
    if (fresh == NULL)
        return NULL;
    (void)copied(block, usable, fresh, size);
    fba_release(block);
    return fresh;
}

/* While the inner realloc runs, old and new may both be resident, except where pages are moved. */
static void *resize_footprint(void *block, size_t size)
{
    size_t usable = fba_usable_of(block);
    size_t growth = size > usable ? most_usable(size) : 0;
    if (growth != 0 && usable >= REMAP_BYTES && state.inner.is_glibc)
        growth = size - usable + PAGE_MOST;
    fba_credit_add_pending((int64_t)growth);
    if (growth != 0 && !fba_credit_take(growth) && !fba_footprint_census()) {
        fba_credit_add_pending(-(int64_t)growth);
        return resize_to_fresh(block, usable, size);
    }
    fba_footprint_dismiss(block, usable);
    fba_credit_add_pending((int64_t)usable); /* it is in no table now */
    void *resized = state.inner.realloc(block, size);
    size_t total = resized != NULL ? fba_usable_of(resized) : usable;
    fba_footprint_admit(resized != NULL ? resized : block, total);
    fba_credit_add_handed((int64_t)total - (int64_t)usable);
    fba_credit_add_pending(-(int64_t)(growth + usable));
    return resized != NULL ? resized : inner_failed();
}

void *fba_resize(void *block, size_t size)
{
    size = at_least(size);
    if (!LIKELY(!fba_inner_owns_bootstrap(block)))
        return resize_to_fresh(block, fba_bootstrap_usable(block), size);
    return is_charged() ? resize_or_refuse(block, size) : resize_footprint(block, size);
}

size_t fba_usable(const void *block)
{
    if (fba_inner_owns_bootstrap(block))
        return fba_bootstrap_usable(block);
    return fba_usable_of((void *)(uintptr_t)block);
}

size_t fba_budgeted_inner_failed(void)
{
    return atomic_load(&state.inner_failed);
}

void fba_fork_prepare(void)
{
    fba_shortage_fork_prepare();
    fba_credit_fork_prepare(); /* before the blocks, as in a census */
    fba_blocks_fork_prepare();
}

void fba_fork_parent(void)
{
    fba_blocks_fork_done();
    fba_credit_fork_parent();
    fba_shortage_fork_done();
}

void fba_fork_child(void)
{
    fba_blocks_fork_done();
    fba_credit_fork_child();
    fba_shortage_fork_done();
}
