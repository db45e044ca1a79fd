#include "budgeted/credit.h"

#include "budgeted/shortage.h"
#include "preload/contract.h"

#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A draw beyond the need: 1,000 blocks of 64 bytes to an atomic operation, and with 100 threads
 * still under 1 % of a gigabyte on the move. A small budget is drawn in smaller parts. */
#define BATCH_MOST ((size_t)64 << 10)
#define BATCH_SHARE 1024
/* Pockets open again when this many batches a thread are available: far enough from shutting that
 * an emptying (some µs) is paid for by megabytes of allocation. */
#define LOOSEN_BATCHES 4

__thread struct fba_pocket fba_pocket;

static struct {
    _Alignas(64) _Atomic int64_t available; /* see the header; everything else is rarely written */
    _Alignas(64) _Atomic int64_t budget;
    _Atomic int64_t withheld; /* footprint: room that a census found and did not grant */
    _Atomic size_t batch;     /* 0: pockets stay shut */
    _Atomic size_t peak;
    _Atomic bool tight;
    _Atomic size_t tightenings;
    _Atomic size_t threads;
    _Atomic int64_t orphan_handed; /* of threads that have ended */
    _Atomic int64_t orphan_pending;
    bool membarrier;
    bool recounted;
    pthread_key_t key;
    pthread_mutex_t
        lock; /* the list, `tight`, `budget`, collecting; never held in a foreign call */
    struct fba_pocket *pockets;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void lock(void)
{
    (void)pthread_mutex_lock(&state.lock);
}

static void unlock(void)
{
    (void)pthread_mutex_unlock(&state.lock);
}

static bool membarrier_call(int command)
{
    return syscall(SYS_membarrier, command, 0, 0) == 0;
}

static size_t batch_of(size_t budget)
{
    if (!state.membarrier)
        return 0;
    return budget / BATCH_SHARE < BATCH_MOST ? budget / BATCH_SHARE : BATCH_MOST;
}

/* Takes bytes if they are there. `available` never goes below 0 by a draw. */
static bool draw_exactly(size_t bytes, int64_t *left)
{
    int64_t available = atomic_load_explicit(&state.available, memory_order_relaxed);
    do {
        if (available < 0 || bytes > (size_t)available)
            return false;
    } while (
        !atomic_compare_exchange_weak(&state.available, &available, available - (int64_t)bytes));
    *left = available - (int64_t)bytes;
    return true;
}

/* After a draw: the peak, and the soft limit. The budget is read apart from `available`;
 * set_budget() writes the two in an order in which this difference is never too high. */
static void note_use(int64_t left)
{
    int64_t used = atomic_load(&state.budget) - atomic_load(&state.withheld) - left;
    if (used <= 0)
        return;
    size_t peak = atomic_load_explicit(&state.peak, memory_order_relaxed);
    while ((size_t)used > peak && !atomic_compare_exchange_weak(&state.peak, &peak, (size_t)used)) {
    }
    fba_shortage_note_use((size_t)used);
}

static void note_return(int64_t left)
{
    int64_t budget = atomic_load(&state.budget);
    int64_t used = budget - atomic_load(&state.withheld) - left;
    fba_shortage_note_return(used > 0 ? (size_t)used : 0, (size_t)budget);
}

/* Empties every pocket and leaves it shut; returns what was in them. Locked. */
static size_t collect(void)
{
    size_t credit = 0;
    for (struct fba_pocket *each = state.pockets; each != NULL; each = each->next)
        atomic_store_explicit(&each->asked, 1, memory_order_relaxed);
    if (state.membarrier && !membarrier_call(MEMBARRIER_CMD_PRIVATE_EXPEDITED))
        fba_panic("membarrier failed after it was registered");
    for (struct fba_pocket *each = state.pockets; each != NULL; each = each->next) {
        /* A few instructions, unless the owner lost the CPU there. */
        while (atomic_load_explicit(&each->busy, memory_order_acquire) != 0)
            (void)sched_yield();
        credit += atomic_exchange_explicit(&each->credit, 0, memory_order_relaxed);
    }
    return credit;
}

/* Shuts the pockets; what was in them is available. Locked. */
static void shut_pockets(void)
{
    if (atomic_load(&state.tight))
        return;
    atomic_store(&state.tight, true);
    atomic_fetch_add(&state.available, (int64_t)collect());
}

static void open_pockets(void)
{
    for (struct fba_pocket *each = state.pockets; each != NULL; each = each->next)
        atomic_store_explicit(&each->asked, 0, memory_order_release);
}

static void tighten(void)
{
    lock();
    if (!atomic_load(&state.tight))
        atomic_fetch_add(&state.tightenings, 1);
    shut_pockets();
    unlock();
}

static bool is_plenty(int64_t available)
{
    size_t batch = atomic_load_explicit(&state.batch, memory_order_relaxed);
    size_t threads = atomic_load_explicit(&state.threads, memory_order_relaxed);
    return batch != 0 && available > 0 &&
           (size_t)available >= LOOSEN_BATCHES * batch * (threads + 1);
}

static void loosen(void)
{
    lock();
    if (atomic_load(&state.tight) && is_plenty(atomic_load(&state.available))) {
        atomic_store(&state.tight, false);
        open_pockets();
    }
    unlock();
}

/* A thread's end: its credit goes back. Blocks that its last destructors still free or allocate go
 * to `available` itself. */
static void retire(void *pocket)
{
    struct fba_pocket *mine = pocket;
    lock();
    mine->state = FBA_POCKET_DEAD;
    atomic_store(&mine->keep, 0);
    atomic_fetch_add(&state.available, (int64_t)atomic_exchange(&mine->credit, 0));
    atomic_fetch_add(&state.orphan_handed, atomic_exchange(&mine->handed, 0));
    if (mine->next != NULL)
        mine->next->previous = mine->previous;
    if (mine->previous != NULL)
        mine->previous->next = mine->next;
    else
        state.pockets = mine->next;
    atomic_fetch_sub(&state.threads, 1);
    unlock();
}

static void enlist(void)
{
    struct fba_pocket *mine = &fba_pocket;
    if (mine->state != FBA_POCKET_NEW)
        return;
    lock();
    mine->state = FBA_POCKET_LIVE;
    mine->next = state.pockets;
    mine->previous = NULL;
    if (state.pockets != NULL)
        state.pockets->previous = mine;
    state.pockets = mine;
    atomic_store(&mine->asked, atomic_load(&state.tight) ? 1 : 0);
    atomic_store(&mine->keep, 2 * atomic_load(&state.batch));
    atomic_fetch_add(&state.threads, 1);
    unlock();
    /* Allocates for keys from the 33rd on only; this one was made at the library's opening. */
    if (pthread_setspecific(state.key, mine) != 0)
        retire(mine);
}

void fba_credit_open(size_t budget, bool recounted)
{
    state.recounted = recounted;
    state.membarrier = membarrier_call(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
    if (pthread_key_create(&state.key, retire) != 0)
        fba_panic("no thread key is left");
    atomic_store(&state.batch, batch_of(budget));
    atomic_store(&state.budget, (int64_t)budget);
    atomic_store(&state.available, (int64_t)budget);
    atomic_store(&state.tight, atomic_load(&state.batch) == 0);
}

/* Puts a batch that was just drawn into the pocket; a pocket shut meanwhile returns it. */
static void fill_pocket(size_t batch)
{
    struct fba_pocket *mine = &fba_pocket;
    bool open = fba_pocket_enter(mine);
    if (open) {
        size_t credit = atomic_load_explicit(&mine->credit, memory_order_relaxed);
        atomic_store_explicit(&mine->credit, credit + batch, memory_order_relaxed);
    }
    fba_pocket_leave(mine);
    if (!open)
        atomic_fetch_add(&state.available, (int64_t)batch);
}

static bool draw_batch(size_t bytes, int64_t *left)
{
    size_t batch = atomic_load_explicit(&state.batch, memory_order_relaxed), total;
    if (atomic_load(&state.tight) || __builtin_add_overflow(bytes, batch, &total) ||
        !draw_exactly(total, left))
        return false;
    fill_pocket(batch);
    return true;
}

/* No census may come between the draw of a batch and its way into the pocket: it would grant these
 * bytes a second time. Where nobody recounts, a batch on its way is simply drawn. */
static bool draw_batch_guarded(size_t bytes, int64_t *left)
{
    if (fba_pocket.state != FBA_POCKET_LIVE)
        return false;
    if (state.recounted)
        lock();
    bool drawn = draw_batch(bytes, left);
    if (state.recounted)
        unlock();
    return drawn;
}

__attribute__((noinline)) bool fba_credit_draw(size_t bytes)
{
    int64_t left;
    enlist();
    if (!draw_batch_guarded(bytes, &left) && !draw_exactly(bytes, &left)) {
        tighten();
        if (!draw_exactly(bytes, &left))
            return false;
    }
    note_use(left);
    return true;
}

void fba_credit_add_pending(int64_t bytes)
{
    struct fba_pocket *mine = &fba_pocket;
    enlist();
    if (mine->state != FBA_POCKET_LIVE) {
        atomic_fetch_add(&state.orphan_pending, bytes);
        return;
    }
    size_t pending = atomic_load_explicit(&mine->pending, memory_order_relaxed);
    atomic_store_explicit(&mine->pending, pending + (size_t)bytes, memory_order_release);
}

void fba_credit_add_handed(int64_t bytes)
{
    struct fba_pocket *mine = &fba_pocket;
    enlist();
    if (mine->state != FBA_POCKET_LIVE) {
        atomic_fetch_add(&state.orphan_handed, bytes);
        return;
    }
    int64_t handed = atomic_load_explicit(&mine->handed, memory_order_relaxed);
    atomic_store_explicit(&mine->handed, handed + bytes, memory_order_relaxed);
}

/* Takes the surplus of a full pocket, all but a batch of it. */
static size_t skim_pocket(void)
{
    struct fba_pocket *mine = &fba_pocket;
    size_t batch = atomic_load_explicit(&state.batch, memory_order_relaxed), surplus = 0;
    if (fba_pocket_enter(mine)) {
        size_t credit = atomic_load_explicit(&mine->credit, memory_order_relaxed);
        if (credit > batch) {
            surplus = credit - batch;
            atomic_store_explicit(&mine->credit, batch, memory_order_relaxed);
        }
    }
    fba_pocket_leave(mine);
    return surplus;
}

__attribute__((noinline)) void fba_credit_return(size_t bytes)
{
    enlist();
    int64_t back = (int64_t)(bytes + skim_pocket());
    int64_t available = atomic_fetch_add(&state.available, back) + back;
    note_return(available);
    if (__builtin_expect(atomic_load_explicit(&state.tight, memory_order_relaxed), 0) &&
        is_plenty(available))
        loosen();
}

void fba_credit_set_budget(size_t budget)
{
    lock();
    int64_t old = atomic_load(&state.budget), change = (int64_t)budget - old;
    atomic_store(&state.batch, batch_of(budget));
    for (struct fba_pocket *each = state.pockets; each != NULL; each = each->next)
        atomic_store(&each->keep, 2 * atomic_load(&state.batch));
    if (change < 0) {
        /* Credit drawn from the old budget must not outlive this call. */
        atomic_store(&state.budget, (int64_t)budget);
        atomic_fetch_add(&state.available, change);
    } else {
        atomic_fetch_add(&state.available, change);
        atomic_store(&state.budget, (int64_t)budget);
    }
    shut_pockets();
    unlock();
    loosen();
}

void fba_credit_figures(struct fba_credit_figures *out)
{
    lock();
    int64_t budget = atomic_load(&state.budget), idle = atomic_load(&state.withheld);
    for (struct fba_pocket *each = state.pockets; each != NULL; each = each->next)
        idle += (int64_t)atomic_load_explicit(&each->credit, memory_order_relaxed);
    int64_t used = budget - idle - atomic_load(&state.available);
    *out = (struct fba_credit_figures){
        .budget = (size_t)budget,
        .used = used > 0 ? (size_t)used : 0,
        .peak = atomic_load(&state.peak),
        .threads = atomic_load(&state.threads),
        .tightenings = atomic_load(&state.tightenings),
        .tight = atomic_load(&state.tight),
    };
    unlock();
}

size_t fba_credit_budget(void)
{
    return (size_t)atomic_load_explicit(&state.budget, memory_order_relaxed);
}

struct fba_credit_census fba_credit_census_begin(void)
{
    lock();
    /* First: who has drawn before this has his pending bytes written down before that. Who has not,
     * comes to a census of his own before he hands anything out. */
    int64_t available = atomic_exchange(&state.available, 0);
    size_t credit = 0;
    if (!atomic_load(&state.tight)) { /* else the pockets are shut and empty */
        atomic_store(&state.tight, true);
        credit = collect();
    }
    struct fba_credit_census census = {
        .pending = (size_t)atomic_load(&state.orphan_pending),
        .handed = atomic_load(&state.orphan_handed),
        .known_room = atomic_load(&state.withheld) + available + (int64_t)credit,
    };
    for (struct fba_pocket *each = state.pockets; each != NULL; each = each->next) {
        census.pending += atomic_load_explicit(&each->pending, memory_order_acquire);
        census.handed += atomic_load_explicit(&each->handed, memory_order_relaxed);
    }
    return census;
}

void fba_credit_census_end(int64_t room, size_t grant)
{
    int64_t granted = room > 0 && (size_t)room > grant ? (int64_t)grant : room;
    atomic_store(&state.withheld, room - granted);
    atomic_store(&state.available, granted);
    if (is_plenty(granted)) {
        atomic_store(&state.tight, false);
        open_pockets();
    }
    unlock();
    if (room >= 0) /* else somebody's trial, which will not be handed out */
        note_use(granted);
    note_return(granted);
}

void fba_credit_fork_prepare(void)
{
    lock();
}

void fba_credit_fork_parent(void)
{
    unlock();
}

/* Only the forking thread lives on: the others' credit goes back, their pending bytes are gone. */
void fba_credit_fork_child(void)
{
    struct fba_pocket *mine = &fba_pocket;
    for (struct fba_pocket *each = state.pockets; each != NULL; each = each->next) {
        if (each == mine)
            continue;
        atomic_fetch_add(&state.available, (int64_t)atomic_load(&each->credit));
        atomic_fetch_add(&state.orphan_handed, atomic_load(&each->handed)); /* lives on, unowned */
    }
    bool listed = mine->state == FBA_POCKET_LIVE;
    state.pockets = listed ? mine : NULL;
    mine->next = mine->previous = NULL;
    atomic_store(&state.threads, listed ? 1 : 0);
    state.membarrier =
        state.membarrier && membarrier_call(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
    unlock();
}
