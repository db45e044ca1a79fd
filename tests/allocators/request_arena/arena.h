/* What the tests of request-arena share. */
#ifndef TESTS_REQUEST_ARENA_ARENA_H
#define TESTS_REQUEST_ARENA_ARENA_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fragbench/request_arena.h>

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)

/* A row of fragbench_stats(); fails the test when there is none of that name. */
uint64_t arena_stat(const char *name);
/* Sets option NAME of request-arena; before the first use only. */
void arena_set(const char *name, const char *value);
/* Whether block is an object of a room, not the inner allocator's. */
int arena_in_room(const void *block);
/* Fills or checks size bytes with a pattern of seed's own; of what is beyond the first page,
 * samples. */
void arena_fill(void *block, size_t size, unsigned seed);
int arena_holds(const void *block, size_t size, unsigned seed);

#endif
