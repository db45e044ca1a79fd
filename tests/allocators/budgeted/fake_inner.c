#include "allocators/budgeted/fake_inner.h"

#include "preload/contract.h"
#include "preload/inner.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define HEADER ((size_t)16)

struct header {
    size_t usable;
    size_t offset; /* of the block in what malloc gave */
};

static struct {
    _Atomic size_t blocks, purges, calls, fail_at;
} state;

size_t fake_inner_rounded(size_t size)
{
    size_t step = 16;
    while (step * 8 <= size)
        step *= 2;
    return (size + step - 1) & ~(step - 1);
}

static struct header *header_of(void *block)
{
    return (struct header *)(void *)((unsigned char *)block - HEADER);
}

static void *make(size_t size, size_t align)
{
    size_t offset = align > HEADER ? align : HEADER, usable = fake_inner_rounded(size);
    if (atomic_fetch_add(&state.calls, 1) + 1 == atomic_load(&state.fail_at))
        return NULL;
    unsigned char *base = aligned_alloc(offset, (offset + usable + offset - 1) & ~(offset - 1));
    if (base == NULL)
        return NULL;
    *header_of(base + offset) = (struct header){.usable = usable, .offset = offset};
    atomic_fetch_add(&state.blocks, 1);
    return base + offset;
}

static void *fake_malloc(size_t size)
{
    return make(size, HEADER);
}

static void *fake_calloc(size_t count, size_t size)
{
    void *block = make(count * size, HEADER);
    if (block != NULL)
        memset(block, 0, count * size);
    return block;
}

static void fake_free(void *block)
{
    atomic_fetch_sub(&state.blocks, 1);
    free((unsigned char *)block - header_of(block)->offset);
}

static size_t fake_usable(void *block)
{
    return header_of(block)->usable;
}

static void *fake_realloc(void *block, size_t size)
{
    void *fresh = make(size, HEADER);
    if (fresh == NULL)
        return NULL;
    memcpy(fresh, block, fake_usable(block) < size ? fake_usable(block) : size);
    fake_free(block);
    return fresh;
}

static int fake_posix_memalign(void **out, size_t align, size_t size)
{
    void *block = make(size, align);
    if (block != NULL)
        *out = block;
    return block != NULL ? 0 : 12;
}

static void fake_purge(void)
{
    atomic_fetch_add(&state.purges, 1);
}

const struct fba_inner *fba_inner(void)
{
    static const struct fba_inner inner = {
        .malloc = fake_malloc,
        .calloc = fake_calloc,
        .realloc = fake_realloc,
        .free = fake_free,
        .posix_memalign = fake_posix_memalign,
        .malloc_usable_size = fake_usable,
        .purge = fake_purge,
    };
    return &inner;
}

unsigned char fba_bootstrap[FBA_BOOTSTRAP_BYTES];

void *fba_bootstrap_allocate(size_t size, size_t align)
{
    (void)size;
    (void)align;
    fba_panic("bootstrap memory is not needed here");
}

size_t fba_bootstrap_usable(const void *block)
{
    (void)block;
    fba_panic("no block can be in bootstrap memory");
}

void fake_inner_fail_at(size_t nth)
{
    atomic_store(&state.fail_at, nth == 0 ? 0 : atomic_load(&state.calls) + nth);
}

size_t fake_inner_purges(void)
{
    return atomic_load(&state.purges);
}

size_t fake_inner_blocks(void)
{
    return atomic_load(&state.blocks);
}

size_t fake_inner_calls(void)
{
    return atomic_load(&state.calls);
}
