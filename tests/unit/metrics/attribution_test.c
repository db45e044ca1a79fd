/* Hand-made pages and blocks whose parts are worked out on paper. */
#include "metrics/attribution.h"

#include "metrics/heat.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { PAGE = 4096, ARENA = 1000, STACK = 5000 /* page numbers */ };

static bool read_block(const void *context, size_t slot, struct fb_block *out)
{
    *out = ((const struct fb_block *)context)[slot];
    return out->address != 0;
}

static struct fb_block_table table_of(const struct fb_block *blocks, size_t count)
{
    return (struct fb_block_table){blocks, count, read_block};
}

static struct fb_block block(uint64_t page, uint64_t offset, uint64_t requested, uint64_t usable,
                             uint32_t class_index)
{
    return (struct fb_block){.address = page * PAGE + offset,
                             .requested_bytes = requested,
                             .usable_bytes = usable,
                             .class_index = class_index};
}

static const char *const names[] = {"buffer", "metadata"};

/* 8 pages of an arena and 2 of the stack; page 1000 was there before the first operation and holds
 * a block now, page 1001 was and holds none. */
static struct fb_page_run pages[] = {{ARENA, 8, 0}, {STACK, 2, 0}};
static struct fb_page_run startup[] = {{ARENA, 2, 0}};
static struct fb_extent extents[] = {
    {(uint64_t)ARENA * PAGE, (uint64_t)(ARENA + 16) * PAGE, FB_EXTENT_ANONYMOUS},
    {(uint64_t)STACK * PAGE, (uint64_t)(STACK + 4) * PAGE, FB_EXTENT_BASE}};

static struct fb_snapshot make_snapshot(const struct fb_block *blocks, size_t count)
{
    return (struct fb_snapshot){.page_bytes = PAGE,
                                .footprint_bytes = 10 * PAGE,
                                .now_ns = 1000,
                                .pages = {pages, 2},
                                .startup = {startup, 1},
                                .blocks = table_of(blocks, count),
                                .class_names = names,
                                .class_count = 2,
                                .extents = extents,
                                .extent_count = 2};
}

static struct fb_attribution *attribute(const struct fb_snapshot *snapshot)
{
    struct fb_page_map map;
    fb_page_map_init(&map, snapshot);
    struct fb_attribution *attribution = fb_attribution_new(&map, snapshot);
    fb_page_map_deinit(&map);
    assert_int_equal(fb_attribution_sum(attribution) + (uint64_t)attribution->mismatch_bytes,
                     snapshot->footprint_bytes);
    return attribution;
}

static void assert_parts(const struct fb_attribution *attribution, uint64_t live, uint64_t rounding,
                         uint64_t holes, uint64_t free_pages, uint64_t startup_pages,
                         uint64_t base_pages)
{
    assert_int_equal(attribution->parts[FB_PART_LIVE], live);
    assert_int_equal(attribution->parts[FB_PART_ROUNDING], rounding);
    assert_int_equal(attribution->parts[FB_PART_HOLES], holes);
    assert_int_equal(attribution->free_bytes, free_pages * PAGE);
    assert_int_equal(attribution->parts[FB_PART_STARTUP], startup_pages * PAGE);
    assert_int_equal(attribution->parts[FB_PART_BASE], base_pages * PAGE);
}

static void every_page_is_classified_once(void **state)
{
    (void)state;
    const struct fb_block blocks[] = {
        block(ARENA, 100, 1000, 1024, 1),      /* on a startup page: that counts as live */
        {0},                                   /* an empty slot */
        block(ARENA + 2, 2048, 4096, 6144, 0), /* half of 2 pages, the rest rounding */
    };
    const struct fb_snapshot snapshot = make_snapshot(blocks, 3);
    struct fb_attribution *attribution = attribute(&snapshot);
    /* Occupied: pages 0, 2 and 3. Holes: 4096-1024 there, 2048 before the second block. */
    assert_parts(attribution, 1000 + 4096, 24 + 2048, (4096 - 1024) + 2048, 4, 1, 2);
    assert_int_equal(attribution->mismatch_bytes, 0);
    assert_int_equal(attribution->blocks, 2);
    assert_false(attribution->is_split);
    assert_false(attribution->account_known);
    fb_attribution_free(attribution);
}

static void bytes_that_are_not_resident_are_not_live(void **state)
{
    (void)state;
    /* 16 pages asked for, of which the arena's last 5 are there. */
    const struct fb_block blocks[] = {block(ARENA + 3, 0, 16 * PAGE, 16 * PAGE, 0)};
    const struct fb_snapshot snapshot = make_snapshot(blocks, 1);
    struct fb_attribution *attribution = attribute(&snapshot);
    assert_parts(attribution, 5 * PAGE, 0, 0, 1, 2, 2);
    assert_int_equal(attribution->hostages[0].live_bytes, 5 * PAGE);
    fb_attribution_free(attribution);
}

static void blocks_in_any_order_and_off_the_pages_are_found(void **state)
{
    (void)state;
    const struct fb_block blocks[] = {
        block(ARENA + 7, 0, 100, 100, 0),  block(ARENA + 4, 0, 100, 100, 0),
        block(ARENA + 40, 0, 100, 100, 0), /* swapped away, or never touched: no page */
        block(ARENA + 5, 0, 0, 0, 0),      /* a block of no bytes still holds its page */
        block(1, 0, 100, 100, 0),
    };
    const struct fb_snapshot snapshot = make_snapshot(blocks, 5);
    struct fb_attribution *attribution = attribute(&snapshot);
    assert_parts(attribution, 200, 0, 3 * PAGE - 200, 3, 2, 2);
    fb_attribution_free(attribution);
}

static void blocks_on_one_another_fill_a_page_at_most(void **state)
{
    (void)state;
    const struct fb_block blocks[] = {block(ARENA + 2, 0, 3000, 4096, 0),
                                      block(ARENA + 2, 0, 3000, 4096, 0)};
    const struct fb_snapshot snapshot = make_snapshot(blocks, 2);
    struct fb_attribution *attribution = attribute(&snapshot);
    assert_parts(attribution, 3000, 1096, 0, 5, 2, 2);
    fb_attribution_free(attribution);
}

static void a_purge_splits_the_free_pages(void **state)
{
    (void)state;
    const struct fb_block blocks[] = {block(ARENA + 2, 0, 8, 8, 0)};
    /* Of the free pages 1003 … 1007 the last two stay; the pages of 1010 are new and no part. */
    struct fb_page_run after[] = {{ARENA, 3, 0}, {ARENA + 6, 2, 0}, {ARENA + 10, 2, 0}};
    struct fb_snapshot snapshot = make_snapshot(blocks, 1);
    snapshot.purged = true;
    snapshot.after = (struct fb_page_runs){after, 3};
    struct fb_attribution *attribution = attribute(&snapshot);
    assert_true(attribution->is_split);
    assert_parts(attribution, 8, 0, PAGE - 8, 5, 2, 2);
    assert_int_equal(attribution->parts[FB_PART_CACHED], 3 * PAGE);
    assert_int_equal(attribution->parts[FB_PART_STUCK], 2 * PAGE);
    fb_attribution_free(attribution);
}

static void what_does_not_add_up_is_said(void **state)
{
    (void)state;
    struct fb_snapshot snapshot = make_snapshot(NULL, 0);
    snapshot.footprint_bytes = 12 * PAGE;
    struct fb_attribution *attribution = attribute(&snapshot);
    assert_int_equal(attribution->mismatch_bytes, 2 * PAGE);
    fb_attribution_free(attribution);
    snapshot.footprint_bytes = 9 * PAGE;
    attribution = attribute(&snapshot);
    assert_int_equal(attribution->mismatch_bytes, -PAGE);
    fb_attribution_free(attribution);
}

static void huge_and_swapped_pages_are_counted(void **state)
{
    (void)state;
    struct fb_page_run runs[] = {{ARENA, 4, FB_PAGES_HUGE}, {ARENA + 4, 6, FB_PAGES_SWAPPED}};
    struct fb_snapshot snapshot = make_snapshot(NULL, 0);
    snapshot.pages = (struct fb_page_runs){runs, 2};
    struct fb_attribution *attribution = attribute(&snapshot);
    assert_int_equal(attribution->huge_bytes, 4 * PAGE);
    assert_int_equal(attribution->swapped_bytes, 6 * PAGE);
    fb_attribution_free(attribution);
}

static void a_class_is_charged_with_the_pages_it_keeps_alone(void **state)
{
    (void)state;
    const struct fb_block blocks[] = {
        block(ARENA + 2, 0, 64, 64, 1),     /* alone on its page: 1.6 % full */
        block(ARENA + 3, 0, 2048, 2048, 1), /* two of one class: half full */
        block(ARENA + 3, 2048, 10, 16, 1),
        block(ARENA + 4, 0, 100, 100, 1), /* shared with the other class: nobody's */
        block(ARENA + 4, 512, 100, 100, 0),
    };
    const struct fb_snapshot snapshot = make_snapshot(blocks, 5);
    struct fb_attribution *attribution = attribute(&snapshot);
    assert_int_equal(attribution->hostage_count, 2);
    const struct fb_hostage *buffer = &attribution->hostages[0];
    const struct fb_hostage *metadata = &attribution->hostages[1];
    assert_string_equal(buffer->class_name, "buffer");
    assert_int_equal(buffer->live_bytes, 100);
    assert_int_equal(buffer->pages, 0);
    assert_string_equal(metadata->class_name, "metadata");
    assert_int_equal(metadata->live_bytes, 64 + 2048 + 10 + 100);
    assert_int_equal(metadata->pages, 2);
    assert_int_equal(metadata->held_bytes, 2 * PAGE);
    assert_int_equal(metadata->held_live_bytes, 64 + 2048 + 10);
    assert_int_equal(metadata->histogram[0], 1);
    assert_int_equal(metadata->histogram[5], 1);
    fb_attribution_free(attribution);
}

static void the_worst_objects_keep_most_beyond_their_size(void **state)
{
    (void)state;
    struct fb_block blocks[] = {
        block(ARENA + 2, 0, PAGE + 1, PAGE + 1, 0), /* 2 pages for one byte more than one */
        block(ARENA + 4, 0, 64, 64, 1),             /* young */
        block(ARENA + 5, 0, 64, 64, 1),             /* old, and so before the young one */
        block(ARENA + 6, 0, PAGE, PAGE, 0),         /* exactly its page: keeps nothing */
    };
    blocks[1].born_ns = 900;
    blocks[2].born_ns = 100;
    const struct fb_snapshot snapshot = make_snapshot(blocks, 4);
    struct fb_attribution *attribution = attribute(&snapshot);
    assert_int_equal(attribution->holder_count, 3);
    assert_int_equal(attribution->holders[0].size_bytes, PAGE + 1);
    assert_int_equal(attribution->holders[0].held_bytes, 2 * PAGE);
    assert_int_equal(attribution->holders[1].age_ns, 900);
    assert_string_equal(attribution->holders[1].class_name, "metadata");
    assert_int_equal(attribution->holders[2].age_ns, 100);
    fb_attribution_free(attribution);
}

static void no_more_than_ten_worst_objects_are_kept(void **state)
{
    (void)state;
    struct fb_block blocks[14];
    struct fb_page_run run = {ARENA, 14, 0};
    for (uint32_t i = 0; i < 14; i++) {
        blocks[i] = block(ARENA + i, 0, 8, 8, 0);
        blocks[i].born_ns = 100 - i; /* the last is the oldest */
    }
    struct fb_snapshot snapshot = make_snapshot(blocks, 14);
    snapshot.pages = (struct fb_page_runs){&run, 1};
    snapshot.footprint_bytes = 14 * PAGE;
    struct fb_attribution *attribution = attribute(&snapshot);
    assert_int_equal(attribution->holder_count, FB_HOLDERS_MAX);
    assert_int_equal(attribution->holders[0].age_ns, 1000 - (100 - 13));
    assert_int_equal(attribution->holders[9].age_ns, 1000 - (100 - 4));
    fb_attribution_free(attribution);
}

static struct fb_attribution *purged(uint64_t footprint_pages)
{
    static struct fb_page_run after[] = {{ARENA, 3, 0}};
    struct fb_snapshot snapshot = make_snapshot(NULL, 0);
    snapshot.footprint_bytes = footprint_pages * PAGE;
    snapshot.purged = true;
    snapshot.after = (struct fb_page_runs){after, 1};
    snapshot.account_known = true;
    for (int i = 0; i < FB_ACCOUNT_COUNT; i++)
        snapshot.account[i] = 7;
    return attribute(&snapshot);
}

static void a_second_run_that_agrees_gives_its_split(void **state)
{
    (void)state;
    const struct fb_snapshot snapshot = make_snapshot(NULL, 0);
    struct fb_attribution *first = attribute(&snapshot), *same = first;
    fb_attribution_merge(&first, purged(10));
    assert_ptr_equal(first, same);
    assert_true(first->is_split);
    assert_false(first->is_second_run);
    assert_int_equal(first->parts[FB_PART_STUCK], PAGE);
    assert_int_equal(first->parts[FB_PART_CACHED], 5 * PAGE);
    assert_int_equal(first->account[FB_ACCOUNT_METADATA], 7);
    fb_attribution_free(first);
}

static void a_second_run_that_differs_speaks_for_itself(void **state)
{
    (void)state;
    const struct fb_snapshot snapshot = make_snapshot(NULL, 0);
    struct fb_attribution *first = attribute(&snapshot), *other = purged(11), *none = NULL;
    fb_attribution_merge(&first, other);
    assert_ptr_equal(first, other);
    assert_true(first->is_second_run);
    assert_int_equal(first->footprint_bytes, 11 * PAGE);
    fb_attribution_free(first);
    fb_attribution_merge(&none, purged(10));
    assert_true(none->is_second_run);
    fb_attribution_free(none);
}

static void a_heat_map_names_places_and_no_addresses(void **state)
{
    (void)state;
    const struct fb_block blocks[] = {block(ARENA + 2, 0, 100, 128, 0)};
    const struct fb_snapshot snapshot = make_snapshot(blocks, 1);
    struct fb_page_map map;
    struct fb_heat heat;
    fb_page_map_init(&map, &snapshot);
    fb_heat_init(&heat, &map, &snapshot);
    assert_int_equal(heat.group_pages, 1);
    assert_int_equal(heat.count, 10);
    assert_int_equal(heat.rows[2].offset_pages, 2);
    assert_int_equal(heat.rows[2].live_bytes, 100);
    assert_int_equal(heat.rows[2].rounding_bytes, 28);
    assert_int_equal(heat.rows[2].occupied_pages, 1);
    assert_int_equal(heat.rows[0].startup_pages, 1);
    assert_int_equal(heat.rows[3].free_pages, 1);
    assert_int_equal(heat.rows[8].extent, 1);
    assert_int_equal(heat.rows[8].offset_pages, 0);
    assert_int_equal(heat.rows[8].kind, FB_EXTENT_BASE);
    fb_heat_deinit(&heat);
    fb_page_map_deinit(&map);
}

static void groups_grow_until_the_map_is_short_enough(void **state)
{
    (void)state;
    enum { COUNT = 3 * FB_HEAT_ROWS_MAX };
    struct fb_page_run run = {ARENA, COUNT, 0};
    struct fb_extent whole = {(uint64_t)ARENA * PAGE, (uint64_t)(ARENA + COUNT) * PAGE,
                              FB_EXTENT_HEAP};
    struct fb_snapshot snapshot = make_snapshot(NULL, 0);
    snapshot.pages = (struct fb_page_runs){&run, 1};
    snapshot.extents = &whole;
    snapshot.extent_count = 1;
    struct fb_page_map map;
    struct fb_heat heat;
    fb_page_map_init(&map, &snapshot);
    fb_heat_init(&heat, &map, &snapshot);
    assert_int_equal(heat.group_pages, 4);
    assert_int_equal(heat.count, COUNT / 4);
    uint64_t sum = 0;
    for (size_t i = 0; i < heat.count; i++)
        sum += heat.rows[i].resident_pages;
    assert_int_equal(sum, COUNT);
    fb_heat_deinit(&heat);
    fb_page_map_deinit(&map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_page_is_classified_once),
        cmocka_unit_test(bytes_that_are_not_resident_are_not_live),
        cmocka_unit_test(blocks_in_any_order_and_off_the_pages_are_found),
        cmocka_unit_test(blocks_on_one_another_fill_a_page_at_most),
        cmocka_unit_test(a_purge_splits_the_free_pages),
        cmocka_unit_test(what_does_not_add_up_is_said),
        cmocka_unit_test(huge_and_swapped_pages_are_counted),
        cmocka_unit_test(a_class_is_charged_with_the_pages_it_keeps_alone),
        cmocka_unit_test(the_worst_objects_keep_most_beyond_their_size),
        cmocka_unit_test(no_more_than_ten_worst_objects_are_kept),
        cmocka_unit_test(a_second_run_that_agrees_gives_its_split),
        cmocka_unit_test(a_second_run_that_differs_speaks_for_itself),
        cmocka_unit_test(a_heat_map_names_places_and_no_addresses),
        cmocka_unit_test(groups_grow_until_the_map_is_short_enough),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
