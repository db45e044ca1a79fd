/* Time inside the worker. The C library's clock functions are answered by the clock
 * library, so the worker's own timing uses the raw system call. */
#ifndef FB_WORKER_CLOCK_H
#define FB_WORKER_CLOCK_H

#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static inline uint64_t fb_clock_raw_ns(void)
{
    struct timespec now = {0};
    (void)syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

static inline void fb_clock_raw_sleep_until(uint64_t deadline_ns)
{
    struct timespec until = {.tv_sec = (time_t)(deadline_ns / 1000000000U),
                             .tv_nsec = (long)(deadline_ns % 1000000000U)};
    while (syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) != 0 &&
           fb_clock_raw_ns() < deadline_ns) {
    }
}

/* The processor's tick counter, ordered against the loads and stores around it. */
static inline uint64_t fb_clock_ticks(void)
{
#if defined(__x86_64__)
    uint32_t low, high;
    __asm__ volatile("lfence\n\trdtsc\n\tlfence" : "=a"(low), "=d"(high)::"memory");
    return (uint64_t)high << 32 | low;
#elif defined(__aarch64__)
    uint64_t ticks;
    __asm__ volatile("isb\n\tmrs %0, cntvct_el0\n\tisb" : "=r"(ticks)::"memory");
    return ticks;
#else
    return fb_clock_raw_ns();
#endif
}

#endif
