#include "policy.h"

enum {
    PEAK_SLACK_SHIFT = 6,  /* 1/64 over the peak */
    MOST_SLACK_SHARE = 12, /* learnt: up to 1/12 more */
    SLACK_PRICE = 8,       /* pages faulted in again for one page of slack */
    FLOOR_SHIFT = 8,       /* 1/256 of what is used stays, so that a boundary does not flutter */
    FLOOR_PAGES = 8,
    MOST_FACTOR = 4,
    HUGE_PAGES = 512,
    HUGE_FROM_PAGES = 64 * HUGE_PAGES,
    PAGES_PER_MS = 256, /* 1 MiB of idle pages is worth a pause of 1 ms */
};

static const uint64_t NS_PER_MS = 1000000;
static const uint64_t SHORTEST_PAUSE_NS = 10000000;

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
    uint64_t rest = policy->used >= HUGE_FROM_PAGES ? HUGE_PAGES : 0;
    return FLOOR_PAGES + (policy->used >> FLOOR_SHIFT) + rest;
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
    policy->paced = true;
    policy->level = policy->used;
    policy->keep /= 2;
    policy->factor = most(policy->factor, 2) - 1;
    policy->flat = false;
    policy->purged = 0;
    policy->pauses++;
}

/* What should have been kept, as a multiple of what is used above the level. */
static void learn_factor(struct ta_policy *policy, uint64_t regret)
{
    uint64_t above = policy->used > policy->level ? policy->used - policy->level : 0;
    uint64_t wanted = policy->dirty + policy->purged + regret;
    if (above * MOST_FACTOR < wanted)
        policy->flat = policy->flat || wanted > 2 * floor_pages(policy);
    else
        policy->factor = most(policy->factor, wanted / above + 1);
}

void ta_policy_take(struct ta_policy *policy, uint64_t taken, uint64_t fresh)
{
    policy->used += taken;
    policy->dirty -= taken - fresh;
    policy->high = most(policy->high, policy->used);
    uint64_t exchange = least(fresh, policy->exchanged);
    policy->exchanged -= exchange;
    policy->slack = least(policy->slack + exchange, policy->high * SLACK_PRICE / MOST_SLACK_SHARE);
    uint64_t regret = least(fresh - exchange, policy->purged);
    policy->purged -= regret;
    if (regret != 0)
        learn_factor(policy, regret);
    policy->regrets += regret;
    policy->keep += regret;
}

void ta_policy_spill(struct ta_policy *policy, uint64_t pages)
{
    policy->dirty += pages;
}

void ta_policy_drop(struct ta_policy *policy, uint64_t pages)
{
    policy->used -= pages;
    policy->dirty += pages;
}

/* After a pause: what will still be freed before the next one, if this burst returns to its level
 * as the last did. A flat burst is all near its level, and goes by its regrets. */
static uint64_t paced_pages(const struct ta_policy *policy)
{
    if (policy->flat)
        return policy->keep;
    return policy->used > policy->level ? (policy->used - policy->level) * policy->factor : 0;
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
    uint64_t peak = peak_pages(policy);
    return policy->kind == TA_POLICY_PEAK ? peak : least(peak, learnt_pages(policy));
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
