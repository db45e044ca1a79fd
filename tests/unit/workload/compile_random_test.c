/* Workloads drawn at random: whatever is legal compiles into a trace that holds in both orders. */
#include "compiled.h"
#include "free_order.h"
#include "replay.h"

#include "base/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { WORKLOADS = 300, CLASSES = 6, PHASES = 5, POOLS = 2, ENTRIES = 4 };

struct drawn {
    struct fb_pool pools[POOLS];
    struct fb_object_class classes[CLASSES];
    struct fb_phase phases[PHASES];
    struct fb_phase_allocate allocate[PHASES][ENTRIES];
    struct fb_phase_free free[PHASES][1];
    struct fb_workload workload;
};

static uint64_t below(struct fb_rng *rng, uint64_t bound)
{
    return fb_rng_below(rng, bound);
}

static bool one_in(struct fb_rng *rng, uint64_t n)
{
    return below(rng, n) == 0;
}

static struct fb_distribution up_to(struct fb_rng *rng, uint64_t lowest, uint64_t highest)
{
    return (struct fb_distribution){.kind = FB_DISTRIBUTION_UNIFORM,
                                    .a = (double)lowest,
                                    .b = (double)(lowest + below(rng, highest - lowest + 1))};
}

/* As the checks of the language allow it. */
static void draw_class(struct drawn *drawn, size_t index, struct fb_rng *rng)
{
    struct fb_object_class *class = &drawn->classes[index];
    class->name[0] = (char)('a' + index);
    class->size = up_to(rng, 1, 3000);
    class->lifetime = (enum fb_lifetime)below(rng, FB_LIFETIME_INNER_SCOPE + 1);
    class->life = class->lifetime == FB_LIFETIME_TIME ? up_to(rng, 1, 50000) : up_to(rng, 1, 9);
    if (class->lifetime >= FB_LIFETIME_SCOPE)
        return;
    if (one_in(rng, 3)) {
        class->grow = one_in(rng, 2) ? FB_GROW_COPY : FB_GROW_REALLOC;
        class->grow_by_bytes = 500;
        class->grow_to_bytes = 6000;
    }
    if (class->grow == FB_GROW_REALLOC)
        return;
    class->freed_by = (enum fb_freed_by)below(rng, FB_FREED_BY_POOL + 1);
    if (class->freed_by == FB_FREED_BY_POOL)
        class->freed_by_pool = &drawn->pools[below(rng, POOLS)];
}

static bool fits(const struct fb_phase *phase, const struct fb_object_class *class)
{
    uint32_t lanes = phase->pool != NULL ? phase->pool->threads : phase->threads;
    bool by_iteration =
        class->lifetime == FB_LIFETIME_ITERATION || class->lifetime == FB_LIFETIME_ITERATIONS;
    return !(class->lifetime == FB_LIFETIME_SCOPE && !phase->scope) &&
           !(class->lifetime == FB_LIFETIME_INNER_SCOPE && phase->inner_scopes == 0) &&
           !(class->freed_by == FB_FREED_BY_OTHER && lanes < 2) &&
           !(by_iteration && !phase->has_iterations);
}

static void draw_threads(struct drawn *drawn, struct fb_phase *phase, struct fb_rng *rng)
{
    uint64_t who = below(rng, 3);
    if (who == 0) {
        phase->pool = &drawn->pools[below(rng, POOLS)];
    } else if (who == 1) {
        phase->threads = 1 + (uint32_t)below(rng, 4);
        phase->thread_life = phase->has_iterations ? below(rng, 3) : 0;
    }
    phase->take_turns = who < 2 && one_in(rng, 4);
}

static void draw_phase(struct drawn *drawn, size_t index, struct fb_rng *rng)
{
    struct fb_phase *phase = &drawn->phases[index];
    (void)snprintf(phase->name, sizeof phase->name, "p%zu", index);
    phase->has_iterations = !one_in(rng, 4);
    phase->iterations = 1 + below(rng, 12);
    draw_threads(drawn, phase, rng);
    phase->every_ns = phase->has_iterations && one_in(rng, 3) ? below(rng, 30000) : 0;
    phase->hold_ns = one_in(rng, 3) ? below(rng, 3000) : 0;
    phase->for_ns = one_in(rng, 3) ? below(rng, 900000) : 0;
    phase->scope = one_in(rng, 3);
    phase->inner_scopes = phase->scope && one_in(rng, 2) ? 1 + (uint32_t)below(rng, 4) : 0;
    phase->mix = (enum fb_mix)below(rng, 2);
    phase->free_order = (enum fb_free_order)below(rng, 3);
    phase->allocate = drawn->allocate[index];
    for (size_t i = 0; i < ENTRIES; i++) {
        size_t class_index = below(rng, CLASSES);
        if (fits(phase, &drawn->classes[class_index]))
            phase->allocate[phase->allocate_count++] =
                (struct fb_phase_allocate){class_index, up_to(rng, 0, one_in(rng, 4) ? 130 : 9)};
    }
    size_t freed = below(rng, CLASSES);
    phase->free = drawn->free[index];
    if (drawn->classes[freed].lifetime == FB_LIFETIME_MANUAL)
        phase->free[phase->free_count++] =
            (struct fb_phase_free){freed, below(rng, (UINT64_C(1) << 32) + 1)};
}

static void draw_workload(struct drawn *drawn, uint64_t seed)
{
    struct fb_rng rng;
    fb_rng_seed(&rng, seed);
    *drawn = (struct drawn){0};
    for (size_t i = 0; i < POOLS; i++)
        drawn->pools[i].threads = 1 + (uint32_t)below(&rng, 3);
    for (size_t i = 0; i < CLASSES; i++)
        draw_class(drawn, i, &rng);
    for (size_t i = 0; i < PHASES; i++)
        draw_phase(drawn, i, &rng);
    drawn->workload = (struct fb_workload){.pools = drawn->pools,
                                           .pool_count = POOLS,
                                           .classes = drawn->classes,
                                           .class_count = CLASSES,
                                           .phases = drawn->phases,
                                           .phase_count = PHASES};
}

static void check_lockstep(const struct compiled *compiled, const struct lockstep *lockstep)
{
    struct replay replay = replay_start(&compiled->trace);
    for (uint64_t i = 0; i < lockstep->count; i++)
        replay_step(&replay, &lockstep->steps[i]);
    const struct fb_trace_header *header = compiled->trace.header;
    assert_int_equal(header->duration_ns, replay.counted.duration_ns);
    assert_int_equal(header->end_live_bytes, replay.counted.end_live_bytes);
    assert_int_equal(header->peak_objects, replay.counted.peak_objects);
    assert_int_equal(header->free_calls, replay.counted.free_calls);
    assert_int_equal(header->thread_peak, lockstep->thread_peak);
    for (uint32_t i = 0; i < header->class_count; i++)
        assert_int_equal(compiled->trace.classes[i].shared, replay.foreign[i]);
    replay_free(&replay);
}

static void whatever_is_legal_holds_in_both_orders(void **state)
{
    (void)state;
    static struct drawn drawn;
    uint64_t threaded = 0;
    for (uint64_t seed = 0; seed < WORKLOADS; seed++) {
        draw_workload(&drawn, seed);
        struct compiled compiled = compile(&drawn.workload, seed);
        struct lockstep lockstep = lockstep_of(&compiled.trace);
        check_lockstep(&compiled, &lockstep);
        for (int policy = 0; policy < POLICY_COUNT; policy++) {
            const char *fault =
                free_order_run(&compiled.trace, &lockstep, (enum policy)policy, seed);
            if (fault != NULL)
                fail_msg("workload %llu: %s", (unsigned long long)seed, fault);
        }
        threaded += compiled.trace.header->stream_count > 1;
        lockstep_free(&lockstep);
        compiled_free(&compiled);
    }
    assert_true(threaded > WORKLOADS / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whatever_is_legal_holds_in_both_orders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
