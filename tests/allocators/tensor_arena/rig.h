/* What the tests of tensor-arena share: a kernel that can refuse, a clock that stands still. */
#ifndef TESTS_TENSOR_ARENA_RIG_H
#define TESTS_TENSOR_ARENA_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)

struct rig {
    uint64_t now_ns;
    bool armed; /* the calls after the first `pass` fail, `fail` of them */
    unsigned pass, fail, failed;
    uint64_t purged_bytes, huge_bytes, mapped_bytes;
};

extern struct rig rig;

/* Puts the rig in the kernel's place; before the first use. */
void rig_install(void);
void rig_arm(unsigned pass, unsigned fail);
/* Fills or checks a block with a pattern of its own; large ones by samples. */
void rig_fill(void *block, size_t size, unsigned seed);
bool rig_holds(const void *block, size_t size, unsigned seed);
/* A row of fragbench_stats(); fails the test when there is none. */
uint64_t rig_stat(const char *name);
/* The same numbers on every machine. */
uint32_t rig_random(uint32_t *state);

#endif
