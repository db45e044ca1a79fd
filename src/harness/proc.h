/* Readers of /proc and /sys. All return 0/-1 and never block for long but smaps_rollup (about 27 ms per
 * GiB resident, with the worker's mmap lock held: only at checkpoints). */
#ifndef FB_HARNESS_PROC_H
#define FB_HARNESS_PROC_H

#include "base/error.h"

#include <stdint.h>
#include <sys/types.h>

struct fb_statm {
    uint64_t resident_bytes, shared_bytes; /* footprint = resident − shared */
};
int fb_proc_statm(pid_t pid, struct fb_statm *out, struct fb_error *err) FB_MUST_USE;

struct fb_rollup {
    uint64_t rss_bytes, anonymous_bytes, lazyfree_bytes, huge_bytes, swap_bytes;
    uint64_t shmem_bytes; /* Pss_Shmem */
};
int fb_proc_rollup(pid_t pid, struct fb_rollup *out, struct fb_error *err) FB_MUST_USE;
int fb_proc_mappings(pid_t pid, uint64_t *count, struct fb_error *err) FB_MUST_USE;
/* "MemAvailable:" and friends of /proc/meminfo, in bytes. */
int fb_proc_meminfo(const char *key, uint64_t *bytes, struct fb_error *err) FB_MUST_USE;

#endif
