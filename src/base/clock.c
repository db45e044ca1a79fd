#include "base/clock.h"

#include <time.h>

static uint64_t read_ns(clockid_t clock)
{
    struct timespec now;
    (void)clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

uint64_t fb_clock_now_ns(void)
{
    return read_ns(CLOCK_MONOTONIC);
}

uint64_t fb_clock_spent_ns(void)
{
    return read_ns(CLOCK_THREAD_CPUTIME_ID);
}
