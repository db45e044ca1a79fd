/* What there is to run: every workload with every parameter set, checked and counted
 * before anything starts. */
#ifndef FB_COMMANDS_PLAN_H
#define FB_COMMANDS_PLAN_H

#include "base/buf.h"
#include "commands/axes.h"
#include "workload/compile.h"

struct fb_plan_unit {
    struct fb_workload *workload; /* owned, parameters put in */
    char *suffix;                 /* of the cell ids: "/requests=10", "" without -L; owned */
    struct fb_totals *totals;     /* one a seed, from fb_plan_count(); owned */
    unsigned seed_count;
    double scale;
    bool elsewhere; /* none of its cells is in this shard: neither counted nor run */
};

struct fb_plan {
    struct fb_plan_unit *units; /* file by file, parameter sets within */
    size_t count;
};

struct fb_plan_request {
    const char *const *workloads; /* paths or bare names */
    size_t workload_count;
    const struct fb_param_axes *params;
    unsigned seeds;
    double scale;
};

/* Loads everything. The faults of all files are rendered into faults (-1 then, with the INPUT error
 * saying how many files are bad). Two workloads of one name are an INPUT error. */
int fb_plan_load(const struct fb_plan_request *request, struct fb_plan *plan, struct fb_buf *faults,
                 struct fb_error *err) FB_MUST_USE;

/* "workload/contender[/param=value]". New string. */
char *fb_plan_cell_id(const struct fb_plan_unit *unit, const char *contender);

/* Counts each unit and seed. INPUT errors with the numbers: a trace larger than what folder's disk
 * has left, a peak above the memory available. */
int fb_plan_count(struct fb_plan *plan, const char *folder, struct fb_error *err) FB_MUST_USE;

/* The compile options of a unit's seed; max_bytes 0. */
struct fb_compile_options fb_plan_options(const struct fb_plan_unit *unit, unsigned seed);

/* The bytes of memory that a run of the totals needs at the least: what it touches at its peak, and
 * the worker's tables. */
uint64_t fb_plan_memory_bytes(const struct fb_totals *totals);

void fb_plan_deinit(struct fb_plan *plan);

#endif
