/* Pages, mappings and objects of a small child that stands still. */
#include "harness/snapshot.h"

#include "harness/proc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGES = 8000 };

/* What the child does to the area that both see at the same address. */
typedef void act_function(volatile unsigned char *area, size_t page);

struct child {
    pid_t pid;
    uint64_t first; /* page number of the area */
    uint64_t page_bytes;
};

static struct child start(act_function *act, int flags)
{
    struct child child = {.page_bytes = (uint64_t)sysconf(_SC_PAGESIZE)};
    int ready[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    unsigned char *area =
        mmap(NULL, PAGES * child.page_bytes, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);
    assert_true(area != MAP_FAILED);
    (void)madvise(area, PAGES * child.page_bytes, MADV_NOHUGEPAGE);
    child.first = (uint64_t)(uintptr_t)area / child.page_bytes;
    child.pid = fork();
    assert_true(child.pid >= 0);
    if (child.pid == 0) {
        act(area, child.page_bytes);
        (void)!write(ready[1], "r", 1);
        for (;;)
            (void)pause();
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    (void)close(ready[0]);
    (void)close(ready[1]);
    (void)munmap(area, PAGES * child.page_bytes);
    return child;
}

static void stop(const struct child *child)
{
    (void)kill(child->pid, SIGKILL);
    (void)waitpid(child->pid, NULL, 0);
}

/* The child's pages in the area, and false where the kernel lacks the source. */
static bool area_pages(const struct child *child, enum fb_page_source source, size_t *pages,
                       size_t *runs)
{
    struct fb_page_runs found;
    struct fb_error err = {0};
    *pages = *runs = 0;
    if (fb_snapshot_pages(child->pid, source, &found, &err) != 0)
        return false;
    for (size_t i = 0; i < found.count; i++) {
        if (i > 0)
            assert_true(found.items[i - 1].first + found.items[i - 1].count <=
                        found.items[i].first);
        if (found.items[i].first < child->first || found.items[i].first >= child->first + PAGES)
            continue;
        *pages += found.items[i].count;
        *runs += 1;
    }
    free(found.items);
    return true;
}

/* AddressSanitizer reserves terabytes, of which pagemap has 8 bytes a page: a minute a look. */
#if defined(__SANITIZE_ADDRESS__)
#define IS_SPARSE true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define IS_SPARSE true
#endif
#endif
#ifndef IS_SPARSE
#define IS_SPARSE false
#endif

static void assert_area(act_function *act, int flags, size_t pages, size_t runs)
{
    static const enum fb_page_source sources[] = {FB_PAGES_BEST, FB_PAGES_IOCTL, FB_PAGES_PAGEMAP};
    struct child child = start(act, flags);
    for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++) {
        size_t found = 0, found_runs = 0;
        if (sources[i] == FB_PAGES_PAGEMAP && IS_SPARSE)
            continue;
        if (!area_pages(&child, sources[i], &found, &found_runs)) {
            assert_int_equal(sources[i], FB_PAGES_IOCTL); /* before Linux 6.7 */
            continue;
        }
        assert_int_equal(found, pages);
        assert_int_equal(found_runs, runs);
    }
    stop(&child);
}

static void write_every_other(volatile unsigned char *area, size_t page)
{
    for (size_t i = 0; i < PAGES; i += 2)
        area[i * page] = 1;
}

static void write_a_stretch(volatile unsigned char *area, size_t page)
{
    for (size_t i = 100; i < 200; i++)
        area[i * page] = 1;
}

static void read_only(volatile unsigned char *area, size_t page)
{
    unsigned char sum = 0;
    for (size_t i = 0; i < PAGES; i++)
        sum = (unsigned char)(sum + area[i * page]);
    (void)sum;
}

/* More runs than the kernel's buffer has room for: each must come once. */
static void thousands_of_runs_come_once_each(void **state)
{
    (void)state;
    assert_area(write_every_other, MAP_PRIVATE, PAGES / 2, PAGES / 2);
}

static void a_stretch_is_one_run(void **state)
{
    (void)state;
    assert_area(write_a_stretch, MAP_PRIVATE, 100, 1);
}

static void the_page_of_zeros_is_no_page(void **state)
{
    (void)state;
    assert_area(read_only, MAP_PRIVATE, 0, 0);
}

static void shared_memory_is_left_out(void **state)
{
    (void)state;
    assert_area(write_a_stretch, MAP_SHARED, 0, 0);
}

static void extents_are_cut_at_data_ranges(void **state)
{
    (void)state;
    struct child child = start(write_a_stretch, MAP_PRIVATE);
    uint64_t start_address = child.first * child.page_bytes;
    /* A library's data on the first page and a half, ours on the tenth. */
    const struct fb_data_range ranges[] = {
        {start_address + 9 * child.page_bytes, start_address + 9 * child.page_bytes + 8, 0, 0},
        {start_address, start_address + child.page_bytes * 3 / 2, 1, 0},
    };
    static const enum fb_extent_kind kinds[] = {FB_EXTENT_LIBRARY, FB_EXTENT_ANONYMOUS,
                                                FB_EXTENT_BASE, FB_EXTENT_ANONYMOUS};
    static const uint64_t starts[] = {0, 2, 9, 10};
    struct fb_extent *extents = NULL;
    struct fb_error err = {0};
    size_t count = 0, at = 0;
    assert_int_equal(fb_snapshot_extents(child.pid, ranges, 2, &extents, &count, &err), 0);
    while (at < count && extents[at].start < start_address)
        at++;
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(extents[at + i].kind, kinds[i]);
        assert_int_equal(extents[at + i].start, start_address + starts[i] * child.page_bytes);
    }
    free(extents);
    stop(&child);
}

static void a_process_that_is_gone_is_an_error(void **state)
{
    (void)state;
    struct child child = start(write_a_stretch, MAP_PRIVATE);
    struct fb_page_runs pages = {0};
    struct fb_error err = {0};
    stop(&child);
    assert_int_equal(fb_snapshot_pages(child.pid, FB_PAGES_BEST, &pages, &err), -1);
    assert_int_equal(err.kind, FB_ERROR_IO);
}

static void objects_are_read_from_their_table(void **state)
{
    (void)state;
    static char place[64];
    const struct fb_object objects[] = {
        {NULL, 0}, {FB_OBJECT_REFUSED, 0}, {place, FB_OBJECT_PACK(40, 3)}};
    const struct fb_object_detail details[] = {{0, 0}, {0, 0}, {77, 48}};
    const struct fb_object_table full = {objects, details}, bare = {objects, NULL};
    struct fb_block_table table = fb_snapshot_blocks(&full, 3);
    struct fb_block block;
    assert_false(table.read(table.context, 0, &block));
    assert_false(table.read(table.context, 1, &block));
    assert_true(table.read(table.context, 2, &block));
    assert_int_equal(block.address, (uintptr_t)place);
    assert_int_equal(block.requested_bytes, 40);
    assert_int_equal(block.usable_bytes, 48);
    assert_int_equal(block.class_index, 3);
    assert_int_equal(block.born_ns, 77);
    table = fb_snapshot_blocks(&bare, 3);
    assert_true(table.read(table.context, 2, &block));
    assert_int_equal(block.usable_bytes, 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(thousands_of_runs_come_once_each),
        cmocka_unit_test(a_stretch_is_one_run),
        cmocka_unit_test(the_page_of_zeros_is_no_page),
        cmocka_unit_test(shared_memory_is_left_out),
        cmocka_unit_test(extents_are_cut_at_data_ranges),
        cmocka_unit_test(a_process_that_is_gone_is_an_error),
        cmocka_unit_test(objects_are_read_from_their_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
