/* When a recorded process's memory is looked at, and what is kept of it.
 *
 * How much it holds is cheap to read and asked at every look; what of it is beside the heap costs
 * a walk over its page tables (harness/beside.h). That is done when the process is met, at new
 * peaks and once a second, for at most a fiftieth of the time, but always a little. A peak between
 * two walks is recorded with the parts of the walk behind it, or, at the end, before it.
 */
#ifndef FB_HARNESS_SPOOL_MEMORY_H
#define FB_HARNESS_SPOOL_MEMORY_H

#include "harness/ranges.h"
#include "trace/recording.h"

#include <stdbool.h>
#include <sys/types.h>

struct fb_spool_stack {
    uint32_t thread;
    uint64_t address;
};

struct fb_spool_memory {     /* zeroed: nothing known */
    struct fb_ranges mapped; /* by the program */
    struct fb_spool_stack *stacks;
    size_t stack_count, stack_capacity;

    uint64_t begin_ns, spent_ns; /* of all walks */
    uint64_t looked_ns, walked_ns;
    bool walked;
    bool waits; /* the last walk is not recorded yet, since the process grew under it */
    struct fb_recording_memory last; /* the last walk's */
    uint64_t recorder_bytes;
    uint64_t written_peak_bytes; /* the most that has been recorded */
    uint64_t held_bytes;         /* at the last look */
    uint64_t seen_peak_bytes;    /* the most since the last walk */
};

void fb_spool_memory_map(struct fb_spool_memory *memory, uint64_t address, uint64_t size);
/* Whether any of it was in the set. */
bool fb_spool_memory_unmap(struct fb_spool_memory *memory, uint64_t address, uint64_t size);
void fb_spool_memory_stack(struct fb_spool_memory *memory, uint32_t thread, uint64_t address);
void fb_spool_memory_exit(struct fb_spool_memory *memory, uint32_t thread);

/* What the walk needs to know of the process. */
struct fb_spool_target {
    pid_t pid;
    const char *mapping; /* what the name of a mapping of this image contains, and of no other: a
                            process may have become another since */
    uint64_t own_bytes;  /* the recorder's private memory */
};

/* Looks if it is time to, and records what is worth it. Where the process cannot be read nothing
 * is known, which is no error. */
void fb_spool_memory_look(struct fb_spool_memory *memory, const struct fb_spool_target *target,
                          struct fb_recording_writer *writer);
/* Whether a walk's sum is one of a process that held so much before and after it, but for some per
 * cent. */
bool fb_spool_memory_fits(uint64_t sum_bytes, uint64_t before_bytes, uint64_t after_bytes);
/* Takes a walk's parts and its whole. When the process grew meanwhile the parts may be older than
 * the whole: the next walk takes their place, if the process holds as much then. */
void fb_spool_memory_walked(struct fb_spool_memory *memory, const struct fb_recording_memory *now,
                            bool grew, struct fb_recording_writer *writer);
/* Records a peak that no walk has followed. */
void fb_spool_memory_end(struct fb_spool_memory *memory, struct fb_recording_writer *writer);
void fb_spool_memory_deinit(struct fb_spool_memory *memory);

#endif
