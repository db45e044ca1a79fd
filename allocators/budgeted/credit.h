/* The budget and who has drawn how much of it.
 *
 * Owns the one number that decides, `available` = budget − drawn, and each thread's pocket: credit
 * that was drawn but not yet charged to a block. So at any instant
 *
 *     charged + Σ credit + available = budget,  credit ≥ 0,
 *
 * and bytes are only charged out of credit or out of an `available` that has them: the charged
 * bytes cannot exceed the budget. (`available` is negative only after the budget was lowered below
 * what is in use.) One signed word instead of used and budget: a draw is one compare-and-swap and
 * cannot race with a change of the budget.
 *
 * Speed: a pocket is touched by its owner alone, with plain loads and stores: no locked
 * instruction. Exactness: before anybody is refused, the pockets of all threads, idle ones too, are
 * emptied into `available` and stay shut ("tight"): each call then goes to `available` itself,
 * until there is plenty again. Who empties a pocket must not meet its owner in it; the owner cannot
 * afford a fence, so the other side pays for both (asymmetric Dekker, membarrier(2)):
 *
 *     owner:      busy = 1; [compiler fence] if (!asked) use the pocket; busy = 0
 *     collector:  asked = 1; membarrier(); wait until !busy; empty the pocket
 *
 * After the membarrier each owner either sees asked, or its busy is seen. Where the kernel refuses
 * membarrier the pockets stay shut for good: slower, as exact.
 * tests/allocators/budgeted/reserve.pml is a model of this that is checked exhaustively.
 */
#ifndef ALLOCATORS_BUDGETED_CREDIT_H
#define ALLOCATORS_BUDGETED_CREDIT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum fba_pocket_state { FBA_POCKET_NEW = 0, FBA_POCKET_LIVE, FBA_POCKET_DEAD };

#define FBA_POCKET_ROUNDED (1024 / 8 + 1)

/* A thread's own, in its thread-local storage; LIVE ones are linked for the collector. */
struct fba_pocket {
    _Atomic uint32_t busy;
    _Atomic uint32_t asked; /* shut: go to `available` */
    _Atomic size_t credit;
    _Atomic size_t keep;    /* most credit it may hold; 0 = not LIVE */
    _Atomic size_t pending; /* footprint: bytes asked for and not yet resident or registered */
    _Atomic int64_t
        handed; /* footprint: usable bytes handed out less those freed, by this thread */
    /* What became of sizes up to 1 KiB last time, by 8 bytes: most are rounded up alike, so that
     * the reservation is exact and settling costs a comparison. 0: not seen yet. */
    uint16_t rounded[FBA_POCKET_ROUNDED];
    enum fba_pocket_state state;
    struct fba_pocket *next, *previous;
};

extern __thread struct fba_pocket fba_pocket;

/* Called once by fba_open(), before anything else here. budget ≤ INT64_MAX. `recounted`: a census
 * says what is available, not what was given back: nothing is ever given then, only drawn. */
void fba_credit_open(size_t budget, bool recounted);
/* Draws bytes from the budget, past the pocket if it must; false: not available, whoever is asked.
 */
bool fba_credit_draw(size_t bytes);
/* What fba_credit_give() does when the pocket is full or shut. */
void fba_credit_return(size_t bytes);
/* Adds to the calling thread's pending bytes, which a census counts as used. Before the draw; taken
 * back by a negative number after they can be seen elsewhere. */
void fba_credit_add_pending(int64_t bytes);
/* Adds to the bytes in blocks handed out; negative when freed. */
void fba_credit_add_handed(int64_t bytes);
void fba_credit_set_budget(size_t budget);

struct fba_credit_figures {
    size_t budget, used, peak;
    size_t threads, tightenings;
    bool tight;
};

void fba_credit_figures(struct fba_credit_figures *out);
size_t fba_credit_budget(void);

struct fba_credit_census {
    size_t pending;     /* of all threads, read after the pockets were shut */
    int64_t handed;     /* in blocks handed out */
    int64_t known_room; /* what was not drawn yet of the room that the last census found */
};

/* All pockets are shut and empty, `available` is 0 and nobody can draw, until end: the census
 * counts in between. */
struct fba_credit_census fba_credit_census_begin(void);
/* `room` bytes of the budget are free (negative: over it); at most `grant` of them may be drawn
 * before the next census. */
void fba_credit_census_end(int64_t room, size_t grant);
void fba_credit_fork_prepare(void);
void fba_credit_fork_parent(void);
void fba_credit_fork_child(void);

/* Enters the pocket; false when it is shut. In between: no call, no system call. */
static inline bool fba_pocket_enter(struct fba_pocket *mine)
{
    atomic_store_explicit(&mine->busy, 1, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    return atomic_load_explicit(&mine->asked, memory_order_acquire) == 0;
}

static inline void fba_pocket_leave(struct fba_pocket *mine)
{
    atomic_store_explicit(&mine->busy, 0, memory_order_release);
}

/* The part of a draw that needs no atomic operation; false: nothing was taken, try
 * fba_credit_draw(). */
static inline bool fba_pocket_take(size_t bytes)
{
    struct fba_pocket *mine = &fba_pocket;
    bool open = fba_pocket_enter(mine);
    size_t credit = atomic_load_explicit(&mine->credit, memory_order_relaxed);
    bool enough = open && bytes <= credit;
    if (__builtin_expect(enough, 1))
        atomic_store_explicit(&mine->credit, credit - bytes, memory_order_relaxed);
    fba_pocket_leave(mine);
    return __builtin_expect(enough, 1);
}

/* Takes bytes out of the thread's credit or the budget; false: refused, nothing was taken. */
static inline bool fba_credit_take(size_t bytes)
{
    return fba_pocket_take(bytes) || fba_credit_draw(bytes);
}

/* Puts bytes back; never fails. */
static inline void fba_credit_give(size_t bytes)
{
    struct fba_pocket *mine = &fba_pocket;
    bool open = fba_pocket_enter(mine);
    size_t credit = atomic_load_explicit(&mine->credit, memory_order_relaxed);
    size_t keep = atomic_load_explicit(&mine->keep, memory_order_relaxed);
    /* Signed: a lowered budget may have left more in the pocket than it should keep. */
    bool fits = open && (int64_t)bytes <= (int64_t)(keep - credit);
    if (__builtin_expect(fits, 1))
        atomic_store_explicit(&mine->credit, credit + bytes, memory_order_relaxed);
    fba_pocket_leave(mine);
    if (!__builtin_expect(fits, 1))
        fba_credit_return(bytes);
}

#endif
