/* What tensor-arena asks of the kernel, behind one table, so that tests can refuse the n-th call
 * and move the clock.
 *
 * Every function leaves errno alone for success. None allocates.
 */
#ifndef ALLOCATORS_TENSOR_ARENA_OS_H
#define ALLOCATORS_TENSOR_ARENA_OS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ta_os {
    /* Address space without memory behind it; NULL when refused. */
    void *(*reserve)(size_t bytes);
    /* Makes a part of a reservation usable: 0, or -1 when refused. */
    int (*commit)(void *start, size_t bytes);
    /* Usable memory of its own; NULL when refused. */
    void *(*map)(size_t bytes);
    void (*unmap)(void *start, size_t bytes);
    /* Resizes what map() gave, moving it if need be; NULL leaves it as it was. */
    void *(*remap)(void *start, size_t old_bytes, size_t new_bytes);
    /* Gives the pages back; they read as zeros afterwards. -1 where the kernel refuses (mlock). */
    int (*purge)(void *start, size_t bytes);
    /* Asks for huge pages, or for none; -1 where there are none, which nobody minds. */
    int (*huge)(void *start, size_t bytes, bool wanted);
    /* Monotonic, in ns; a few ms coarse. */
    uint64_t (*now_ns)(void);
};

/* The real one; ta_os_set() is for tests, before anything is open. */
extern const struct ta_os ta_os_linux;
extern const struct ta_os *ta_os;
void ta_os_set(const struct ta_os *calls);

/* Bytes of memory in the machine, and of address space that the process may still take. */
uint64_t ta_os_memory_bytes(void);
uint64_t ta_os_address_bytes(void);

#endif
