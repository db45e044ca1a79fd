/* Joining the shards of one plan (run --shard I/N) into one result.
 *
 * What must be the same in all shards, because it decides memory: the plan, fragbench, libc, the
 * architecture, page size, number of CPUs (allocators size their arenas by it), huge pages, each
 * allocator's version and file, each workload's trace. Kernels, CPU models and memory may differ:
 * a cell under the virtual clock depends on none of them; times do, so every cell keeps the part
 * it came from and every part its host. No files are touched here (store.h copies the series).
 */
#ifndef FB_RESULT_MERGE_H
#define FB_RESULT_MERGE_H

#include "base/buf.h"
#include "result/record.h"

struct fb_merge_input {
    const char *path; /* as given; named in messages */
    struct fb_result result;
};

/* Sorts the inputs by shard, then refuses (INPUT, with both values and paths): results that are no
 * shards or of different plans, one shard twice, a shard with other cells than its number says,
 * differing facts, and, unless partial, missing shards. */
int fb_merge_check(struct fb_merge_input *inputs, size_t count, bool partial,
                   struct fb_error *err) FB_MUST_USE;

/* The shards that checked inputs lack: "2, 5 to 9"; NULL when none. New string. */
char *fb_merge_missing(const struct fb_merge_input *inputs, size_t count);

/* One line each on what a person should know of checked inputs: machines that differ, shards that
 * did not come to their end. */
void fb_merge_notes(const struct fb_merge_input *inputs, size_t count, struct fb_buf *out);

/* Moves the cells of checked inputs into *out, in the order of the unsharded run, with a part for
 * each input; the inputs are left without cells. argv is the caller's to fill. */
void fb_merge_take(struct fb_merge_input *inputs, size_t count, struct fb_result *out);

#endif
