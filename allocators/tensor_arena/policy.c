#include "tensor_arena/policy.h"

enum {
    PEAK_SLACK_SHIFT = 6, /* 1/64 over the peak */
    MOST_SLACK_64THS = 6, /* learnt: up to so much more */
    SLACK_PRICE = 8,      /* pages faulted in again for one page of slack */
    FLOOR_SHIFT = 8,      /* 1/256 of what is used stays, so that a boundary does not flutter */
    FLOOR_PAGES = 4,
    HUGE_PAGES = 512,
    MOST_PATIENCE = 256, /* 1 MiB */
    PAGES_PER_MS = 256,  /* 1 MiB of idle pages is worth a pause of 1 ms */
};

static const uint64_t NS_PER_MS = 1000000;
static const uint64_t SHORTEST_PAUSE_NS = 25000000;

static uint64_t least(uint64_t left, uint64_t right)
{
    return left < right ? left : right;
}

static uint64_t most(uint64_t left, uint64_t right)
{
    return left > right ? left : right;
}

static uint64_t floor_pages(const struct ta_policy *policy)
{
    uint64_t rest = policy->used >= TA_HUGE_FROM_PAGES ? HUGE_PAGES : 0;
    return FLOOR_PAGES + (policy->used >> FLOOR_SHIFT) + rest;
}

static uint64_t rise(const struct ta_policy *policy)
{
    return policy->crest > policy->level ? policy->crest - policy->level : 0;
}

/* Down at the level where the last pause began, or nothing but frees for a third of the way. */
static bool looks_over(const struct ta_policy *policy)
{
    uint64_t rose = rise(policy);
    if (rose <= floor_pages(policy) || rose < policy->usual / 2)
        return false;
    return policy->used <= policy->level || policy->drained > rose / 3 + HUGE_PAGES;
}

void ta_policy_tick(struct ta_policy *policy, uint64_t now_ns)
{
    uint64_t passed = now_ns > policy->last_ns ? now_ns - policy->last_ns : 0;
    policy->last_ns = now_ns;
    if (passed < SHORTEST_PAUSE_NS)
        return;
    uint64_t idle = policy->dirty + policy->purged;
    if (idle <= floor_pages(policy) || passed < idle * NS_PER_MS / PAGES_PER_MS)
        return;
    /* What lay idle is paid for: the burst that begins now may have it, if the last one was of the
     * size to use it. */
    policy->carried = rise(policy) >= policy->dirty / 4 ? policy->dirty : 0;
    policy->usual = rise(policy);
    policy->paced = true;
    policy->level = policy->used;
    policy->keep /= 2;
    policy->crest = policy->used;
    policy->regretted = 0;
    policy->deeply = 0;
    policy->purged = 0;
    policy->parting = 0;
    policy->missed = 0;
    policy->distrusted = false;
    policy->pauses++;
}

void ta_policy_take(struct ta_policy *policy, uint64_t taken, uint64_t fresh)
{
    bool over = looks_over(policy);
    policy->used += taken;
    policy->drained = 0;
    policy->carried = least(policy->carried, policy->dirty);
    policy->dirty -= taken - fresh;
    policy->high = most(policy->high, policy->used);
    policy->crest = most(policy->crest, policy->used);
    uint64_t exchange = least(fresh, policy->exchanged);
    policy->exchanged -= exchange;
    policy->slack =
        least(policy->slack + exchange, policy->high * SLACK_PRICE * MOST_SLACK_64THS / 64);
    uint64_t regret = least(fresh - exchange, policy->purged);
    policy->purged -= regret;
    uint64_t missed = least(regret, policy->parting);
    policy->parting -= missed;
    policy->missed += missed;
    policy->regretted += regret;
    policy->deeply += over ? regret : 0;
    policy->regrets += regret;
    policy->keep += 2 * regret;
}

void ta_policy_spill(struct ta_policy *policy, uint64_t pages)
{
    policy->dirty += pages;
}

void ta_policy_drop(struct ta_policy *policy, uint64_t pages)
{
    policy->used -= pages;
    policy->drained += pages;
    policy->dirty += pages;
}

/* After a pause: what will still be freed before the next one, if this burst returns to its level
 * as the last did. A burst that had more to regret than it rose is flat, and goes by its regrets;
 * when it looks over only if that was regretted, too. */
static uint64_t paced_pages(const struct ta_policy *policy)
{
    if (looks_over(policy))
        return policy->deeply > rise(policy) / 4 + 2 * floor_pages(policy) ? policy->keep : 0;
    uint64_t above = policy->used > policy->level ? policy->used - policy->level : 0;
    return most(policy->carried, policy->regretted > rise(policy) ? policy->keep : above);
}

static uint64_t peak_pages(const struct ta_policy *policy)
{
    uint64_t slack = (policy->high >> PEAK_SLACK_SHIFT) + policy->slack / SLACK_PRICE;
    uint64_t peak = policy->high + slack - policy->used;
    return least(peak, policy->limit);
}

static uint64_t learnt_pages(const struct ta_policy *policy)
{
    uint64_t learnt = policy->paced ? paced_pages(policy) : policy->keep;
    return most(learnt, floor_pages(policy));
}

uint64_t ta_policy_allowed(const struct ta_policy *policy)
{
    if (policy->kind == TA_POLICY_NONE)
        return 0;
    if (policy->kind == TA_POLICY_ALL)
        return policy->limit;
    uint64_t peak = peak_pages(policy);
    return policy->kind == TA_POLICY_PEAK ? peak : least(peak, learnt_pages(policy));
}

uint64_t ta_policy_exit(struct ta_policy *policy)
{
    uint64_t allowed = ta_policy_allowed(policy), rest = floor_pages(policy);
    policy->distrusted = policy->distrusted || policy->missed > policy->parting;
    if (policy->kind != TA_POLICY_LEARN || policy->distrusted || rest >= allowed)
        return allowed;
    policy->parting = 0;
    policy->missed = 0;
    return rest;
}

void ta_policy_part(struct ta_policy *policy, uint64_t pages)
{
    policy->dirty -= pages;
    policy->purges += pages;
    policy->purged += pages;
    policy->parting += pages;
}

void ta_policy_purge(struct ta_policy *policy, uint64_t pages)
{
    policy->dirty -= pages;
    policy->purges += pages;
    if (learnt_pages(policy) < peak_pages(policy))
        policy->purged += pages;
    else
        policy->exchanged += pages;
}

uint64_t ta_policy_patience(const struct ta_policy *policy)
{
    bool none = policy->kind == TA_POLICY_NONE || policy->limit == 0;
    return none ? 0 : least(policy->used >> FLOOR_SHIFT, MOST_PATIENCE);
}
