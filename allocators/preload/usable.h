/* How many bytes a block of the allocator behind us has, for those that ask at each malloc and
 * free.
 *
 * malloc_usable_size() says it, at the price of a call; glibc's also looks at the header of the
 * chunk *behind* the block, a cache line that nobody else needs. But glibc keeps a chunk's size in
 * the word before the block, where free() will read it anyway:
 *
 *     usable = (word & ~7) − 8, unless bit 1 says that the block is a mapping of its own
 *
 * (glibc's malloc.c, "chunk size"; the same since 1996). That is no interface, so it is not taken
 * on trust: where the allocator is glibc's, the first blocks are asked for by the function,
 * and only after FBA_USABLE_PROOFS answers that were what their words say, and none that was not,
 * the words are read. Debugging allocators under glibc's name, MALLOC_CHECK_ or tagged memory fail
 * the proof and are asked for ever.
 */
#ifndef ALLOCATORS_PRELOAD_USABLE_H
#define ALLOCATORS_PRELOAD_USABLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define FBA_USABLE_PROOFS 256U

#define FBA_CHUNK_FLAGS ((size_t)7)
#define FBA_CHUNK_MAPPED ((size_t)2)

extern _Atomic bool fba_usable_by_word;

/* Called once, before the others, with the allocator's malloc_usable_size. */
void fba_usable_open(size_t (*ask)(void *block), bool is_glibc);
/* Asks it, and learns. */
size_t fba_usable_ask(void *block);

static inline size_t fba_usable_of(void *block)
{
    size_t word;
    if (__builtin_expect(!atomic_load_explicit(&fba_usable_by_word, memory_order_relaxed), 0))
        return fba_usable_ask(block);
    memcpy(&word, (const unsigned char *)block - sizeof word, sizeof word);
    if (__builtin_expect((word & FBA_CHUNK_MAPPED) != 0, 0))
        return fba_usable_ask(block);
    return (word & ~FBA_CHUNK_FLAGS) - sizeof word;
}

#endif
