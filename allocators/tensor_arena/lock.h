/* A lock of four bytes that never allocates and that fork() can hand over: 0 free, 1 held, 2 held
 * and somebody sleeps (Drepper, "Futexes Are Tricky", mutex 3). Statically 0 is free.
 */
#ifndef ALLOCATORS_TENSOR_ARENA_LOCK_H
#define ALLOCATORS_TENSOR_ARENA_LOCK_H

#include <stdatomic.h>
#include <stdint.h>

struct ta_lock {
    _Atomic uint32_t word;
};

void ta_lock_wait(struct ta_lock *lock);
void ta_lock_wake(struct ta_lock *lock);

static inline void ta_lock(struct ta_lock *lock)
{
    uint32_t free_word = 0;
    if (__builtin_expect(!atomic_compare_exchange_strong_explicit(&lock->word, &free_word, 1,
                                                                  memory_order_acquire,
                                                                  memory_order_relaxed),
                         0))
        ta_lock_wait(lock);
}

static inline void ta_unlock(struct ta_lock *lock)
{
    if (__builtin_expect(atomic_exchange_explicit(&lock->word, 0, memory_order_release) == 2, 0))
        ta_lock_wake(lock);
}

#endif
