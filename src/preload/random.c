/* The allocator's dice, part of libfragbench-clock.so.
 *
 * mimalloc places its segments at a random address even where address randomisation is off: a map
 * of 1 bit a segment then has one page more where they lie on both sides of a TiB, seen in 1 of
 * some 100 runs; scudo shuffles. So what the kernel answers to getrandom is made from the layout's
 * number instead: the same in each run of a layout, another in the next.
 *
 * Allocators call it as syscall(SYS_getrandom), before any constructor ran, so syscall itself is
 * answered here, and every other number goes to the kernel as it is. Looking up libc's by dlsym
 * would be too late and could allocate.
 */
#include "preload/block.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/types.h>

#define EXPORT __attribute__((visibility("default")))
#define ERROR_MAX 4095 /* the kernel returns -errno, never below -4095 */

/* What <unistd.h> and <sys/random.h> declare; not included: their attributes differ by version. */
EXPORT long syscall(long number, ...);
EXPORT ssize_t getrandom(void *buffer, size_t bytes, unsigned flags);

#if defined(__x86_64__)
static long enter_kernel(long number, const long argument[6])
{
    long result;
    register long fourth __asm__("r10") = argument[3];
    register long fifth __asm__("r8") = argument[4];
    register long sixth __asm__("r9") = argument[5];
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(argument[0]), "S"(argument[1]), "d"(argument[2]),
                       "r"(fourth), "r"(fifth), "r"(sixth)
                     : "rcx", "r11", "memory");
    return result;
}
#elif defined(__aarch64__)
static long enter_kernel(long number, const long argument[6])
{
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = argument[0];
    register long x1 __asm__("x1") = argument[1];
    register long x2 __asm__("x2") = argument[2];
    register long x3 __asm__("x3") = argument[3];
    register long x4 __asm__("x4") = argument[4];
    register long x5 __asm__("x5") = argument[5];
    __asm__ volatile("svc 0"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                     : "memory");
    return x0;
}
#else
#error "the system call of this architecture is missing"
#endif

static long call_kernel(long number, const long argument[6])
{
    long result = enter_kernel(number, argument);
    if (result >= 0 || result < -ERROR_MAX)
        return result;
    errno = (int)-result;
    return -1;
}

/* SplitMix64 (Steele, Lea, Flood 2014): each call gets the same bytes, as each is a first one. */
static void fill(unsigned char *out, size_t bytes, uint64_t seed)
{
    for (size_t i = 0; i < bytes; i++) {
        uint64_t z = seed + (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
        z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
        z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
        out[i] = (unsigned char)((z ^ (z >> 31)) >> 56);
    }
}

EXPORT long syscall(long number, ...)
{
    va_list rest;
    va_start(rest, number);
    if (number == SYS_getrandom) {
        void *buffer = va_arg(rest, void *);
        size_t bytes = va_arg(rest, size_t);
        unsigned flags = va_arg(rest, unsigned);
        va_end(rest);
        return getrandom(buffer, bytes, flags);
    }
    long argument[6];
    for (int i = 0; i < 6; i++)
        argument[i] = va_arg(rest, long);
    va_end(rest);
    return call_kernel(number, argument);
}

EXPORT ssize_t getrandom(void *buffer, size_t bytes, unsigned flags)
{
    struct fb_shared *shared = fb_preload_block();
    if (shared == NULL)
        return call_kernel(SYS_getrandom,
                           (long[6]){(long)(uintptr_t)buffer, (long)bytes, (long)flags});
    fill(buffer, bytes, shared->brk_shift_bytes);
    return (ssize_t)bytes;
}
