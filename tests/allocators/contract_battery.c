/* What every allocator owes a program, as a program: run under LD_PRELOAD of any allocator.
 *
 *     contract_battery [CHECK …]     all checks but those named; prints each that fails
 *
 * The promises are glibc's manual and POSIX. Allocators that are not ours break some of them;
 * which, says the list in CMakeLists.txt. Exit code 0: all kept; 1: some broken. A crash is a
 * broken one, too.
 */
#include "contract_battery.h"

#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)

/* Sizes around every border that an allocator may have. */
static const size_t sizes[] = {1,
                               7,
                               8,
                               16,
                               17,
                               24,
                               63,
                               64,
                               100,
                               255,
                               1024,
                               1025,
                               4095,
                               4096,
                               4097,
                               16 * 1024,
                               32 * 1024 + 1,
                               65536,
                               100000,
                               131072,
                               131073,
                               262144,
                               1000000,
                               1048576,
                               4194304,
                               4194305,
                               33554432,
                               50000000};

static unsigned char *early_block; /* made by a constructor */
static volatile size_t opaque;     /* keeps the compiler from reasoning about sizes */

static size_t hidden(size_t size)
{
    return size + opaque;
}

__attribute__((constructor(101))) static void before_main(void)
{
    early_block = malloc(1000);
    if (early_block != NULL)
        memset(early_block, 0x5A, 1000);
    free(malloc(50000));
}

static bool calls_before_main(void)
{
    REQUIRE(early_block != NULL && is_filled(early_block, 0x5A, 1000));
    early_block = realloc(early_block, 5000);
    REQUIRE(early_block != NULL && is_filled(early_block, 0x5A, 1000));
    free(early_block);
    return true;
}

static bool zero_size_is_a_block(void)
{
    void *first = malloc(hidden(0)), *second = malloc(hidden(0));
    REQUIRE(first != NULL && second != NULL && first != second);
    free(first);
    free(second);
    void *zeroed = calloc(hidden(0), 8);
    REQUIRE(zeroed != NULL);
    free(zeroed);
    return true;
}

static bool blocks_are_aligned_to_sixteen(void)
{
    for (size_t i = 0; i < COUNT(sizes); i++) {
        void *block = malloc(sizes[i]);
        REQUIRE(block != NULL && (uintptr_t)block % 16 == 0);
        free(block);
    }
    return true;
}

static bool usable_bytes_can_be_written(void)
{
    for (size_t i = 0; i < COUNT(sizes); i++) {
        unsigned char *block = malloc(sizes[i]), *neighbour = malloc(sizes[i]);
        REQUIRE(block != NULL && neighbour != NULL);
        size_t usable = malloc_usable_size(block);
        REQUIRE(usable >= sizes[i]);
        memset(neighbour, 0x11, sizes[i]);
        memset(block, 0xEE, usable);
        REQUIRE(is_filled(neighbour, 0x11, sizes[i]));
        free(block);
        free(neighbour);
    }
    REQUIRE(malloc_usable_size(NULL) == 0);
    return true;
}

static bool free_keeps_errno(void)
{
    for (size_t i = 0; i < COUNT(sizes); i++) {
        void *block = malloc(sizes[i]);
        REQUIRE(block != NULL);
        errno = 4242;
        free(block);
        REQUIRE(errno == 4242);
    }
    free(NULL);
    REQUIRE(errno == 4242);
    return true;
}

static bool success_keeps_errno(void)
{
    for (size_t i = 0; i < COUNT(sizes); i++) {
        errno = 4242;
        void *block = malloc(sizes[i]);
        REQUIRE(block != NULL && errno == 4242);
        free(block);
    }
    return true;
}

static bool calloc_zeroes_used_memory(void)
{
    for (size_t i = 0; i < COUNT(sizes); i++) {
        for (int round = 0; round < 3; round++) {
            unsigned char *block = calloc(1, sizes[i]);
            REQUIRE(block != NULL && is_filled(block, 0, sizes[i]));
            memset(block, 0xFF, malloc_usable_size(block));
            free(block);
        }
    }
    return true;
}

static bool calloc_refuses_overflow(void)
{
    errno = 0;
    REQUIRE(calloc(hidden(SIZE_MAX / 2), 4) == NULL && errno == ENOMEM);
    errno = 0;
    REQUIRE(calloc(hidden((size_t)1 << 33), (size_t)1 << 33) == NULL && errno == ENOMEM);
    errno = 0;
    REQUIRE(calloc(hidden((size_t)PTRDIFF_MAX + 1), 1) == NULL && errno == ENOMEM);
    return true;
}

static bool refuses_more_than_ptrdiff_max(void)
{
    static const size_t wanted[] = {PTRDIFF_MAX, (size_t)PTRDIFF_MAX + 1, SIZE_MAX - 64, SIZE_MAX};
    for (size_t i = 0; i < COUNT(wanted); i++) {
        errno = 0;
        REQUIRE(malloc(hidden(wanted[i])) == NULL && errno == ENOMEM);
        errno = 0;
        REQUIRE(memalign(64, hidden(wanted[i])) == NULL && errno == ENOMEM);
    }
    return true;
}

static bool realloc_of_null_allocates(void)
{
    unsigned char *block = realloc(NULL, hidden(100));
    REQUIRE(block != NULL);
    memset(block, 1, 100);
    free(block);
    return true;
}

static bool realloc_to_zero_frees(void)
{
    unsigned char *block = malloc(100);
    REQUIRE(block != NULL);
    REQUIRE(realloc(block, hidden(0)) == NULL);
    return true;
}

static bool realloc_keeps_content(void)
{
    for (size_t i = 0; i < COUNT(sizes); i++) {
        for (size_t k = 0; k < COUNT(sizes); k++) {
            size_t least = sizes[i] < sizes[k] ? sizes[i] : sizes[k];
            size_t checked = least < 70000 ? least : 70000;
            unsigned char *block = malloc(sizes[i]);
            REQUIRE(block != NULL);
            memset(block, (int)(i + 1), checked);
            block[least - 1] = 0x77;
            block = realloc(block, sizes[k]);
            REQUIRE(block != NULL && malloc_usable_size(block) >= sizes[k]);
            REQUIRE(is_filled(block, (unsigned char)(i + 1), checked - 1));
            REQUIRE(block[least - 1] == 0x77);
            free(block);
        }
    }
    return true;
}

static bool failed_realloc_leaves_the_block(void)
{
    unsigned char *block = malloc(1000);
    REQUIRE(block != NULL);
    memset(block, 0x42, 1000);
    errno = 0;
    unsigned char *grown = realloc(block, hidden((size_t)PTRDIFF_MAX + 1));
    REQUIRE(grown == NULL && errno == ENOMEM);
    errno = 0;
    grown = reallocarray(block, hidden(SIZE_MAX / 2), 4);
    REQUIRE(grown == NULL && errno == ENOMEM);
    REQUIRE(is_filled(block, 0x42, 1000));
    free(block);
    return true;
}

static bool reallocarray_resizes(void)
{
    unsigned *numbers = reallocarray(NULL, 10, sizeof *numbers);
    REQUIRE(numbers != NULL);
    numbers[9] = 99;
    numbers = reallocarray(numbers, 10000, sizeof *numbers);
    REQUIRE(numbers != NULL && numbers[9] == 99);
    free(numbers);
    return true;
}

static bool alignments_are_kept(void)
{
    for (size_t align = 8; align <= 4 * MIB; align *= 2) {
        static const size_t wanted[] = {1, 100, 5000, 70000, 3000000};
        for (size_t i = 0; i < COUNT(wanted); i++) {
            void *blocks[3] = {aligned_alloc(align, wanted[i]), memalign(align, wanted[i]), NULL};
            REQUIRE(posix_memalign(&blocks[2], align, wanted[i]) == 0);
            for (size_t k = 0; k < COUNT(blocks); k++) {
                REQUIRE(blocks[k] != NULL && (uintptr_t)blocks[k] % align == 0);
                REQUIRE(malloc_usable_size(blocks[k]) >= wanted[i]);
                memset(blocks[k], 0xCC, malloc_usable_size(blocks[k]));
            }
            for (size_t k = 0; k < COUNT(blocks); k++)
                free(blocks[k]);
        }
    }
    return true;
}

static bool aligned_blocks_can_be_resized(void)
{
    for (size_t align = 32; align <= 64 * KIB; align *= 4) {
        unsigned char *block = aligned_alloc(align, 3000);
        REQUIRE(block != NULL);
        memset(block, 0x21, 3000);
        block = realloc(block, 300000);
        REQUIRE(block != NULL && is_filled(block, 0x21, 3000));
        block = realloc(block, 100);
        REQUIRE(block != NULL && is_filled(block, 0x21, 100));
        free(block);
    }
    return true;
}

static bool posix_memalign_reports_by_its_result(void)
{
    static const size_t bad[] = {0, 1, 2, 3, 4, 24, 48, 100};
    static char anything;
    void *const untouched = &anything;
    void *block = untouched;
    for (size_t i = 0; i < COUNT(bad); i++)
        REQUIRE(posix_memalign(&block, hidden(bad[i]), 100) == EINVAL && block == untouched);
    errno = 4242;
    REQUIRE(posix_memalign(&block, 64, hidden((size_t)PTRDIFF_MAX + 1)) == ENOMEM);
    REQUIRE(block == untouched);
    return true;
}

static bool posix_memalign_keeps_errno(void)
{
    void *block = NULL;
    errno = 4242;
    REQUIRE(posix_memalign(&block, 64, hidden((size_t)PTRDIFF_MAX + 1)) == ENOMEM);
    REQUIRE(errno == 4242);
    return true;
}

static bool aligned_alloc_refuses_odd_alignments(void)
{
    static const size_t bad[] = {0, 3, 24, 100};
    for (size_t i = 0; i < COUNT(bad); i++) {
        errno = 0;
        REQUIRE(aligned_alloc(hidden(bad[i]), 200) == NULL && errno == EINVAL);
    }
    return true;
}

static bool memalign_rounds_alignments_up(void)
{
    void *block = memalign(hidden(100), 1000);
    REQUIRE(block != NULL && (uintptr_t)block % 128 == 0);
    free(block);
    return true;
}

static bool page_functions_give_pages(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *single = valloc(100), *whole = pvalloc(page + 1);
    REQUIRE(single != NULL && (uintptr_t)single % page == 0);
    REQUIRE(whole != NULL && (uintptr_t)whole % page == 0);
    REQUIRE(malloc_usable_size(whole) >= 2 * page);
    free(single);
    free(whole);
    errno = 0;
    REQUIRE(pvalloc(hidden(SIZE_MAX - 10)) == NULL && errno == ENOMEM);
    return true;
}

#define CHECK(name) \
    {               \
#name, name \
    }

static const struct {
    const char *name;
    bool (*run)(void);
} checks[] = {
    CHECK(calls_before_main),
    CHECK(zero_size_is_a_block),
    CHECK(blocks_are_aligned_to_sixteen),
    CHECK(usable_bytes_can_be_written),
    CHECK(free_keeps_errno),
    CHECK(success_keeps_errno),
    CHECK(calloc_zeroes_used_memory),
    CHECK(calloc_refuses_overflow),
    CHECK(refuses_more_than_ptrdiff_max),
    CHECK(realloc_of_null_allocates),
    CHECK(realloc_to_zero_frees),
    CHECK(realloc_keeps_content),
    CHECK(failed_realloc_leaves_the_block),
    CHECK(reallocarray_resizes),
    CHECK(alignments_are_kept),
    CHECK(aligned_blocks_can_be_resized),
    CHECK(posix_memalign_reports_by_its_result),
    CHECK(posix_memalign_keeps_errno),
    CHECK(aligned_alloc_refuses_odd_alignments),
    CHECK(memalign_rounds_alignments_up),
    CHECK(page_functions_give_pages),
    CHECK(threads_do_not_disturb_each_other),
    CHECK(blocks_outlive_their_thread),
    CHECK(fork_works_while_threads_allocate),
};

static bool is_named(int count, char **names, const char *name)
{
    for (int i = 1; i < count; i++) {
        if (strcmp(names[i], name) == 0)
            return true;
    }
    return false;
}

int main(int argc, char **argv)
{
    int broken = 0;
    for (size_t i = 0; i < COUNT(checks); i++) {
        if (is_named(argc, argv, checks[i].name) || checks[i].run())
            continue;
        fprintf(stderr, "broken: %s\n", checks[i].name);
        broken++;
    }
    return broken == 0 ? 0 : 1;
}
