/* The n-th request to the kernel fails, for every n: what is asked for is given or refused, what
 * was there stays as it was, and nothing is lost. */
#include "rig.h"

#include "allocators/preload/contract.h"
#include "allocators/tensor_arena/heap.h"

#include <fragbench/tensor_arena.h>

#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BLOCKS = 24 };

struct shelf {
    char *blocks[BLOCKS];
    size_t sizes[BLOCKS];
};

static const size_t some_sizes[] = {24, 700, 5000, 16384, 40000, 300000, 1500000, 6000000};

static void place(struct shelf *shelf, unsigned i)
{
    shelf->sizes[i] = some_sizes[i % 8] + i;
    size_t align = i % 5 == 0 ? 65536 : 16;
    shelf->blocks[i] =
        i % 7 == 0 ? fba_allocate_zeroed(shelf->sizes[i]) : fba_allocate(shelf->sizes[i], align);
    if (shelf->blocks[i] != NULL)
        rig_fill(shelf->blocks[i], shelf->sizes[i], i);
}

static void change(struct shelf *shelf, unsigned i)
{
    size_t size = i % 2 == 0 ? shelf->sizes[i] * 2 : shelf->sizes[i] / 2 + 1;
    if (shelf->blocks[i] == NULL)
        return;
    char *resized = fba_resize(shelf->blocks[i], size);
    if (resized == NULL)
        return; /* as it was: the check comes at the end */
    shelf->blocks[i] = resized;
    shelf->sizes[i] = size;
    rig_fill(resized, size, i);
}

static void clear(struct shelf *shelf)
{
    for (unsigned i = 0; i < BLOCKS; i++) {
        if (shelf->blocks[i] != NULL) {
            assert_true(rig_holds(shelf->blocks[i], shelf->sizes[i], i));
            fba_release(shelf->blocks[i]);
        }
    }
}

static void one_pass(void)
{
    fragbench_scope_begin();
    for (unsigned i = 0; i < 8; i++) {
        errno = 0;
        char *tensor = fragbench_tensor_alloc(some_sizes[i], 1);
        if (tensor != NULL)
            rig_fill(tensor, some_sizes[i], i);
        else
            assert_int_equal(errno, ENOMEM);
    }
    fragbench_scope_end();
}

static unsigned work_with(unsigned pass, unsigned fail)
{
    struct shelf shelf;
    rig_arm(pass, fail);
    for (unsigned i = 0; i < BLOCKS; i++)
        place(&shelf, i);
    for (unsigned i = 0; i < BLOCKS; i += 3)
        change(&shelf, i);
    one_pass();
    clear(&shelf);
    fragbench_purge();
    unsigned failed = rig.failed;
    rig_arm(0, 0);
    fba_open();
    assert_int_equal(rig_stat("used_bytes"), 0);
    assert_int_equal(rig_stat("direct_bytes"), 0);
    return failed;
}

enum { FINE = 10 };

/* Each child opens anew, with its n-th call refused. An assertion that fails there ends it with
 * another status. */
static unsigned work_in_a_child(unsigned pass, unsigned fail)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(FINE + (int)work_with(pass, fail));
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_in_range(WEXITSTATUS(status), FINE, 99);
    return (unsigned)WEXITSTATUS(status) - FINE;
}

static void any_call_may_fail_from_the_first_on(void **state)
{
    (void)state;
    unsigned calls = 0;
    while (work_in_a_child(calls, 1) == 1)
        calls++;
    assert_true(calls > 20);
    for (unsigned fail = 2; fail < 20; fail++)
        (void)work_in_a_child(0, fail);
}

static void any_call_may_fail_in_use(void **state)
{
    (void)state;
    unsigned calls = 0;
    assert_int_equal(work_with(0, 0), 0);
    while (work_with(calls, 1) == 1)
        calls++;
    assert_true(calls >= 5);
}

static void all_calls_may_fail_from_any_on(void **state)
{
    (void)state;
    for (unsigned pass = 0; pass < 30; pass += 3)
        (void)work_with(pass, UINT32_MAX);
    assert_int_equal(work_with(1000000, 1), 0);
}

/* Closes both areas at what they hold, or opens them again. */
static void close_areas(uint32_t ends[TA_AREAS], bool closed)
{
    for (unsigned id = 0; id < TA_AREAS; id++) {
        struct ta_area *area = &ta_region.areas[id];
        if (closed)
            ends[id] = area->end;
        area->end = closed ? area->frontier : ends[id];
    }
}

/* When the region is full, blocks become mappings of their own. */
static void a_full_region_is_no_end(void **state)
{
    (void)state;
    uint32_t ends[TA_AREAS];
    close_areas(ends, true);
    char *block = fba_allocate(3 * MIB, 4 * MIB);
    assert_non_null(block);
    assert_false(ta_region_holds(block));
    assert_int_equal((uintptr_t)block % (4 * MIB), 0);
    rig_fill(block, 3 * MIB, 1);
    block = fba_resize(block, 7 * MIB);
    assert_true(rig_holds(block, 3 * MIB, 1));
    fba_release(block);
    close_areas(ends, false);
    assert_int_equal(rig_stat("direct_mappings"), 0);
}

/* Small and large lie apart as long as there is room, not longer. */
static void a_full_area_takes_from_the_other(void **state)
{
    (void)state;
    uint32_t ends[TA_AREAS];
    for (unsigned open = 0; open < TA_AREAS; open++) {
        close_areas(ends, true);
        ta_region.areas[open].end = ends[open];
        char *large = fba_allocate(3 * MIB, 16), *small = fba_allocate(40, 16);
        assert_true(ta_region_holds(large) && ta_region_holds(small));
        rig_fill(large, 3 * MIB, 1);
        fba_release(small);
        assert_true(rig_holds(large, 3 * MIB, 1));
        fba_release(large);
        close_areas(ends, false);
    }
}

int main(void)
{
    rig_install();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_call_may_fail_from_the_first_on),
        cmocka_unit_test(any_call_may_fail_in_use),
        cmocka_unit_test(all_calls_may_fail_from_any_on),
        cmocka_unit_test(a_full_region_is_no_end),
        cmocka_unit_test(a_full_area_takes_from_the_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
