/* Clocks to measure with, in nanoseconds. */
#ifndef FB_BASE_CLOCK_H
#define FB_BASE_CLOCK_H

#include <stdint.h>

/* CLOCK_MONOTONIC: time that passes, since some moment before. */
uint64_t fb_clock_now_ns(void);
/* Processor time of the calling thread: what something cost, however often it lost the CPU
 * meanwhile. */
uint64_t fb_clock_spent_ns(void);

#endif
