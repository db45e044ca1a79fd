#include "policy.h"

enum {
    PEAK_SLACK_SHIFT = 6,      /* 1/64 over the peak */
    FLOOR_SHIFT = 8,           /* 1/256 of what is used stays, so that a boundary does not flutter */
    FLOOR_PAGES = 8,
    HUGE_PAGES = 512,
    HUGE_FROM_PAGES = 64 * HUGE_PAGES,
    PAGES_PER_MS = 256,        /* 1 MiB of idle pages is worth a pause of 1 ms */
};

static const uint64_t NS_PER_MS = 1000000;
static const uint64_t SHORTEST_PAUSE_NS = 5000000;

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
    policy->keep = 0;
    policy->purged = 0;
    policy->regretted = 0;
    policy->pauses++;
}

void ta_policy_take(struct ta_policy *policy, uint64_t taken, uint64_t fresh)
{
    policy->used += taken;
    policy->dirty -= taken - fresh;
    policy->high = most(policy->high, policy->used);
    uint64_t regret = least(fresh, policy->purged);
    policy->purged -= regret;
    policy->regretted += regret;
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

/* After a pause: what will still be freed before the next one, if this burst returns to its level as
 * the last did. A burst that regrets all the same does not, and goes by its regrets. */
static uint64_t paced_pages(const struct ta_policy *policy)
{
    if (policy->regretted > 2 * floor_pages(policy))
        return policy->keep;
    return policy->used > policy->level ? policy->used - policy->level : 0;
}

static uint64_t peak_pages(const struct ta_policy *policy)
{
    uint64_t peak = policy->high + (policy->high >> PEAK_SLACK_SHIFT) - policy->used;
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
}
