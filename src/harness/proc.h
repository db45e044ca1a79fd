/* Readers of /proc and /sys. All return 0/-1 and never block for long but smaps_rollup (about 27 ms
 * per GiB resident, with the worker's mmap lock held: only at checkpoints).
 *
 * The *_parse functions work on text alone, for tests; they return -1 when a field is missing.
 */
#ifndef FB_HARNESS_PROC_H
#define FB_HARNESS_PROC_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A small file as terminated text, cut at size - 1 bytes. */
int fb_proc_read(const char *path, char *buffer, size_t size, struct fb_error *err) FB_MUST_USE;
/* The value of a "Key:   123 kB" line in bytes; the key includes its colon. */
int fb_proc_field_parse(const char *text, const char *key, uint64_t *bytes) FB_MUST_USE;

struct fb_statm {
    uint64_t resident_bytes, shared_bytes; /* footprint = resident − shared */
};
int fb_proc_statm(pid_t pid, struct fb_statm *out, struct fb_error *err) FB_MUST_USE;
int fb_proc_statm_parse(const char *text, uint64_t page_bytes, struct fb_statm *out) FB_MUST_USE;

struct fb_rollup {
    uint64_t rss_bytes, anonymous_bytes, lazyfree_bytes, huge_bytes, swap_bytes;
    uint64_t shmem_bytes; /* Pss_Shmem */
};
int fb_proc_rollup(pid_t pid, struct fb_rollup *out, struct fb_error *err) FB_MUST_USE;
int fb_proc_rollup_parse(const char *text, struct fb_rollup *out) FB_MUST_USE;

/* RssAnon + VmSwap of /proc/PID/status in bytes: some 15 µs, for the memory limit. */
int fb_proc_held(pid_t pid, uint64_t *bytes, struct fb_error *err) FB_MUST_USE;

struct fb_maps {
    uint64_t count;         /* mappings */
    uint64_t harness_bytes; /* resident pages of shared mappings: the block, the trace, stacks */
};
/* One pass over /proc/PID/maps. Residency comes from pagemap, 8 bytes a page, so the cost follows
 * the harness's mappings and not the heap. */
int fb_proc_maps(pid_t pid, struct fb_maps *out, struct fb_error *err) FB_MUST_USE;
/* The count alone. */
int fb_proc_mappings(pid_t pid, uint64_t *count, struct fb_error *err) FB_MUST_USE;

/* "MemAvailable:" and friends of /proc/meminfo, in bytes. */
int fb_proc_meminfo(const char *key, uint64_t *bytes, struct fb_error *err) FB_MUST_USE;
/* Processes that the kernel's OOM killer has ended since boot (/proc/vmstat, Linux ≥ 4.13). */
int fb_proc_oom_kills(uint64_t *count, struct fb_error *err) FB_MUST_USE;

#endif
