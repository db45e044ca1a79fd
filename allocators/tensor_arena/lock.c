#include "tensor_arena/lock.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SPINS = 60 };

static void relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

void ta_lock_wait(struct ta_lock *lock)
{
    int saved = errno;
    for (int spin = 0; spin < SPINS; spin++) {
        uint32_t free_word = 0;
        if (atomic_load_explicit(&lock->word, memory_order_relaxed) == 0 &&
            atomic_compare_exchange_weak_explicit(&lock->word, &free_word, 1, memory_order_acquire,
                                                  memory_order_relaxed))
            return;
        relax();
    }
    while (atomic_exchange_explicit(&lock->word, 2, memory_order_acquire) != 0)
        (void)syscall(SYS_futex, &lock->word, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
    errno = saved;
}

void ta_lock_wake(struct ta_lock *lock)
{
    int saved = errno;
    (void)syscall(SYS_futex, &lock->word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    errno = saved;
}
