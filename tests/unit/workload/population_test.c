/* The compiler's bookkeeping of live objects: queue, slots, growing list. */
#include "workload/lane.h"

#include "base/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* 20,000 deaths of which many are due together. */
static void the_queue_gives_the_earliest_and_eldest_first(void **state)
{
    (void)state;
    enum { COUNT = 20000, DUES = 500 };
    static uint64_t due[COUNT];
    struct fb_queue queue = {0};
    struct fb_rng rng;
    fb_rng_seed(&rng, 1);
    for (uint32_t i = 0; i < COUNT; i++) {
        due[i] = fb_rng_below(&rng, DUES);
        fb_queue_push(&queue, (struct fb_death){.due = due[i], .object = i});
    }
    uint32_t object = 0, previous = 0;
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_true(fb_queue_pop(&queue, UINT64_MAX, &object));
        if (i > 0)
            assert_true(due[previous] < due[object] ||
                        (due[previous] == due[object] && previous < object));
        previous = object;
    }
    assert_false(fb_queue_pop(&queue, UINT64_MAX, &object));
    fb_queue_deinit(&queue);
}

/* As the compiler uses it: time moves on, and what comes is due later. A plain array judges. */
static void the_queue_serves_while_it_is_filled(void **state)
{
    (void)state;
    enum { COUNT = 3000 };
    static uint64_t due[COUNT];
    struct fb_queue queue = {0};
    struct fb_rng rng;
    fb_rng_seed(&rng, 2);
    uint64_t now = UINT64_C(1) << 40;
    uint32_t object = 0;
    for (uint32_t i = 0; i < COUNT; i++) {
        now += fb_rng_below(&rng, 1000);
        due[i] = now + fb_rng_below(&rng, UINT64_C(1) << fb_rng_below(&rng, 20));
        fb_queue_push(&queue, (struct fb_death){.due = due[i], .object = i});
        while (fb_queue_pop(&queue, now, &object)) {
            for (uint32_t k = 0; k <= i; k++)
                assert_true(due[k] > due[object] || (due[k] == due[object] && k >= object));
            due[object] = UINT64_MAX;
        }
        for (uint32_t k = 0; k <= i; k++)
            assert_true(due[k] > now);
    }
    fb_queue_deinit(&queue);
}

static void the_queue_keeps_what_is_not_due(void **state)
{
    (void)state;
    struct fb_queue queue = {0};
    fb_queue_push(&queue, (struct fb_death){.due = 10, .object = 1});
    fb_queue_push(&queue, (struct fb_death){.due = 5, .object = 2});
    uint32_t object = 0;
    assert_false(fb_queue_pop(&queue, 4, &object));
    assert_true(fb_queue_pop(&queue, 5, &object));
    assert_int_equal(object, 2);
    assert_false(fb_queue_pop(&queue, 9, &object));
    struct fb_ids ids = {0};
    fb_queue_drain(&queue, &ids);
    assert_int_equal(ids.count, 1);
    assert_int_equal(ids.at[0], 1);
    assert_false(fb_queue_pop(&queue, UINT64_MAX, &object));
    fb_ids_deinit(&ids);
    fb_queue_deinit(&queue);
}

static struct fb_ids own; /* slots that the one lane there is has freed */

static uint32_t add(struct fb_population *population)
{
    struct fb_live record = {.elder = FB_OBJECT_NONE, .younger = FB_OBJECT_NONE};
    assert_int_equal(fb_population_take_slot(population, &own, false, &record.slot, NULL), 0);
    return fb_population_add(population, record);
}

static void lose(struct fb_population *population, uint32_t object)
{
    fb_population_give_slot(population, &own, false, population->objects[object].slot);
    fb_population_remove(population, object);
}

static void end(struct fb_population *population)
{
    fb_population_deinit(population);
    fb_ids_deinit(&own);
}

static void slots_are_reused_and_the_most_at_once_are_counted(void **state)
{
    (void)state;
    struct fb_population population;
    fb_population_init(&population, 1);
    uint32_t first = add(&population), second = add(&population);
    uint32_t slot = population.objects[first].slot;
    assert_int_equal(population.slot_count, 2);
    lose(&population, first);
    assert_int_equal(population.slots_used, 1);
    uint32_t third = add(&population);
    assert_int_equal(population.objects[third].slot, slot);
    assert_int_equal(population.slot_count, 2);
    assert_int_equal(population.objects[third].birth, 2);
    assert_int_equal(population.objects[second].birth, 1);
    add(&population);
    assert_int_equal(population.slot_count, 3);
    assert_int_equal(population.slots_used_max, 3);
    end(&population);
}

static uint32_t take(struct fb_population *population, struct fb_ids *lane, bool shared)
{
    uint32_t slot = 0;
    assert_int_equal(fb_population_take_slot(population, lane, shared, &slot, NULL), 0);
    return slot;
}

/* What one lane freed another one cannot have before the phase is over. */
static void a_lanes_slots_are_its_own_until_the_phase_ends(void **state)
{
    (void)state;
    struct fb_population population;
    struct fb_ids here = {0}, there = {0};
    fb_population_init(&population, 1);
    uint32_t slot = take(&population, &here, false);
    fb_population_give_slot(&population, &here, false, slot);
    assert_int_equal(take(&population, &there, false), slot + 1);
    assert_int_equal(take(&population, &here, false), slot);
    fb_population_give_slot(&population, &here, false, slot);
    fb_population_share_slots(&population, &here);
    assert_int_equal(take(&population, &there, false), slot);
    fb_ids_deinit(&here);
    fb_population_deinit(&population);
}

/* Neither a slot that was used in this phase, nor one used again in it. */
static void shared_objects_have_slots_to_themselves(void **state)
{
    (void)state;
    struct fb_population population;
    struct fb_ids here = {0};
    fb_population_init(&population, 1);
    uint32_t plain = take(&population, &here, false);
    fb_population_give_slot(&population, &here, false, plain);
    uint32_t shared = take(&population, &here, true);
    assert_int_not_equal(shared, plain);
    fb_population_give_slot(&population, &here, true, shared);
    assert_int_equal(take(&population, &here, false), plain);
    assert_int_equal(take(&population, &here, false), shared + 1);
    fb_population_share_slots(&population, &here);
    assert_int_equal(take(&population, &here, true), shared);
    fb_ids_deinit(&here);
    fb_population_deinit(&population);
}

static void more_slots_than_a_table_holds_are_an_error(void **state)
{
    (void)state;
    struct fb_population population;
    struct fb_error err = {0};
    fb_population_init(&population, 1);
    population.slot_count = UINT32_MAX;
    uint32_t slot = 7;
    assert_int_equal(fb_population_take_slot(&population, &own, false, &slot, &err), -1);
    assert_int_equal(err.kind, FB_ERROR_INPUT);
    assert_int_equal(slot, 7);
    end(&population);
}

/* Removal from both ends and the middle. */
static void growing_objects_are_listed_in_birth_order(void **state)
{
    (void)state;
    struct fb_population population;
    struct fb_lane lane;
    fb_population_init(&population, 1);
    fb_lane_init(&lane);
    uint32_t object[5];
    for (int i = 0; i < 5; i++) {
        object[i] = add(&population);
        fb_lane_start_growing(&lane, &population, object[i]);
    }
    fb_lane_stop_growing(&lane, &population, object[2]);
    fb_lane_stop_growing(&lane, &population, object[2]); /* a second time is harmless */
    fb_lane_stop_growing(&lane, &population, object[0]);
    assert_int_equal(lane.eldest_growing, object[1]);
    assert_int_equal(population.objects[object[1]].younger, object[3]);
    assert_int_equal(population.objects[object[3]].elder, object[1]);
    fb_lane_stop_growing(&lane, &population, object[4]);
    assert_int_equal(lane.youngest_growing, object[3]);
    fb_lane_stop_growing(&lane, &population, object[3]);
    fb_lane_stop_growing(&lane, &population, object[1]);
    assert_int_equal(lane.eldest_growing, FB_OBJECT_NONE);
    assert_int_equal(lane.youngest_growing, FB_OBJECT_NONE);
    fb_lane_deinit(&lane);
    end(&population);
}

/* Object numbers are reused, so their order is not that of births. */
static void sorting_is_by_birth(void **state)
{
    (void)state;
    struct fb_population population;
    fb_population_init(&population, 1);
    uint32_t first = add(&population), second = add(&population);
    lose(&population, first);
    uint32_t third = add(&population);
    assert_true(third < second);
    struct fb_ids ids = {0};
    fb_ids_push(&ids, third);
    fb_ids_push(&ids, second);
    fb_population_sort(&population, &ids);
    assert_int_equal(ids.at[0], second);
    assert_int_equal(ids.at[1], third);
    fb_ids_deinit(&ids);
    end(&population);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_queue_gives_the_earliest_and_eldest_first),
        cmocka_unit_test(the_queue_serves_while_it_is_filled),
        cmocka_unit_test(the_queue_keeps_what_is_not_due),
        cmocka_unit_test(slots_are_reused_and_the_most_at_once_are_counted),
        cmocka_unit_test(a_lanes_slots_are_its_own_until_the_phase_ends),
        cmocka_unit_test(shared_objects_have_slots_to_themselves),
        cmocka_unit_test(more_slots_than_a_table_holds_are_an_error),
        cmocka_unit_test(growing_objects_are_listed_in_birth_order),
        cmocka_unit_test(sorting_is_by_birth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
