/* An inner allocator that a test can watch and make fail; stands in for preload/inner.c.
 *
 * Rounds up like jemalloc: to a quarter of the next lower power of two, at least 16 bytes. Memory
 * comes from the process's malloc, so a sanitizer sees every misuse.
 */
#ifndef TESTS_ALLOCATORS_BUDGETED_FAKE_INNER_H
#define TESTS_ALLOCATORS_BUDGETED_FAKE_INNER_H

#include <stddef.h>

/* The nth allocating call from now on returns NULL (1 = the next one); 0 = none. */
void fake_inner_fail_at(size_t nth);
size_t fake_inner_purges(void);
size_t fake_inner_blocks(void); /* now alive */
size_t fake_inner_calls(void);  /* allocating ones so far */
/* What size is rounded up to. */
size_t fake_inner_rounded(size_t size);

#endif
