/* libfragbench-clock.so: the allocator's clock.
 *
 * Preloaded before the allocator in both clock modes, so that the two differ in
 * nothing else. Virtual: clock_gettime, gettimeofday, time and the sleeps are
 * answered from the shared block, which the worker advances. Real: passed through.
 *
 * Allocators read the clock before any constructor ran (jemalloc twice, mimalloc
 * three times and then tens of thousands of times), so the block is mapped at the
 * first call, whoever makes it, and the path after that is a load and an add.
 * Without the block (somebody preloaded this by hand) everything passes through.
 *
 * It also moves the program break by the layout's shift: with address randomisation
 * off nothing else places the brk heap differently from layout to layout.
 *
 * No allocation, no lock, no dlsym before main (dlsym's failure path allocates).
 */
#include "preload/block.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

/* Where virtual time begins: a machine that has been up for 1000 s, on 2026-01-01. */
#define BOOT_NS (UINT64_C(1000) * 1000000000U)
#define EPOCH_NS (UINT64_C(1767225600) * 1000000000U)
#define NS_PER_S UINT64_C(1000000000)

typedef int clock_gettime_function(clockid_t, struct timespec *);

static struct {
    struct fb_shared *_Atomic shared;
    _Atomic bool looked;                          /* the block was searched for: there or not */
    clock_gettime_function *_Atomic real_gettime; /* vDSO path, after the constructor */
} state;

static struct fb_shared *look(void)
{
    struct stat status;
    struct fb_shared *found = NULL;
    int saved = errno;
    if (fstat(FB_FD_SHARED, &status) == 0 && S_ISREG(status.st_mode) &&
        (size_t)status.st_size >= sizeof(struct fb_shared)) {
        void *memory = mmap(NULL, sizeof(struct fb_shared), PROT_READ | PROT_WRITE, MAP_SHARED,
                            FB_FD_SHARED, 0);
        if (memory != MAP_FAILED)
            found = memory;
        if (found != NULL && found->magic != FB_SHARED_MAGIC) {
            (void)munmap(memory, sizeof(struct fb_shared));
            found = NULL;
        }
    }
    atomic_store(&state.shared, found);
    atomic_store(&state.looked, true);
    errno = saved;
    return found;
}

struct fb_shared *fb_preload_block(void)
{
    struct fb_shared *shared = atomic_load_explicit(&state.shared, memory_order_acquire);
    if (__builtin_expect(shared == NULL, false) && !atomic_load(&state.looked))
        shared = look();
    return shared;
}

/* The block under the virtual clock, else NULL. */
static inline struct fb_shared *virtual_block(void)
{
    struct fb_shared *shared = fb_preload_block();
    if (shared == NULL || shared->clock_mode != FB_CLOCK_VIRTUAL || shared->mode == FB_MODE_TIMING)
        return NULL;
    return shared;
}

static inline void count(_Atomic uint64_t *counter)
{
    /* Not an atomic add: a lost count does no harm, a locked instruction in each read does. */
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + 1,
                          memory_order_relaxed);
}

static uint64_t virtual_now(struct fb_shared *shared, bool wall)
{
    count(&shared->clock_calls);
    uint64_t now = atomic_load_explicit(&shared->now_ns, memory_order_relaxed);
    return now + (wall ? EPOCH_NS : BOOT_NS);
}

static void virtual_sleep(struct fb_shared *shared, uint64_t ns)
{
    count(&shared->sleep_calls);
    atomic_fetch_add_explicit(&shared->now_ns, ns, memory_order_relaxed);
}

static int raw_gettime(clockid_t clock, struct timespec *now)
{
    clock_gettime_function *real = atomic_load_explicit(&state.real_gettime, memory_order_relaxed);
    if (real != NULL)
        return real(clock, now);
    return (int)syscall(SYS_clock_gettime, clock, now);
}

/* libc's headers name these parameters with underscores of their own. */
/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name) */
EXPORT int clock_gettime(clockid_t clock, struct timespec *now)
{
    struct fb_shared *shared = virtual_block();
    if (shared == NULL)
        return raw_gettime(clock, now);
    bool wall = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI;
    uint64_t ns = virtual_now(shared, wall);
    *now = (struct timespec){.tv_sec = (time_t)(ns / NS_PER_S), .tv_nsec = (long)(ns % NS_PER_S)};
    return 0;
}

EXPORT int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
    struct timespec precise;
    (void)zone;
    int result = clock_gettime(CLOCK_REALTIME, &precise);
    if (result == 0)
        *now = (struct timeval){.tv_sec = precise.tv_sec, .tv_usec = precise.tv_nsec / 1000};
    return result;
}

EXPORT time_t time(time_t *out)
{
    struct timespec precise;
    if (clock_gettime(CLOCK_REALTIME, &precise) != 0)
        return (time_t)-1;
    if (out != NULL)
        *out = precise.tv_sec;
    return precise.tv_sec;
}

EXPORT int clock_nanosleep(clockid_t clock, int flags, const struct timespec *wanted,
                           struct timespec *left)
{
    struct fb_shared *shared = virtual_block();
    if (shared == NULL)
        return syscall(SYS_clock_nanosleep, clock, flags, wanted, left) == 0 ? 0 : errno;
    uint64_t ns = (uint64_t)wanted->tv_sec * NS_PER_S + (uint64_t)wanted->tv_nsec;
    if ((flags & TIMER_ABSTIME) != 0) {
        struct timespec now;
        (void)clock_gettime(clock, &now);
        uint64_t now_ns = (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
        ns = ns > now_ns ? ns - now_ns : 0;
    }
    virtual_sleep(shared, ns);
    return 0;
}

EXPORT int nanosleep(const struct timespec *wanted, struct timespec *left)
{
    int failed = clock_nanosleep(CLOCK_MONOTONIC, 0, wanted, left);
    if (failed != 0)
        errno = failed;
    return failed == 0 ? 0 : -1;
}

EXPORT int usleep(useconds_t us)
{
    struct timespec wanted = {.tv_sec = us / 1000000U, .tv_nsec = (long)(us % 1000000U) * 1000L};
    return nanosleep(&wanted, NULL);
}

EXPORT unsigned sleep(unsigned seconds)
{
    struct timespec wanted = {.tv_sec = seconds}, left = {0};
    return nanosleep(&wanted, &left) == 0 ? 0 : (unsigned)left.tv_sec;
}

/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */

__attribute__((constructor)) static void set_up(void)
{
    (void)virtual_block();
    struct fb_shared *shared = atomic_load(&state.shared);
    if (shared != NULL && shared->brk_shift_bytes != 0)
        (void)sbrk((intptr_t)shared->brk_shift_bytes);
    clock_gettime_function *real =
        (clock_gettime_function *)(uintptr_t)dlsym(RTLD_NEXT, "clock_gettime");
    atomic_store_explicit(&state.real_gettime, real, memory_order_relaxed);
}
