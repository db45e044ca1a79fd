#include "commands/explain.h"

#include "base/alloc.h"
#include "commands/cells.h"
#include "commands/interrupt.h"
#include "commands/message.h"
#include "metrics/attribution.h"
#include "metrics/heat.h"
#include "result/heat.h"

#include <stdlib.h>
#include <string.h>

/* One second run: of which checkpoint, and what came of it. */
struct second {
    struct fb_execution *run;
    struct fb_cell *cell;
    size_t at; /* the checkpoint's number in the first repetition */
    struct fb_attribution *attribution;
};

struct seconds {
    struct fb_run_request *requests;
    struct second *items;
    size_t count, capacity;
};

enum fb_explain fb_explain_first(const struct fb_run_options *options,
                                 const struct fb_trace_file *trace)
{
    bool wanted = options->explain != FB_EXPLAINED_NOTHING;
    return wanted && fb_runner_explains(trace->header, options->order) ? FB_EXPLAIN_PARTS
                                                                       : FB_EXPLAIN_NONE;
}

void fb_explain_take(struct fb_checkpoint *checkpoint, const struct fb_snapshot *snapshot)
{
    struct fb_page_map map;
    fb_page_map_init(&map, snapshot);
    fb_attribution_free(checkpoint->attribution);
    checkpoint->attribution = fb_attribution_new(&map, snapshot);
    fb_page_map_deinit(&map);
}

/* The map needs the pages, which are there during the call only. A disk that is full loses the map
 * here and fails the run where its result is written. */
static char *write_heat(const struct second *second, const struct fb_page_map *map,
                        const struct fb_snapshot *snapshot)
{
    struct fb_heat heat;
    struct fb_error ignored = {0};
    const struct fb_checkpoint *checkpoint = &second->cell->repetitions[0].checkpoints[second->at];
    fb_heat_init(&heat, map, snapshot);
    char *file =
        fb_store_write_heat(second->run->folder, second->cell, checkpoint, &heat, &ignored);
    fb_heat_deinit(&heat);
    return file;
}

static void snapshot(void *user, const struct fb_run_request *request,
                     struct fb_checkpoint *checkpoint, const struct fb_snapshot *taken)
{
    struct second *second = request->context;
    struct fb_page_map map;
    (void)user, (void)checkpoint;
    fb_page_map_init(&map, taken);
    fb_attribution_free(second->attribution);
    second->attribution = fb_attribution_new(&map, taken);
    second->attribution->heat_file = write_heat(second, &map, taken);
    fb_page_map_deinit(&map);
}

static int finished(void *user, const struct fb_run_request *request,
                    struct fb_run_outcome *outcome, struct fb_error *err)
{
    const struct second *second = request->context;
    const struct fb_repetition *repetition = &outcome->repetition;
    (void)user, (void)err;
    if (!fb_status_done(repetition->status) && repetition->status != FB_STATUS_INTERRUPTED)
        fb_message_note("%s: its second run for --explain ended as %s%s%s; its free pages are not "
                        "split",
                        second->cell->id, fb_status_name(repetition->status),
                        repetition->status_detail != NULL ? ": " : "",
                        repetition->status_detail != NULL ? repetition->status_detail : "");
    fb_cells_outcome_deinit(outcome);
    return 0;
}

static bool is_phase_end(const struct fb_checkpoint *checkpoint, int phase)
{
    return strcmp(checkpoint->kind, "phase_end") == 0 && checkpoint->phase == phase;
}

/* The three that tell most: the largest live bytes, the end of the phase that kept most, the end.
 * Each costs a run up to there. */
static bool is_chosen(const struct fb_run_options *options, const struct fb_repetition *repetition,
                      const struct fb_checkpoint *checkpoint)
{
    int last = (int)repetition->phase_count - 1;
    if (checkpoint->phase < 0)
        return false;
    if (options->clock == FB_CLOCK_REAL || is_phase_end(checkpoint, last))
        return is_phase_end(checkpoint, last);
    if (strcmp(checkpoint->kind, "peak_live") == 0)
        return true;
    if (!is_phase_end(checkpoint, checkpoint->phase) || checkpoint->phase > last)
        return false;
    return options->explain == FB_EXPLAINED_ALL ||
           strcmp(repetition->phases[checkpoint->phase].name, repetition->kept_phase) == 0;
}

static void add_second(struct seconds *seconds, const struct fb_run_request *pattern, size_t at,
                       const struct second *second)
{
    if (seconds->count == seconds->capacity) {
        seconds->capacity = seconds->capacity == 0 ? 16 : seconds->capacity * 2;
        seconds->requests =
            fb_realloc(seconds->requests, seconds->capacity, sizeof *seconds->requests);
        seconds->items = fb_realloc(seconds->items, seconds->capacity, sizeof *seconds->items);
    }
    seconds->requests[seconds->count] = *pattern;
    seconds->requests[seconds->count].explain_at = at;
    seconds->items[seconds->count++] = *second;
}

static void add_cell(struct seconds *seconds, struct fb_execution *run, struct fb_cell *cell,
                     struct fb_run_request pattern, const struct fb_contender *contender)
{
    if (cell->repetition_count == 0 || !fb_status_done(cell->repetitions[0].status))
        return;
    const struct fb_repetition *first = &cell->repetitions[0];
    pattern.contender = contender;
    pattern.layout = first->layout;
    for (size_t i = 0; i < first->checkpoint_count; i++)
        if (is_chosen(run->options, first, &first->checkpoints[i]))
            add_second(seconds, &pattern, i, &(struct second){run, cell, i, NULL});
}

static void merge(struct seconds *seconds)
{
    for (size_t i = 0; i < seconds->count; i++) {
        struct second *second = &seconds->items[i];
        struct fb_checkpoint *checkpoint = &second->cell->repetitions[0].checkpoints[second->at];
        if (second->attribution != NULL)
            fb_attribution_merge(&checkpoint->attribution, second->attribution);
        second->attribution = NULL;
    }
}

int fb_explain_pass(struct fb_execution *run, size_t unit, const struct fb_trace_file *trace,
                    unsigned parallel, uint64_t memory_limit_bytes, struct fb_error *err)
{
    const struct fb_run_options *options = run->options;
    const struct fb_run_request pattern = {.trace_fd = trace->fd,
                                           .trace = trace->header,
                                           .clock = options->clock,
                                           .order = options->order,
                                           .seed = trace->header->seed,
                                           .timeout_ns = options->timeout_ns,
                                           .memory_limit_bytes = memory_limit_bytes,
                                           .thp = options->thp,
                                           .explain = FB_EXPLAIN_PURGE};
    struct seconds seconds = {0};
    if (options->explain < FB_EXPLAINED_KEY || !fb_runner_explains(trace->header, options->order))
        return 0;
    for (size_t c = 0; c < run->contenders.count; c++)
        add_cell(&seconds, run, &run->result.cells[unit * run->contenders.count + c], pattern,
                 &run->contenders.items[c]);
    for (size_t i = 0; i < seconds.count; i++)
        seconds.requests[i].context = &seconds.items[i];
    struct fb_runner_hooks hooks = {.finished = finished,
                                    .progress = fb_progress_update,
                                    .snapshot = snapshot,
                                    .user = &run->progress};
    int status =
        fb_runner_run(seconds.requests, seconds.count, parallel, &hooks, fb_interrupt_stop(), err);
    fb_progress_batch_done(&run->progress, seconds.count);
    merge(&seconds);
    free(seconds.requests);
    free(seconds.items);
    return status == 0 ? fb_execute_save(run, false, err) : status;
}
