/* Limits of workloads and of the command line, and this run's contenders: which name which. */
#ifndef FB_COMMANDS_LIMITS_H
#define FB_COMMANDS_LIMITS_H

#include "commands/options.h"
#include "commands/plan.h"
#include "harness/contender.h"
#include "result/record.h"

/* Gives the cell the limits that hold for it, at most one a metric: what names its label, else what
 * names its allocator, else what is there for all (not for null, which calibrates only). Called
 * again, the new ones count: those of the command line after those of the file. */
void fb_limits_fill(struct fb_cell *cell, const struct fb_workload_limit *limits, size_t count,
                    const struct fb_contender *contender);

/* Every allocator named in limits must be the label of a contender, or an allocator that fragbench
 * knows, with tunables that it knows. Else -1 with an INPUT error, and the places are rendered into
 * faults. */
int fb_limits_check(const struct fb_plan *plan, const struct fb_contenders *contenders,
                    struct fb_buf *faults, struct fb_error *err) FB_MUST_USE;

/* The same of the limits of the command line. */
int fb_limits_check_given(const struct fb_run_options *options,
                          const struct fb_contenders *contenders, struct fb_error *err) FB_MUST_USE;

#endif
