/* What the two files of the battery share. */
#ifndef TESTS_ALLOCATORS_CONTRACT_BATTERY_H
#define TESTS_ALLOCATORS_CONTRACT_BATTERY_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))
/* One line a broken promise; the check goes on no further. */
#define REQUIRE(condition)                                                                    \
    do {                                                                                      \
        if (!(condition)) {                                                                   \
            fprintf(stderr, "line %d: not so: %s (errno %d)\n", __LINE__, #condition, errno); \
            return false;                                                                     \
        }                                                                                     \
    } while (0)

static inline bool is_filled(const unsigned char *block, unsigned char byte, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (block[i] != byte)
            return false;
    }
    return true;
}

/* contract_threads.c */
bool threads_do_not_disturb_each_other(void);
bool blocks_outlive_their_thread(void);
bool fork_works_while_threads_allocate(void);

#endif
