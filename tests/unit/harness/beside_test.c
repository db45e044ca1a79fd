/* Memory beside the heap, of mappings that are made up and of this process's own. */
#include "harness/beside.h"

#include "harness/data_end.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#define PAGES(n) ((uint64_t)(n) * (uint64_t)sysconf(_SC_PAGESIZE))

extern char __executable_start, end; /* the linker's */

static struct fb_mapping mapping_of(uint64_t from, uint64_t to)
{
    return (struct fb_mapping){.start = PAGES(from),
                               .end = PAGES(to),
                               .anonymous_bytes = PAGES(to - from),
                               .data_end = PAGES(from)};
}

static struct fb_recording_memory sum_of(struct fb_mapping *items, size_t count,
                                         const struct fb_beside *beside)
{
    const struct fb_mappings mappings = {items, count};
    struct fb_beside_sum sum;
    fb_beside_sum(&mappings, -1, beside, &sum);
    return sum.memory;
}

static void each_kind_of_mapping_is_counted_as_what_it_is(void **state)
{
    (void)state;
    struct fb_ranges mapped = {0};
    fb_ranges_add(&mapped, PAGES(500), PAGES(600));
    struct fb_mapping items[] = {mapping_of(10, 20),   mapping_of(20, 24),   mapping_of(30, 130),
                                 mapping_of(200, 207), mapping_of(500, 550), mapping_of(700, 800),
                                 mapping_of(900, 999)};
    items[0].data_end = items[0].end; /* a file's */
    items[1].data_end = items[1].end; /* its .bss */
    items[2].is_heap = true;
    items[3].is_stack = true;
    items[6].is_shared = true;
    const struct fb_beside beside = {.mapped = &mapped};
    struct fb_recording_memory memory = sum_of(items, 7, &beside);
    assert_int_equal(memory.anonymous_bytes, PAGES(10 + 4 + 100 + 7 + 50 + 100));
    assert_int_equal(memory.library_bytes, PAGES(14));
    assert_int_equal(memory.stack_bytes, PAGES(7));
    assert_int_equal(memory.mapped_bytes, PAGES(50));
    fb_ranges_deinit(&mapped);
}

/* The kernel joins neighbours of one kind: .bss, a stack's top, a range of the program's and an
 * allocator's arena may be one mapping. */
static void a_mapping_of_several_kinds_is_divided(void **state)
{
    (void)state;
    struct fb_ranges mapped = {0};
    fb_ranges_add(&mapped, PAGES(160), PAGES(170));
    struct fb_mapping items[] = {mapping_of(100, 200), mapping_of(300, 400)};
    items[0].data_end = PAGES(130);
    const uint64_t stacks[] = {PAGES(320) - 8};
    const struct fb_beside beside = {&mapped, stacks, 1, 0};
    struct fb_recording_memory memory = sum_of(items, 2, &beside);
    assert_int_equal(memory.anonymous_bytes, PAGES(200));
    assert_int_equal(memory.library_bytes, PAGES(30));
    assert_int_equal(memory.mapped_bytes, PAGES(10));
    assert_int_equal(memory.stack_bytes, PAGES(20));
    fb_ranges_deinit(&mapped);
}

static void the_recorder_counts_nowhere(void **state)
{
    (void)state;
    struct fb_ranges mapped = {0};
    struct fb_mapping items[] = {mapping_of(10, 20), mapping_of(100, 200)};
    items[0].data_end = items[0].end;
    items[0].is_recorder = true;
    const struct fb_beside beside = {.mapped = &mapped, .own_bytes = PAGES(30)};
    const struct fb_mappings mappings = {items, 2};
    struct fb_beside_sum sum;
    fb_beside_sum(&mappings, -1, &beside, &sum);
    assert_int_equal(sum.memory.anonymous_bytes, PAGES(70));
    assert_int_equal(fb_recording_beside_bytes(&sum.memory), 0);
    assert_int_equal(sum.recorder_bytes, PAGES(40));
}

/* Two ranges of which one is the program's, side by side: the page map tells what each holds. */
static void this_process_is_measured_to_the_page(void **state)
{
    (void)state;
    struct fb_ranges mapped = {0};
    struct fb_beside_sum before, after;
    struct fb_error err = {0};
    char *both =
        mmap(NULL, PAGES(2000), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(both, MAP_FAILED);
    uint64_t start = (uintptr_t)both;
    fb_ranges_add(&mapped, start, start + PAGES(1000));
    const struct fb_beside beside = {.mapped = &mapped};
    assert_int_equal(fb_beside_measure(getpid(), &beside, &before, &err), 0);
    memset(both, 1, PAGES(300));
    memset(both + PAGES(1000), 1, PAGES(900));
    assert_int_equal(fb_beside_measure(getpid(), &beside, &after, &err), 0);
    assert_int_equal(before.memory.mapped_bytes, 0);
    assert_int_equal(after.memory.mapped_bytes, PAGES(300));
    assert_in_range(after.memory.anonymous_bytes - before.memory.anonymous_bytes, PAGES(1200),
                    PAGES(1600)); /* the reading itself allocates, more under a sanitizer */
    assert_true(after.memory.library_bytes > 0);
    assert_true(after.memory.stack_bytes > 0);
    assert_int_equal(munmap(both, PAGES(2000)), 0);
    fb_ranges_deinit(&mapped);
}

static void the_end_of_data_is_the_linkers(void **state)
{
    (void)state;
    uint64_t page = PAGES(1);
    uint64_t expected = ((uintptr_t)&end + page - 1) / page * page;
    assert_int_equal(fb_data_end("/proc/self/exe", (uintptr_t)&__executable_start), expected);
    assert_int_equal(fb_data_end("/proc/self/status", 0), 0);
    assert_int_equal(fb_data_end("/nowhere", 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kind_of_mapping_is_counted_as_what_it_is),
        cmocka_unit_test(a_mapping_of_several_kinds_is_divided),
        cmocka_unit_test(the_recorder_counts_nowhere),
        cmocka_unit_test(this_process_is_measured_to_the_page),
        cmocka_unit_test(the_end_of_data_is_the_linkers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
