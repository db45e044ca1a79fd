/* How much free memory stays resident: the one question between small and fast.
 *
 * Pages that are freed stay *dirty* (resident, to be reused without a page fault) while these three
 * rules allow it; beyond that the oldest go back to the kernel.
 *
 * 1. The peak rule. Used and dirty pages together never pass the most that was ever used, plus a
 * slack. So keeping memory cannot raise the peak: who needs fresh pages while old ones lie idle
 * pays one for the other. The slack is 1/64 of that peak; where fragments make the rule dear, an
 *    eighth of what it cost is added, up to 1/9 in all. Bound: peak footprint ≤ 1.11 × the peak of
 *    pages in use, and as a rule 1.016.
 * 2. The regret rule (ski rental). At first next to nothing is kept. Pages that were given back and
 *    had to be taken anew soon afterwards are regretted: twice as many more are kept from then on.
 *    A loop without pauses pays once for each page.
 * 3. The idle rule. Memory that lay idle longer than its page faults are worth (1 ms a MiB, at
 * least 25 ms) should have been given back before. The bursts between such pauses are alike: as the
 * use falls towards the level at which the last pause began, the kept pages fall with it, so that
 * they are gone when the next begins. A burst that keeps regretting this goes by its regrets, half
 *    of which the next pause forgets. Giving back and taking anew costs 0.16 ms a MiB with huge
 *    pages, so the rule may cost up to a sixth of one core, and no more. What is still dirty when a
 *    pause ends stays for the burst that begins: it is needed now, and its rent is paid.
 *
 * 4. The exit rule. When the last thread but one goes, a burst is over: all goes back. Where that
 * was regretted without a pause in between, the next exit is let pass, until a pause comes again.
 *
 * Under all of them a little stays, so that a boundary does not flutter: 4 pages and 1/256 of the
 * use, and from 64 MiB on the rest of a huge page.
 *
 * Pure arithmetic on pages and ns: no locks, no system calls. The caller holds the heap's lock.
 * The idea of weighing rent against price is Karlin et al., "Competitive snoopy caching" (1988);
 * that freed memory must be paid for by time is jemalloc's decay, which knows no peak.
 */
#ifndef ALLOCATORS_TENSOR_ARENA_POLICY_H
#define ALLOCATORS_TENSOR_ARENA_POLICY_H

#include <stdbool.h>
#include <stdint.h>

/* From so many used pages on a huge page that is not filled at once may come along: 1/32 of them.
 */
#define TA_HUGE_FROM_PAGES UINT64_C(16384)

enum ta_policy_kind {
    TA_POLICY_LEARN = 0, /* all three rules */
    TA_POLICY_NONE,      /* give everything back at once */
    TA_POLICY_PEAK,      /* the peak rule alone */
    TA_POLICY_ALL,       /* never give back, up to the limit */
};

struct ta_policy {
    enum ta_policy_kind kind;
    uint64_t limit;     /* never keep more pages than this, whatever was learnt */
    uint64_t used;      /* pages of runs in use */
    uint64_t dirty;     /* pages of free runs that may be resident */
    uint64_t high;      /* the most that used ever was */
    uint64_t keep;      /* what regret has taught to keep */
    uint64_t purged;    /* given back since the last pause because of `keep`, not yet regretted */
    uint64_t exchanged; /* given back because of the peak, not yet regretted */
    uint64_t slack;     /* × 8: learnt, beyond 1/64 of the peak */
    uint64_t level;     /* used, when the last pause began */
    uint64_t crest;     /* the most that used was since then */
    uint64_t usual;     /* how far above its level the last burst rose */
    uint64_t regretted; /* since then */
    uint64_t deeply;    /* of these, when the burst looked over */
    uint64_t drained;   /* became dirty since the last page was taken */
    uint64_t carried;   /* dirty through the pause, for the burst that follows */
    uint64_t parting;   /* given back at the last exit, not yet regretted */
    uint64_t missed;    /* of what was given back then, regretted */
    bool distrusted;    /* exits are no ends here */
    uint64_t last_ns;   /* of the last event */
    bool paced;         /* a pause was seen */
    uint64_t pauses;    /* for statistics */
    uint64_t regrets;   /* pages, for statistics */
    uint64_t purges;    /* pages, for statistics */
};

/* Every event first says when it is. */
void ta_policy_tick(struct ta_policy *policy, uint64_t now_ns);
/* `fresh` pages out of `taken` come from the kernel, the rest was dirty. */
void ta_policy_take(struct ta_policy *policy, uint64_t taken, uint64_t fresh);
/* Pages come along with fresh ones, in the same huge page, and are dirty from the start. */
void ta_policy_spill(struct ta_policy *policy, uint64_t pages);
/* Used pages become dirty. */
void ta_policy_drop(struct ta_policy *policy, uint64_t pages);
/* Dirty pages went back to the kernel. */
void ta_policy_purge(struct ta_policy *policy, uint64_t pages);
/* The last thread but one has gone: how many pages may be dirty now; and those that went for it. */
uint64_t ta_policy_exit(struct ta_policy *policy);
void ta_policy_part(struct ta_policy *policy, uint64_t pages);
/* How many pages may be dirty now. */
uint64_t ta_policy_allowed(const struct ta_policy *policy);
/* How many more are let pass before anything is given back, so that one call does for many frees.
 */
uint64_t ta_policy_patience(const struct ta_policy *policy);

#endif
