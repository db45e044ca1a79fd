/* budget_mode=footprint against the kernel's own figures, on libc's malloc. The mode and a budget
 * of 256 MiB come from the environment, as for any program. Not under a sanitizer, whose own memory
 * would count. */
#include "budgeted/blocks.h"
#include "fragbench/budgeted.h"
#include "preload/contract.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)
#define BUDGET (128 * MIB)
#define SLACK (BUDGET / 32 + 1 * MIB) /* as footprint.h states it */
#define MOST_BLOCKS 200000

static void *blocks[MOST_BLOCKS];
static size_t sizes[MOST_BLOCKS];
static _Atomic bool mmap_fails;

/* --wrap=mmap, for the table of large blocks. */
void *__real_mmap(void *address, size_t length, int protection, int flags, int fd, off_t offset);
void *__wrap_mmap(void *address, size_t length, int protection, int flags, int fd, off_t offset);

void *__wrap_mmap(void *address, size_t length, int protection, int flags, int fd, off_t offset)
{
    if (atomic_load(&mmap_fails))
        return MAP_FAILED;
    return __real_mmap(address, length, protection, flags, fd, offset);
}

static size_t resident(void)
{
    char text[128] = "";
    size_t total = 0, shared = 0;
    int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    ssize_t length = read(fd, text, sizeof text - 1);
    (void)close(fd);
    assert_true(length > 0);
    assert_int_equal(sscanf(text, "%*u %zu %zu", &total, &shared), 2);
    return (total - shared) * (size_t)sysconf(_SC_PAGESIZE);
}

/* Allocates blocks of a size until one is refused; returns how many. */
static size_t fill(size_t from, size_t size, bool touch)
{
    size_t at = from;
    for (; at < MOST_BLOCKS; at++) {
        sizes[at] = size;
        blocks[at] = fba_allocate(size, 16);
        if (blocks[at] == NULL)
            break;
        if (touch)
            memset(blocks[at], 1, size);
    }
    assert_true(at < MOST_BLOCKS);
    return at - from;
}

static void touch_all(size_t count)
{
    for (size_t i = 0; i < count; i++)
        memset(blocks[i], 2, sizes[i]);
}

static void drop_all(size_t count)
{
    for (size_t i = 0; i < count; i++)
        fba_release(blocks[i]);
    assert_int_equal(fba_blocks_count(), 0);
}

static int begin(void **state)
{
    (void)state;
    fba_open();
    fragbench_budgeted_set(BUDGET);
    return fragbench_budgeted_mode() == FRAGBENCH_BUDGETED_FOOTPRINT ? 0 : -1;
}

static void touched_blocks_fill_the_budget(void **state)
{
    static const size_t wanted[] = {100, 3000, 50 * KIB, 70 * KIB, 1 * MIB, 10 * MIB};
    (void)state;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        size_t count = fill(0, wanted[i] + (i == 0 ? 2000 : 0), true);
        assert_true(resident() <= BUDGET + SLACK);
        assert_true(resident() + wanted[i] >= BUDGET - BUDGET / 20);
        drop_all(count);
    }
}

/* The case that resident bytes alone would miss: the pages come long after malloc. */
static void untouched_blocks_count_before_they_are_resident(void **state)
{
    static const size_t wanted[] = {60 * KIB, 100 * KIB, 3 * MIB, 12 * MIB};
    (void)state;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        size_t count = fill(0, wanted[i], false);
        assert_true(count * wanted[i] <= BUDGET);
        assert_true((count + 1) * wanted[i] >= BUDGET - BUDGET / 8);
        touch_all(count);
        assert_true(resident() <= BUDGET + SLACK);
        drop_all(count);
    }
}

static void what_was_freed_can_be_had_again(void **state)
{
    (void)state;
    for (int round = 0; round < 10; round++) {
        size_t count = fill(0, 200 * KIB + (size_t)round * 10 * KIB, true);
        assert_true(count * sizes[0] >= BUDGET - BUDGET / 8);
        assert_true(resident() <= BUDGET + SLACK);
        drop_all(count);
    }
}

/* The inner allocator keeps pages of small blocks; a purge gets them back before anything is
 * refused. */
static void pages_kept_by_the_inner_allocator_are_purged(void **state)
{
    (void)state;
    size_t count = fill(0, 2000, true);
    for (size_t i = 0; i < count; i += 1)
        fba_release(blocks[i]);
    void *large = fba_allocate(100 * MIB, 16);
    assert_non_null(large);
    memset(large, 1, 100 * MIB);
    assert_true(resident() <= BUDGET + SLACK);
    fba_release(large);
}

static void a_large_block_grows_in_place(void **state)
{
    (void)state;
    unsigned char *block = fba_allocate(60 * MIB, 16);
    assert_non_null(block);
    memset(block, 5, 60 * MIB);
    block = fba_resize(block, 110 * MIB); /* libc moves the pages */
    assert_non_null(block);
    assert_int_equal(block[60 * MIB - 1], 5);
    assert_null(fba_resize(block, 160 * MIB));
    memset(block, 6, 110 * MIB);
    assert_true(resident() <= BUDGET + SLACK);
    fba_release(block);
    assert_int_equal(fba_blocks_count(), 0);
}

static void large_blocks_without_a_table_are_touched(void **state)
{
    (void)state;
    size_t count = fill(0, 80 * KIB, false); /* brings the table to a size */
    drop_all(count);
    atomic_store(&mmap_fails, true);
    fragbench_budgeted_set(8 * BUDGET);
    size_t many = 0;
    for (; many < 8000; many++) { /* more than the table has room for */
        sizes[many] = 80 * KIB;
        blocks[many] = fba_allocate(80 * KIB, 16);
        assert_non_null(blocks[many]);
    }
    atomic_store(&mmap_fails, false);
    assert_true(fba_blocks_count() < many);
    assert_true(resident() + fba_blocks_untouched(0) >= many * 80 * KIB);
    for (size_t i = 0; i < many; i++)
        fba_release(blocks[i]);
    assert_int_equal(fba_blocks_count(), 0);
    fragbench_budgeted_set(BUDGET);
}

static _Atomic bool finished;
static _Atomic size_t most_resident;

static void *watch(void *argument)
{
    (void)argument;
    while (!atomic_load(&finished)) {
        struct timespec pause = {.tv_nsec = 500000};
        size_t now = resident();
        if (now > atomic_load(&most_resident))
            atomic_store(&most_resident, now);
        (void)nanosleep(&pause, NULL);
    }
    return NULL;
}

static void *crowd(void *argument)
{
    enum { SLOTS = 512 };
    static _Atomic uint64_t seed = 1;
    uint64_t dice = atomic_fetch_add(&seed, 7919);
    unsigned char *mine[SLOTS] = {NULL};
    _Atomic size_t *refused = argument;
    for (int i = 0; i < 10000; i++) {
        dice = dice * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        size_t slot = (dice >> 33) % SLOTS, large = (dice >> 45) % 3 == 0;
        size_t size = 1 + (dice >> 40) % (large ? 500 * KIB : 20 * KIB);
        if (mine[slot] != NULL)
            fba_release(mine[slot]);
        mine[slot] = fba_allocate(size, 16);
        if (mine[slot] == NULL)
            atomic_fetch_add(refused, 1);
        else if (i % 2 == 0)
            memset(mine[slot], 3, size);
    }
    for (size_t i = 0; i < SLOTS; i++) {
        if (mine[i] != NULL)
            fba_release(mine[i]);
    }
    return NULL;
}

static void four_threads_stay_within_budget_and_slack(void **state)
{
    pthread_t threads[4], watcher;
    _Atomic size_t refused = 0;
    (void)state;
    assert_int_equal(pthread_create(&watcher, NULL, watch, NULL), 0);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, crowd, &refused), 0);
    for (size_t i = 0; i < 4; i++)
        (void)pthread_join(threads[i], NULL);
    atomic_store(&finished, true);
    (void)pthread_join(watcher, NULL);
    assert_true(refused > 0);
    print_message("most resident: %.1f MiB of %zu MiB, %zu refused\n",
                  (double)most_resident / (double)MIB, BUDGET / MIB, (size_t)refused);
    assert_true(most_resident <= BUDGET + SLACK);
    assert_true(most_resident >= BUDGET / 2);
    assert_int_equal(fba_blocks_count(), 0);
}

#define TEST(name) cmocka_unit_test_setup(name, begin)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(touched_blocks_fill_the_budget),
        TEST(untouched_blocks_count_before_they_are_resident),
        TEST(what_was_freed_can_be_had_again),
        TEST(pages_kept_by_the_inner_allocator_are_purged),
        TEST(a_large_block_grows_in_place),
        TEST(large_blocks_without_a_table_are_touched),
        TEST(four_threads_stay_within_budget_and_slack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
