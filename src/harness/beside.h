/* A process's anonymous memory, and how much of it is beside the heap.
 *
 * By where the pages are, exact unless said: what was written of file mappings and the .bss behind
 * them is data of the program and its libraries; then stacks; then what lies in ranges that the
 * program mapped by itself. All else is counted as the heap's: a thread that never called malloc
 * is not known, so its stack is there, and so is what the loader took before libc was ready.
 */
#ifndef FB_HARNESS_BESIDE_H
#define FB_HARNESS_BESIDE_H

#include "base/error.h"
#include "harness/mappings.h"
#include "harness/ranges.h"
#include "trace/recording.h"

#include <sys/types.h>

struct fb_beside {
    const struct fb_ranges *mapped; /* by the program */
    const uint64_t *stacks;         /* an address within the last page of each thread's stack */
    size_t stack_count;
    uint64_t own_bytes; /* the recorder's own private memory, in none of these */
};

struct fb_beside_sum {
    struct fb_recording_memory memory;
    uint64_t recorder_bytes; /* the recorder's: in the kernel's count, in none of memory's */
};

/* Reads smaps: some 27 ms per GiB resident, with the process's mmap lock held. */
int fb_beside_measure(pid_t pid, const struct fb_beside *beside, struct fb_beside_sum *out,
                      struct fb_error *err) FB_MUST_USE;
/* The same of mappings with sizes; pagemap: a descriptor of /proc/PID/pagemap, asked only where a
 * mapping is in part one thing and in part another, −1: such a mapping is divided by addresses. */
void fb_beside_sum(const struct fb_mappings *mappings, int pagemap, const struct fb_beside *beside,
                   struct fb_beside_sum *out);

#endif
