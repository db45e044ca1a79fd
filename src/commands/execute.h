/* Running what was planned: state of one `run`, its memory pass and its timing pass. */
#ifndef FB_COMMANDS_EXECUTE_H
#define FB_COMMANDS_EXECUTE_H

#include "commands/options.h"
#include "commands/plan.h"
#include "commands/progress.h"
#include "commands/trace_file.h"
#include "harness/contender.h"
#include "metrics/finding.h"
#include "result/record.h"

struct fb_execution {
    const struct fb_run_options *options;
    struct fb_plan plan;
    struct fb_contenders contenders;
    struct fb_contenders null; /* the calibration contender of the timing pass */
    struct fb_result result;
    struct fb_findings findings; /* what the gates say of the result */
    char *folder;
    struct fb_progress progress;
};

/* Repetitions that a complete cell has. */
size_t fb_execute_expected(const struct fb_run_options *options);
/* Runs of all units, memory and timing, for the progress line. */
size_t fb_execute_total(const struct fb_execution *run);

/* The cell of a unit and a contender, by their indices; NULL: it is in another shard. */
struct fb_cell *fb_execute_cell(struct fb_execution *run, size_t unit, size_t contender);

/* All runs of one unit, seed by seed (one trace is on disk at a time), then its timing pass on the
 * first seed's trace. After each run result.json, the series and the exports are written. Returns 0
 * early when interrupted. */
int fb_execute_unit(struct fb_execution *run, size_t unit, struct fb_error *err) FB_MUST_USE;

/* Judges the limits anew, writes result.json and the exports; `last` also feeds devices and pipes.
 */
int fb_execute_save(struct fb_execution *run, bool last, struct fb_error *err) FB_MUST_USE;

/* Records the command line as it was typed; argv[0] is "fragbench NAME". */
void fb_execute_argv(struct fb_result *result, int argc, char **argv);

/* Makes the result folder and writes the first result.json into it: what can fail for want of a
 * file fails before the first run. Then the end: open cells are closed. Both in run.c. */
int fb_execute_open(struct fb_execution *run, int argc, char **argv,
                    struct fb_error *err) FB_MUST_USE;
int fb_execute_close(struct fb_execution *run, size_t expected, struct fb_error *err) FB_MUST_USE;

/* The measured repetition to the result: its series to disk, the cell's summary, result.json. */
int fb_execute_record(struct fb_execution *run, struct fb_cell *cell,
                      struct fb_repetition *repetition, struct fb_error *err) FB_MUST_USE;

/* Prints the table, or what --export gave stdout to, and where the results are (run.c). */
void fb_execute_print(const struct fb_execution *run);

/* What a run may take at the most: --memory-limit, else 75 % of the memory available now over the
 * runs at once; 0 = no limit. */
int fb_execute_memory_limit(const struct fb_run_options *options, unsigned parallel,
                            uint64_t *bytes, struct fb_error *err) FB_MUST_USE;

/* The timing pass of a unit (timing.c): each contender that did its memory runs, one at a time. */
int fb_timing_pass(struct fb_execution *run, size_t unit, const struct fb_trace_file *trace,
                   struct fb_error *err) FB_MUST_USE;

#endif
