/* --shard I/N: which cells of a plan this run takes, and the fingerprint by which shards of one
 * plan know each other.
 *
 * Cells are numbered over the whole plan, unit by unit, contender by contender, from 0; number g is
 * in shard g mod N + 1. Without --shard there is one shard, 1/1, with all of them.
 */
#ifndef FB_COMMANDS_SHARD_H
#define FB_COMMANDS_SHARD_H

#include "commands/options.h"
#include "commands/plan.h"
#include "harness/contender.h"
#include "result/record.h"

#define FB_SHARD_COUNT_MAX 100000U /* job arrays of clusters end far below */

/* "I/N", 1 ≤ I ≤ N ≤ FB_SHARD_COUNT_MAX; INPUT error otherwise. */
int fb_shard_parse(const char *text, struct fb_shard_option *out, struct fb_error *err) FB_MUST_USE;

bool fb_shard_has(const struct fb_shard_option *shard, size_t cell);
/* How many of `total` cells are in the shard. */
size_t fb_shard_size(const struct fb_shard_option *shard, size_t total);
/* The place among the shard's own cells of one that is in it. */
size_t fb_shard_place(const struct fb_shard_option *shard, size_t cell);

/* Marks the units of which no cell is in the shard, so that nothing is made for them. */
void fb_shard_mark(const struct fb_shard_option *shard, struct fb_plan *plan, size_t contenders);

/* Fills the record: index, count, cells of the whole plan, and the SHA-256 over the ids of all
 * cells, the workload files, and every option that makes a run another one. What only says where
 * and how fast (-j, -o, exports) is not in it; neither are the allocators' versions, which merge
 * compares by name. */
void fb_shard_record(const struct fb_plan *plan, const struct fb_contenders *contenders,
                     const struct fb_run_options *options, struct fb_shard *out);

#endif
