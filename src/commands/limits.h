/* A workload's limits and this run's contenders: which name which. */
#ifndef FB_COMMANDS_LIMITS_H
#define FB_COMMANDS_LIMITS_H

#include "commands/plan.h"
#include "harness/contender.h"
#include "result/record.h"

/* Gives the cell the limits that hold for it, at most one a metric: what names its label, else what
 * names its allocator, else what is there for all (not for null, which calibrates only). */
void fb_limits_fill(struct fb_cell *cell, const struct fb_workload *workload,
                    const struct fb_contender *contender);

/* Every allocator named in limits must be the label of a contender, or an allocator that fragbench
 * knows, with tunables that it knows. Else -1 with an INPUT error, and the places are rendered into
 * faults. */
int fb_limits_check(const struct fb_plan *plan, const struct fb_contenders *contenders,
                    struct fb_buf *faults, struct fb_error *err) FB_MUST_USE;

#endif
