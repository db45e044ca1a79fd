/* The page heap: placement, merging, stretching, giving back; and a model that watches every page.
 */
#include "rig.h"

#include "allocators/preload/contract.h"
#include "allocators/tensor_arena/heap.h"

#include <stdlib.h>
#include <string.h>

static uint32_t take(uint32_t pages)
{
    bool zeroed;
    uint32_t run = ta_heap_take(TA_AREA_SMALL, pages, 1, &zeroed);
    assert_int_not_equal(run, 0);
    assert_int_equal(ta_run_at(run)->pages, pages);
    return run;
}

static int start_afresh(void **state)
{
    (void)state;
    fba_open();
    ta_heap_purge();
    ta_heap.policy.kind = TA_POLICY_PEAK;
    assert_int_equal(ta_heap.policy.used, 0);
    assert_int_equal(ta_heap.policy.dirty, 0);
    ta_heap.policy.high = 0;
    return 0;
}

static void free_neighbours_merge_and_the_top_sinks(void **state)
{
    (void)state;
    uint32_t frontier = ta_region.areas[TA_AREA_SMALL].frontier;
    uint32_t a = take(10), b = take(20), c = take(30), first = ta_run_at(a)->first;
    ta_heap_give(a);
    ta_heap_give(c);
    ta_heap_give(b);
    uint32_t all = take(60);
    assert_int_equal(ta_run_at(all)->first, first);
    ta_heap_give(all);
    assert_true(ta_region.areas[TA_AREA_SMALL].frontier > frontier);
    ta_heap_purge();
    assert_int_equal(ta_region.areas[TA_AREA_SMALL].frontier, frontier);
}

static void the_smallest_lowest_dirty_run_is_taken(void **state)
{
    (void)state;
    uint32_t runs[9];
    static const uint32_t sizes[9] = {40, 1, 20, 1, 30, 1, 20, 1, 50};
    for (int i = 0; i < 9; i++)
        runs[i] = take(sizes[i]);
    uint32_t low = ta_run_at(runs[2])->first;
    for (int i = 0; i < 8; i += 2)
        ta_heap_give(runs[i]);
    uint32_t again = take(18);
    assert_int_equal(ta_run_at(again)->first, low);
    ta_heap_give(again);
    for (int i = 1; i < 9; i += i == 7 ? 1 : 2)
        ta_heap_give(runs[i]);
}

/* No dirty run is long enough: the largest is stretched over the clean pages behind it, so that
 * only the difference is fresh. */
static void a_dirty_run_is_stretched(void **state)
{
    (void)state;
    uint32_t a = take(100), b = take(100), pin = take(1), first = ta_run_at(a)->first;
    ta_heap_give(b);
    ta_heap_purge(); /* b is clean */
    ta_heap_give(a);
    assert_int_equal(ta_heap.policy.dirty, 100);
    uint32_t both = take(150);
    assert_int_equal(ta_run_at(both)->first, first);
    assert_int_equal(ta_heap.policy.dirty, 0);
    ta_heap_give(both);
    ta_heap_give(pin);
}

static void a_dirty_run_is_stretched_downwards(void **state)
{
    (void)state;
    uint32_t a = take(100), b = take(100), pin = take(1), end = ta_run_at(b)->first + 100;
    ta_heap_give(a);
    ta_heap_purge();
    ta_heap_give(b);
    uint32_t both = take(150);
    assert_int_equal(ta_run_at(both)->first + 150, end);
    uint32_t rest = take(50);
    assert_int_equal(ta_run_at(rest)->first + 200, end);
    ta_heap_give(rest);
    ta_heap_give(both);
    ta_heap_give(pin);
}

static void runs_resize_in_place(void **state)
{
    (void)state;
    uint32_t a = take(10), b = take(10), pin = take(1);
    memset(ta_region_address(ta_run_at(a)->first), 7, 10 * TA_PAGE);
    assert_int_equal(ta_heap_resize(a, 15), -1);
    assert_int_equal(ta_run_at(a)->pages, 10);
    ta_heap_give(b);
    assert_int_equal(ta_heap_resize(a, 20), 0);
    assert_int_equal(ta_heap_resize(a, 21), -1);
    assert_int_equal(ta_heap_resize(a, 5), 0);
    assert_int_equal(ta_heap.policy.used, 6);
    uint32_t behind = take(15);
    assert_int_equal(ta_run_at(behind)->first, ta_run_at(a)->first + 5);
    ta_heap_give(behind);
    ta_heap_give(pin);
    assert_int_equal(ta_heap_resize(a, 5000), 0); /* up to and over the frontier */
    ta_heap_give(a);
}

static void alignment_costs_no_memory(void **state)
{
    (void)state;
    bool zeroed;
    uint32_t pin = take(3);
    uint32_t run = ta_heap_take(TA_AREA_SMALL, 100, TA_HUGE_PAGES, &zeroed);
    assert_int_equal((uintptr_t)ta_region_address(ta_run_at(run)->first) % (2 * MIB), 0);
    assert_true(zeroed);
    assert_int_equal(ta_heap.policy.used, 103);
    assert_int_equal(ta_heap.policy.dirty, 0);
    ta_heap_give(run);
    ta_heap_give(pin);
}

/* Huge pages where they are filled; the last is left to small ones in a small heap, and in a large
 * one its rest is dirty. */
static void huge_pages_are_asked_for_where_they_are_filled(void **state)
{
    (void)state;
    uint64_t before = rig.huge_bytes;
    bool zeroed;
    uint32_t run = ta_heap_take(TA_AREA_LARGE, 3 * TA_HUGE_PAGES + 100, 1, &zeroed);
    assert_int_equal(rig.huge_bytes - before, 6 * MIB);
    assert_int_equal(ta_heap.policy.dirty, 0);
    uint32_t large = ta_heap_take(TA_AREA_LARGE, 100 * TA_HUGE_PAGES, 1, &zeroed);
    uint32_t tail = ta_heap_take(TA_AREA_LARGE, TA_HUGE_PAGES + 7, 1, &zeroed);
    assert_in_range(ta_heap.policy.dirty, 1, TA_HUGE_PAGES);
    ta_heap_give(tail);
    ta_heap_give(large);
    ta_heap_give(run);
}

static void what_the_kernel_refuses_to_take_stays_usable(void **state)
{
    (void)state;
    uint32_t run = take(1000), pin = take(1);
    ta_heap_give(run);
    rig_arm(0, 1);
    ta_heap_purge();
    rig_arm(0, 0);
    assert_int_equal(ta_heap.policy.dirty, 1000);
    uint32_t again = take(1000);
    assert_int_equal(ta_heap.policy.dirty, 0);
    ta_heap_give(again);
    ta_heap_give(pin);
    ta_heap_purge();
    assert_int_equal(ta_heap.policy.dirty, 0);
}

enum { MODEL_RUNS = 300, MODEL_STEPS = 30000 };

struct model {
    uint32_t run[MODEL_RUNS];
    uint32_t pages[MODEL_RUNS];
    uint32_t used;
};

static unsigned char *page_of(const struct model *model, int i, uint32_t page)
{
    return ta_region_address(ta_run_at(model->run[i])->first + page);
}

static void check_and_give(struct model *model, int i)
{
    for (uint32_t page = 0; page < model->pages[i]; page++)
        assert_int_equal(*page_of(model, i, page), (unsigned char)i);
    model->used -= model->pages[i];
    ta_heap_give(model->run[i]);
    model->run[i] = 0;
}

static void take_and_mark(struct model *model, int i, uint32_t *seed)
{
    bool zeroed;
    enum ta_area_id area = i % 2 == 0 ? TA_AREA_SMALL : TA_AREA_LARGE;
    uint32_t align = rig_random(seed) % 16 == 0 ? 64 : 1;
    model->pages[i] = 1 + rig_random(seed) % (rig_random(seed) % 8 == 0 ? 2000 : 60);
    model->run[i] = ta_heap_take(area, model->pages[i], align, &zeroed);
    assert_int_not_equal(model->run[i], 0);
    assert_int_equal(ta_run_at(model->run[i])->first % align, 0);
    for (uint32_t page = 0; page < model->pages[i]; page++) {
        assert_true(!zeroed || *page_of(model, i, page) == 0);
        *page_of(model, i, page) = (unsigned char)i;
    }
    model->used += model->pages[i];
}

static void resize_and_mark(struct model *model, int i, uint32_t *seed)
{
    uint32_t before = model->pages[i], wanted = 1 + rig_random(seed) % (2 * before);
    if (ta_heap_resize(model->run[i], wanted) != 0)
        return;
    model->pages[i] = wanted;
    model->used += wanted - before;
    for (uint32_t page = before; page < wanted; page++)
        *page_of(model, i, page) = (unsigned char)i;
}

/* No page belongs to two runs, the counts are right after every step, and nothing is lost. */
static void a_random_life_keeps_every_page_apart(void **state)
{
    (void)state;
    static struct model model;
    uint32_t seed = 42;
    ta_heap.policy.kind = TA_POLICY_LEARN;
    for (int step = 0; step < MODEL_STEPS; step++) {
        int i = (int)(rig_random(&seed) % MODEL_RUNS);
        rig.now_ns += rig_random(&seed) % 1000 == 0 ? 2000000000 : 10000;
        if (model.run[i] == 0)
            take_and_mark(&model, i, &seed);
        else if (rig_random(&seed) % 4 == 0)
            resize_and_mark(&model, i, &seed);
        else
            check_and_give(&model, i);
        assert_int_equal(ta_heap.policy.used, model.used);
    }
    for (int i = 0; i < MODEL_RUNS; i++) {
        if (model.run[i] != 0)
            check_and_give(&model, i);
    }
    ta_heap_purge();
    for (int area = 0; area < TA_AREAS; area++)
        assert_int_equal(ta_region.areas[area].frontier, ta_region.areas[area].begin);
}

int main(void)
{
    rig_install();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(free_neighbours_merge_and_the_top_sinks, start_afresh),
        cmocka_unit_test_setup(the_smallest_lowest_dirty_run_is_taken, start_afresh),
        cmocka_unit_test_setup(a_dirty_run_is_stretched, start_afresh),
        cmocka_unit_test_setup(a_dirty_run_is_stretched_downwards, start_afresh),
        cmocka_unit_test_setup(runs_resize_in_place, start_afresh),
        cmocka_unit_test_setup(alignment_costs_no_memory, start_afresh),
        cmocka_unit_test_setup(huge_pages_are_asked_for_where_they_are_filled, start_afresh),
        cmocka_unit_test_setup(what_the_kernel_refuses_to_take_stays_usable, start_afresh),
        cmocka_unit_test_setup(a_random_life_keeps_every_page_apart, start_afresh),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
