#include "metrics/moment.h"

#include "base/alloc.h"
#include "base/shell.h"
#include "base/units.h"
#include "metrics/timeline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LINE_CAP 65536U

enum moment { NO_MOMENT = 0, AT_PEAK, AT_PEAK_LIVE, AT_KEPT, AT_END, BEFORE_START, AFTERWARDS };

static const enum moment moments[FB_METRIC_COUNT] = {
    [FB_METRIC_PEAK_FOOTPRINT_BYTES] = AT_PEAK,
    [FB_METRIC_OVERHEAD_PEAK_BYTES] = AT_PEAK,
    [FB_METRIC_RATIO_PEAK] = AT_PEAK,
    [FB_METRIC_RATIO_AT_PEAK_FOOTPRINT] = AT_PEAK,
    [FB_METRIC_RATIO_TOUCHED] = AT_PEAK,
    [FB_METRIC_RATIO_AT_PEAK_LIVE] = AT_PEAK_LIVE,
    [FB_METRIC_KEPT_BYTES] = AT_KEPT,
    [FB_METRIC_RATIO_END] = AT_END,
    [FB_METRIC_END_FOOTPRINT_BYTES] = AT_END,
    [FB_METRIC_OVERHEAD_END_BYTES] = AT_END,
    [FB_METRIC_STARTUP_BYTES] = BEFORE_START,
    [FB_METRIC_RETAINED_IDLE_0S_BYTES] = AFTERWARDS,
    [FB_METRIC_RETAINED_IDLE_1S_BYTES] = AFTERWARDS,
    [FB_METRIC_RETAINED_IDLE_10S_BYTES] = AFTERWARDS,
    [FB_METRIC_RETAINED_ACTIVE_10S_BYTES] = AFTERWARDS,
    [FB_METRIC_RETAINED_PURGED_BYTES] = AFTERWARDS,
};

bool fb_moment_is_peak(enum fb_metric metric)
{
    return metric != FB_METRIC_COUNT && moments[metric] == AT_PEAK;
}

bool fb_moment_is_end(enum fb_metric metric)
{
    return metric != FB_METRIC_COUNT && (moments[metric] == AT_KEPT || moments[metric] == AT_END);
}

const struct fb_repetition *fb_moment_worst(const struct fb_cell *cell, enum fb_metric metric)
{
    const struct fb_repetition *worst = NULL;
    for (size_t i = 0; i < cell->repetition_count; i++) {
        const struct fb_repetition *repetition = &cell->repetitions[i];
        if (!fb_status_done(repetition->status) || isnan(repetition->values[metric]))
            continue;
        if (worst == NULL || repetition->values[metric] > worst->values[metric])
            worst = repetition;
    }
    return worst;
}

static char *say(const char *what, const char *phase, uint64_t t_ns)
{
    char time[48];
    return fb_format("%s phase %s at %s", what, phase, fb_units_time(t_ns, time, sizeof time));
}

size_t fb_moment_peak_phase(const struct fb_repetition *repetition)
{
    size_t most = 0;
    for (size_t i = 1; i < repetition->phase_count; i++)
        if (repetition->phases[i].peak_footprint_bytes >
            repetition->phases[most].peak_footprint_bytes)
            most = i;
    return most;
}

/* Files of an older version do not have the time of a peak: then the phase has to do. */
static char *peak(const struct fb_repetition *repetition)
{
    if (repetition->phase_count == 0)
        return NULL;
    const struct fb_phase_record *most = &repetition->phases[fb_moment_peak_phase(repetition)];
    if (most->peak_footprint_bytes == 0 || most->name == NULL)
        return NULL;
    return most->peak_t_ns > 0 ? say("peak in", most->name, most->peak_t_ns)
                               : fb_format("peak in phase %s", most->name);
}

static char *checkpoint_text(const struct fb_repetition *repetition, const char *what,
                             const struct fb_checkpoint *checkpoint)
{
    if (checkpoint == NULL || checkpoint->phase < 0 ||
        (size_t)checkpoint->phase >= repetition->phase_count ||
        repetition->phases[checkpoint->phase].name == NULL)
        return NULL;
    return say(what, repetition->phases[checkpoint->phase].name, checkpoint->t_ns);
}

static char *kept(const struct fb_repetition *repetition)
{
    for (size_t i = 0; i < repetition->phase_count; i++) {
        const char *name = repetition->phases[i].name;
        if (name != NULL && strcmp(name, repetition->kept_phase) == 0)
            return checkpoint_text(repetition, "end of",
                                   fb_timeline_checkpoint(repetition, "phase_end", (int)i));
    }
    return NULL;
}

static char *last_end(const struct fb_repetition *repetition)
{
    const struct fb_checkpoint *last = NULL;
    for (size_t i = 0; i < repetition->checkpoint_count; i++)
        if (strcmp(repetition->checkpoints[i].kind, "phase_end") == 0)
            last = &repetition->checkpoints[i];
    return checkpoint_text(repetition, "end of", last);
}

char *fb_moment_text(const struct fb_repetition *repetition, enum fb_metric metric)
{
    if (metric == FB_METRIC_COUNT)
        return NULL;
    switch (moments[metric]) {
    case AT_PEAK:
        return peak(repetition);
    case AT_PEAK_LIVE:
        return checkpoint_text(repetition, "live peak in",
                               fb_timeline_checkpoint(repetition, "peak_live", -1));
    case AT_KEPT:
        return kept(repetition);
    case AT_END:
        return last_end(repetition);
    case BEFORE_START:
        return fb_strdup("before the first operation");
    case AFTERWARDS:
        return fb_strdup("after the last phase, when everything but lifetime: run is freed");
    case NO_MOMENT:
        break;
    }
    return NULL;
}

static void add_word(struct fb_buf *line, const char *option, const char *word)
{
    fb_buf_addf(line, " %s", option);
    fb_shell_add(line, word);
}

/* Parameters that the command line set stand in the cell's id. */
static void add_params(struct fb_buf *line, const struct fb_cell *cell)
{
    for (size_t i = 0; cell->id != NULL && i < cell->workload.param_count; i++) {
        const struct fb_name_value *param = &cell->workload.params[i];
        char *part = fb_format("/%s=%s", param->name, param->value != NULL ? param->value : "");
        if (strstr(cell->id, part) != NULL)
            add_word(line, "-L ", part + 1);
        free(part);
    }
}

static bool differs(const char *text, const char *usual)
{
    return text != NULL && strcmp(text, usual) != 0;
}

const char *fb_moment_closer(const struct fb_cell *cell, enum fb_metric metric)
{
    bool memory = metric != FB_METRIC_COUNT && fb_metrics[metric].exact;
    return memory && !fb_cell_is_program(cell) ? " --explain" : "";
}

static void add_workload(struct fb_buf *line, const struct fb_cell *cell)
{
    add_word(line, "", cell->workload.file != NULL ? cell->workload.file : "WORKLOAD");
}

static void add_settings(struct fb_buf *line, const struct fb_cell *cell)
{
    add_params(line, cell);
    if (cell->workload.scale > 0 && fabs(cell->workload.scale - 1) > 0)
        fb_buf_addf(line, " --scale %.15g", cell->workload.scale);
    if (differs(cell->clock, "virtual"))
        add_word(line, "--clock ", cell->clock);
    if (differs(cell->order, "lockstep"))
        add_word(line, "--order ", cell->order);
}

char *fb_moment_command(const struct fb_cell *cell, const char *more)
{
    const char *spec = cell->allocator.spec;
    struct fb_buf line;
    fb_buf_init(&line, LINE_CAP);
    fb_buf_adds(&line, fb_cell_is_program(cell) ? "fragbench exec" : "fragbench run");
    if (!fb_cell_is_program(cell))
        add_workload(&line, cell);
    add_word(&line, "-a ", spec != NULL ? spec : "ALLOCATOR");
    if (!fb_cell_is_program(cell))
        add_settings(&line, cell);
    else if (cell->workload.driver != NULL)
        add_word(&line, "--driver ", cell->workload.driver);
    fb_buf_adds(&line, more);
    if (fb_cell_is_program(cell))
        fb_buf_addf(&line, " -- %s", cell->workload.command); /* as typed: quoted already */
    char *text = fb_strdup(line.text);
    fb_buf_deinit(&line);
    return text;
}

char *fb_moment_look(const struct fb_cell *cell, enum fb_metric metric)
{
    const char *spec = cell->allocator.spec;
    bool memory = metric != FB_METRIC_COUNT && fb_metrics[metric].exact;
    struct fb_buf line;
    if (!fb_cell_is_program(cell) || !memory)
        return fb_moment_command(cell, fb_moment_closer(cell, metric));
    fb_buf_init(&line, LINE_CAP);
    fb_buf_addf(&line, "fragbench record -o program.fbt -- %s && fragbench run program.fbt",
                cell->workload.command);
    add_word(&line, "-a ", spec != NULL ? spec : "ALLOCATOR");
    fb_buf_adds(&line, " --explain");
    char *text = fb_strdup(line.text);
    fb_buf_deinit(&line);
    return text;
}
