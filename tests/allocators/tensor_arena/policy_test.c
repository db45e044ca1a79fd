/* The rules of policy.h, on numbers. */
#include "rig.h"

#include "allocators/tensor_arena/policy.h"

#include <string.h>

#define MIB_PAGES UINT64_C(256)
/* What stays under all rules at 100 MiB: 4 pages, 1/256, and the rest of a huge page. */
#define FLOOR_PAGES (4 + 100 + 512)

static const uint64_t MS = 1000000;

static struct ta_policy fresh_policy(void)
{
    struct ta_policy policy = {.limit = UINT64_MAX};
    ta_policy_tick(&policy, 1000 * MS);
    return policy;
}

static void give_back_excess(struct ta_policy *policy)
{
    uint64_t allowed = ta_policy_allowed(policy);
    if (policy->dirty > allowed)
        ta_policy_purge(policy, policy->dirty - allowed);
}

/* Takes so many pages, the dirty ones first. */
static void take(struct ta_policy *policy, uint64_t pages)
{
    uint64_t reused = policy->dirty < pages ? policy->dirty : pages;
    ta_policy_take(policy, pages, pages - reused);
    give_back_excess(policy);
}

static void drop(struct ta_policy *policy, uint64_t pages)
{
    ta_policy_drop(policy, pages);
    give_back_excess(policy);
}

static void little_stays_at_first(void **state)
{
    (void)state;
    struct ta_policy policy = fresh_policy();
    take(&policy, 100 * MIB_PAGES);
    drop(&policy, 50 * MIB_PAGES);
    assert_true(policy.dirty <= 50 * MIB_PAGES / 256 + 8);
}

static void a_loop_without_pauses_pays_once(void **state)
{
    (void)state;
    struct ta_policy policy = fresh_policy();
    take(&policy, 100 * MIB_PAGES);
    for (int i = 0; i < 100; i++) {
        take(&policy, 50 * MIB_PAGES);
        drop(&policy, 50 * MIB_PAGES);
    }
    assert_true(policy.purges <= 50 * MIB_PAGES);
    assert_true(policy.dirty >= 49 * MIB_PAGES);
}

static void a_loop_with_pauses_keeps_nothing(void **state)
{
    (void)state;
    struct ta_policy policy = fresh_policy();
    take(&policy, 100 * MIB_PAGES);
    for (int i = 1; i <= 20; i++) {
        ta_policy_tick(&policy, (1000 + (uint64_t)i * 600) * MS);
        take(&policy, 50 * MIB_PAGES);
        drop(&policy, 50 * MIB_PAGES);
        assert_true(policy.dirty <= FLOOR_PAGES);
    }
    assert_int_equal(policy.regrets, 0);
    assert_true(policy.pauses >= 19);
}

/* What is freed and taken within a burst is kept, and gone when the burst is over. */
static void a_burst_reuses_and_then_lets_go(void **state)
{
    (void)state;
    struct ta_policy policy = fresh_policy();
    take(&policy, 100 * MIB_PAGES);
    uint64_t bought_before = 0;
    for (int i = 1; i <= 20; i++) {
        ta_policy_tick(&policy, (1000 + (uint64_t)i * 600) * MS);
        bought_before = policy.regrets;
        take(&policy, 64 * MIB_PAGES);
        for (int j = 0; j < 10; j++) {
            drop(&policy, 16 * MIB_PAGES);
            take(&policy, 16 * MIB_PAGES);
        }
        for (int j = 0; j < 64; j++)
            drop(&policy, MIB_PAGES);
        assert_true(i < 3 || policy.dirty <= FLOOR_PAGES); /* learnt from two pauses */
    }
    assert_true(policy.regrets - bought_before < 16 * MIB_PAGES);
}

static void a_pause_shorter_than_its_price_is_none(void **state)
{
    (void)state;
    struct ta_policy policy = fresh_policy();
    take(&policy, 200 * MIB_PAGES);
    drop(&policy, 100 * MIB_PAGES);
    ta_policy_tick(&policy, (1000 + 90) * MS);
    assert_int_equal(policy.pauses, 0);
    ta_policy_tick(&policy, (1000 + 90 + 101) * MS);
    assert_int_equal(policy.pauses, 1);
    ta_policy_tick(&policy, (1000 + 90 + 101 + 20) * MS);
    assert_int_equal(policy.pauses, 1);
}

/* A time in which nothing was idle is work, not a pause. */
static void work_is_no_pause(void **state)
{
    (void)state;
    struct ta_policy policy = fresh_policy();
    take(&policy, 200 * MIB_PAGES);
    ta_policy_tick(&policy, 5000 * MS);
    assert_int_equal(policy.pauses, 0);
}

static void keeping_never_raises_the_peak(void **state)
{
    (void)state;
    struct ta_policy policy = fresh_policy();
    uint32_t seed = 7;
    uint64_t most = 0;
    for (int i = 0; i < 20000; i++) {
        uint64_t pages = 1 + rig_random(&seed) % (4 * MIB_PAGES);
        bool down = policy.used > 64 * MIB_PAGES || (rig_random(&seed) & 1) != 0;
        if (down && policy.used >= pages) {
            drop(&policy, pages);
        } else if (!down) {
            uint64_t reused = rig_random(&seed) % (policy.dirty < pages ? policy.dirty + 1 : pages);
            ta_policy_take(&policy, pages, pages - reused);
            give_back_excess(&policy);
        }
        most = policy.used > most ? policy.used : most;
        assert_int_equal(policy.high, most);
        assert_true((policy.used + policy.dirty) * 100 <= most * 111 + 100);
    }
}

/* Fragments that cannot be reused earn slack, an eighth of what they cost, up to 6/64. */
static void slack_is_bought(void **state)
{
    (void)state;
    struct ta_policy policy = fresh_policy();
    policy.keep = UINT32_MAX;
    take(&policy, 1280 * MIB_PAGES);
    ta_policy_drop(&policy, 64 * MIB_PAGES);
    assert_true(ta_policy_allowed(&policy) < 85 * MIB_PAGES);
    for (int i = 0; i < 200; i++) {
        ta_policy_take(&policy, 64 * MIB_PAGES, 64 * MIB_PAGES);
        give_back_excess(&policy);
        ta_policy_drop(&policy, 64 * MIB_PAGES);
        give_back_excess(&policy);
    }
    uint64_t total = policy.used + ta_policy_allowed(&policy);
    assert_true(total > 1390 * MIB_PAGES);
    assert_true(total <= 1280 * MIB_PAGES * 111 / 100);
}

/* The last thread but one goes: so does what it left, unless that was regretted the last time. */
static void exits_end_bursts_until_that_is_regretted(void **state)
{
    (void)state;
    struct ta_policy policy = fresh_policy();
    policy.keep = UINT32_MAX;
    take(&policy, 100 * MIB_PAGES);
    drop(&policy, 50 * MIB_PAGES);
    uint64_t before = ta_policy_allowed(&policy), rest = ta_policy_exit(&policy);
    assert_true(before >= 50 * MIB_PAGES && rest < MIB_PAGES);
    ta_policy_part(&policy, policy.dirty - rest);
    take(&policy, 50 * MIB_PAGES);
    drop(&policy, 50 * MIB_PAGES);
    assert_true(ta_policy_exit(&policy) >= 50 * MIB_PAGES);
    ta_policy_tick(&policy, 9000 * MS); /* a pause: it would have been right */
    assert_int_equal(ta_policy_exit(&policy), rest);
}

static void kinds_and_limits_are_obeyed(void **state)
{
    (void)state;
    struct ta_policy policy = fresh_policy();
    take(&policy, 100 * MIB_PAGES);
    policy.kind = TA_POLICY_NONE;
    assert_int_equal(ta_policy_allowed(&policy), 0);
    ta_policy_drop(&policy, 40 * MIB_PAGES);
    assert_int_equal(ta_policy_allowed(&policy), 0);
    policy.kind = TA_POLICY_PEAK;
    assert_true(ta_policy_allowed(&policy) >= 40 * MIB_PAGES);
    policy.kind = TA_POLICY_ALL;
    assert_int_equal(ta_policy_allowed(&policy), UINT64_MAX);
    for (int kind = TA_POLICY_LEARN; kind <= TA_POLICY_ALL; kind++) {
        policy.kind = (enum ta_policy_kind)kind;
        policy.limit = 3;
        assert_true(ta_policy_allowed(&policy) <= 3);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(little_stays_at_first),
        cmocka_unit_test(a_loop_without_pauses_pays_once),
        cmocka_unit_test(a_loop_with_pauses_keeps_nothing),
        cmocka_unit_test(a_burst_reuses_and_then_lets_go),
        cmocka_unit_test(a_pause_shorter_than_its_price_is_none),
        cmocka_unit_test(work_is_no_pause),
        cmocka_unit_test(keeping_never_raises_the_peak),
        cmocka_unit_test(slack_is_bought),
        cmocka_unit_test(exits_end_bursts_until_that_is_regretted),
        cmocka_unit_test(kinds_and_limits_are_obeyed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
