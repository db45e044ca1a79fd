/* `--explain`: attribution of a run's first repetitions, and the purged second runs. */
#ifndef FB_COMMANDS_EXPLAIN_H
#define FB_COMMANDS_EXPLAIN_H

#include "commands/execute.h"
#include "harness/runner.h"

/* Whether a request of this trace takes snapshots in its first run. */
enum fb_explain fb_explain_first(const struct fb_run_options *options,
                                 const struct fb_trace_file *trace);

/* Puts what a snapshot tells into the checkpoint. */
void fb_explain_take(struct fb_checkpoint *checkpoint, const struct fb_snapshot *snapshot);

/* The second runs of a unit, on its first seed's trace: for each cell that is done and each of its
 * checkpoints to be explained, one that stops there and purges. */
int fb_explain_pass(struct fb_execution *run, size_t unit, const struct fb_trace_file *trace,
                    unsigned parallel, uint64_t memory_limit_bytes,
                    struct fb_error *err) FB_MUST_USE;

#endif
