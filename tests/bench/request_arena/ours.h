#ifndef TESTS_BENCH_REQUEST_ARENA_OURS_H
#define TESTS_BENCH_REQUEST_ARENA_OURS_H

#include <stddef.h>

/* One request of so many objects; sizes: of each. */
void ours_fixed(size_t objects);                      /* 32 bytes, all written; inline */
void ours_mixed(const size_t *sizes, size_t objects); /* first word written; inline */
void ours_called(const size_t *sizes, size_t objects,
                 size_t align); /* by a call into the library */

#endif
