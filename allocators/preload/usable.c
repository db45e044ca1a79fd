#include "allocators/preload/usable.h"

_Atomic bool fba_usable_by_word;

static struct {
    size_t (*ask)(void *block);
    _Atomic unsigned proofs;
    _Atomic bool refuted; /* or there was nothing to prove */
} state;

void fba_usable_open(size_t (*ask)(void *block), bool is_glibc)
{
    state.ask = ask;
    atomic_store(&fba_usable_by_word, false);
    atomic_store(&state.proofs, 0);
    atomic_store(&state.refuted, !is_glibc || sizeof(size_t) != 8);
}

/* Mappings say nothing about the others: their words have another form. */
static void learn(const void *block, size_t usable)
{
    size_t word;
    memcpy(&word, (const unsigned char *)block - sizeof word, sizeof word);
    if ((word & FBA_CHUNK_MAPPED) != 0)
        return;
    if ((word & ~FBA_CHUNK_FLAGS) - sizeof word != usable) {
        atomic_store(&state.refuted, true);
        return;
    }
    if (atomic_fetch_add(&state.proofs, 1) + 1 == FBA_USABLE_PROOFS && !atomic_load(&state.refuted))
        atomic_store(&fba_usable_by_word, true);
}

size_t fba_usable_ask(void *block)
{
    size_t usable = state.ask(block);
    if (!atomic_load_explicit(&state.refuted, memory_order_relaxed) &&
        !atomic_load_explicit(&fba_usable_by_word, memory_order_relaxed))
        learn(block, usable);
    return usable;
}
