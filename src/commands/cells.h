/* Cells: the plan crossed with the contenders, as the result's rows. */
#ifndef FB_COMMANDS_CELLS_H
#define FB_COMMANDS_CELLS_H

#include "commands/options.h"
#include "commands/plan.h"
#include "harness/contender.h"
#include "harness/runner.h"
#include "result/record.h"

/* Fills result->cells with those of options->shard: unit by unit, contender by contender, so that
 * cell number unit × contenders->count + contender of the whole plan belongs to both; and
 * result->shard. A contender that cannot run gets its final
 * status; the others start as interrupted ("not run yet"), so a file of a run that was cut off
 * says so. */
void fb_cells_build(const struct fb_plan *plan, const struct fb_contenders *contenders,
                    const struct fb_run_options *options, struct fb_result *result);

/* What a cell says of its contender, its first status, and no measures yet. */
void fb_cells_describe(struct fb_cell *cell, const struct fb_contender *contender);

/* Whether the contender can be started at all. */
bool fb_cells_runnable(const struct fb_contender *contender);

/* Moves the outcome of a memory run into its cell: facts of the cell, then the repetition in its
 * place by index. Frees what is left of the outcome. Returns the repetition's place. */
struct fb_repetition *fb_cells_take(struct fb_cell *cell, const struct fb_contender *contender,
                                    struct fb_run_outcome *outcome);

/* Marks a cell whose repetitions are not all there; `expected` is how many there should be. */
void fb_cells_close(struct fb_cell *cell, size_t expected);

void fb_cells_outcome_deinit(struct fb_run_outcome *outcome);

#endif
