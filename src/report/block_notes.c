#include "report/block.h"

#include "base/units.h"
#include "metrics/spread.h"
#include "report/recorded.h"

#include <math.h>
#include <string.h>

#define NUMBER_CHARS 48
#define LAZYFREE_MIN_BYTES 1048576.0 /* less is not worth a line */

static bool clock_unproven(const struct fb_cell *cell)
{
    return fb_status_done(cell->status) && !cell->clock_proven;
}

static bool layout_random(const struct fb_cell *cell)
{
    return !fb_cell_is_program(cell) && cell->layout != NULL && strcmp(cell->layout, "random") == 0;
}

static bool swapped(const struct fb_cell *cell)
{
    for (size_t i = 0; i < cell->repetition_count; i++) {
        const struct fb_repetition *repetition = &cell->repetitions[i];
        for (size_t j = 0; j < repetition->checkpoint_count; j++)
            if (repetition->checkpoints[j].swap_bytes > 0)
                return true;
    }
    return false;
}

static bool lazily_freed(const struct fb_cell *cell)
{
    const struct fb_summary *summary = &cell->summary[FB_METRIC_LAZYFREE_MAX_BYTES];
    return summary->n > 0 && summary->max >= LAZYFREE_MIN_BYTES;
}

static bool timing_failed(const struct fb_cell *cell)
{
    return fb_status_done(cell->status) && !fb_status_done(cell->timing.status);
}

/* Each a reason to trust some number less. */
static const struct {
    bool (*applies)(const struct fb_cell *cell);
    const char *text;
} caveats[] = {
    {clock_unproven, "clock not proven: was not seen reading the virtual clock, so purges that "
                     "wait for time may not have run"},
    {layout_random, "layout random: addresses could not be fixed, so repeats are not exact"},
    {fb_cell_used_huge_pages, "huge pages in use: RSS comes in steps of 2 MiB where they are, and "
                              "repeats are not exact, since the kernel joins pages on its own"},
    {swapped, "swapped: swap is counted in RSS, times are not to be trusted"},
    {lazily_freed, "lazily freed pages (MADV_FREE) are in RSS, though the kernel may take them"},
    {timing_failed, "timing pass failed"},
};

static void add_caveat(const struct fb_group *group, size_t caveat, const char *bullet,
                       struct fb_buf *out)
{
    size_t found = 0;
    for (size_t i = 0; i < group->count; i++) {
        const struct fb_cell *cell = &group->cells[i];
        if (!caveats[caveat].applies(cell))
            continue;
        if (found++ == 0)
            fb_buf_addf(out, "%sNote: ", bullet);
        fb_buf_addf(out, "%s%s", found > 1 ? ", " : "", fb_text_or_empty(cell->allocator.name));
    }
    if (found > 0)
        fb_buf_addf(out, ": %s.\n", caveats[caveat].text);
}

/* Whether an earlier column was left out for the same reason: then it has been named with it. */
static bool named_before(const struct fb_notes *notes, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (strcmp(notes->left_out[i].reason, notes->left_out[index].reason) == 0)
            return true;
    return false;
}

static void add_left_out(const struct fb_notes *notes, const char *bullet, struct fb_buf *out)
{
    for (size_t i = 0; i < notes->left_out_count; i++) {
        if (named_before(notes, i))
            continue;
        fb_buf_addf(out, "%sn/a: %s", bullet, notes->left_out[i].label);
        for (size_t j = i + 1; j < notes->left_out_count; j++)
            if (strcmp(notes->left_out[i].reason, notes->left_out[j].reason) == 0)
                fb_buf_addf(out, ", %s", notes->left_out[j].label);
        fb_buf_addf(out, " (%s).\n", notes->left_out[i].reason);
    }
}

/* The widest spread over one axis among the cells, as a share of that cell's median peak. */
static double widest_spread(const struct fb_group *group, size_t axis, const struct fb_cell **where)
{
    struct fb_spread spread[FB_AXIS_COUNT];
    double widest = 0;
    *where = NULL;
    for (size_t i = 0; i < group->count; i++) {
        const struct fb_summary *peak = &group->cells[i].summary[FB_METRIC_PEAK_FOOTPRINT_BYTES];
        if (group->cells[i].status != FB_STATUS_OK || peak->n == 0 || peak->median <= 0)
            continue;
        fb_spread_of(&group->cells[i], FB_METRIC_PEAK_FOOTPRINT_BYTES, spread);
        double share = spread[axis].range / peak->median;
        if (share > widest) {
            widest = share;
            *where = &group->cells[i];
        }
    }
    return widest;
}

/* Where a range runs over more than one thing, which of them it comes from. */
static void add_spreads(const struct fb_group *group, const char *bullet, struct fb_buf *out)
{
    static const char *const names[FB_AXIS_COUNT] = {"layouts", "seeds", "repeats"};
    unsigned axes = fb_group_axes(group);
    if ((axes & (axes - 1)) == 0)
        return;
    fb_buf_addf(out, "%sPeak RSS moves with the rest held still", bullet);
    const char *between = ": ";
    for (size_t axis = 0; axis < FB_AXIS_COUNT; axis++) {
        const struct fb_cell *where = NULL;
        if ((axes & (1U << axis)) == 0)
            continue;
        double widest = widest_spread(group, axis, &where);
        fb_buf_addf(out, "%sover %s by up to %.1f %%", between, names[axis], widest * 100);
        if (where != NULL)
            fb_buf_addf(out, " (%s)", fb_text_or_empty(where->allocator.name));
        between = ", ";
    }
    fb_buf_adds(out, ".\n");
}

static bool counted_live(const struct fb_group *group)
{
    for (size_t i = 0; i < group->count; i++)
        if (group->cells[i].summary[FB_METRIC_PEAK_LIVE_BYTES].n > 0)
            return true;
    return false;
}

static bool has_note(const struct fb_cell *cell, const char *text)
{
    for (size_t i = 0; i < cell->repetition_count; i++)
        for (size_t j = 0; j < cell->repetitions[i].note_count; j++)
            if (strcmp(cell->repetitions[i].notes[j], text) == 0)
                return true;
    return false;
}

/* A note of several cells is said once, with their names. */
static void add_run_note(const struct fb_group *group, size_t first, const char *text,
                         const char *bullet, struct fb_buf *out)
{
    for (size_t i = 0; i < first; i++)
        if (has_note(&group->cells[i], text))
            return;
    fb_buf_addf(out, "%sNote: ", bullet);
    size_t named = 0;
    for (size_t i = first; i < group->count; i++)
        if (has_note(&group->cells[i], text))
            fb_buf_addf(out, "%s%s", named++ > 0 ? ", " : "",
                        fb_text_or_empty(group->cells[i].allocator.name));
    fb_buf_addf(out, ": %s.\n", text);
}

static bool said_before(const struct fb_cell *cell, size_t repetition, size_t note)
{
    const char *text = cell->repetitions[repetition].notes[note];
    for (size_t i = 0; i < repetition; i++)
        for (size_t j = 0; j < cell->repetitions[i].note_count; j++)
            if (strcmp(cell->repetitions[i].notes[j], text) == 0)
                return true;
    return false;
}

static void add_program_notes(const struct fb_group *group, const char *bullet, struct fb_buf *out)
{
    fb_buf_addf(out,
                "%sRSS: anonymous memory and swap of all its processes, shared pages counted once. "
                "end: when its work ended.\n",
                bullet);
    if (counted_live(group))
        fb_buf_addf(out,
                    "%slive: usable bytes of malloc's blocks. kept: RSS minus live at a phase's "
                    "end.\n",
                    bullet);
    for (size_t i = 0; i < group->count; i++)
        for (size_t j = 0; j < group->cells[i].repetition_count; j++)
            for (size_t k = 0; k < group->cells[i].repetitions[j].note_count; k++)
                if (!said_before(&group->cells[i], j, k))
                    add_run_note(group, i, group->cells[i].repetitions[j].notes[k], bullet, out);
}

/* A replay has the heap alone; what a container counts is more. */
static void add_recorded(const struct fb_group *group, const char *bullet, struct fb_buf *out)
{
    const struct fb_recorded *recorded = &group->cells[0].workload.recorded;
    char peak[NUMBER_CHARS];
    if (recorded->peak_bytes == 0)
        return;
    fb_buf_addf(out, "%sWhen it was recorded the program held %s at its peak, ", bullet,
                fb_units_bytes(recorded->peak_bytes, peak, sizeof peak));
    fb_recorded_beside(recorded, out);
    fb_buf_adds(out, ". A replay is the heap alone: add that to compare with the program.\n");
}

void fb_block_notes(const struct fb_group *group, const struct fb_host *host,
                    const struct fb_notes *notes, const char *bullet, struct fb_buf *out)
{
    if (fb_group_is_program(group)) {
        add_program_notes(group, bullet, out);
    } else {
        fb_buf_addf(out,
                    "%sRSS: anonymous memory and swap. kept: RSS minus live at a phase's end.\n",
                    bullet);
        fb_buf_addf(out, "%sidle 10 s, purged: RSS minus live after the last free.\n", bullet);
        add_recorded(group, bullet, out);
    }
    for (size_t i = 0; i < notes->reason_count; i++)
        fb_buf_addf(out, "%s%s %s\n", bullet, fb_note_marks[i], notes->reasons[i]);
    add_left_out(notes, bullet, out);
    add_spreads(group, bullet, out);
    if (group->times_apart != NULL)
        fb_buf_addf(out, "%sNote: times are not to be compared with one another: %s.\n", bullet,
                    group->times_apart);
    for (size_t i = 0; i < sizeof caveats / sizeof caveats[0]; i++)
        add_caveat(group, i, bullet, out);
    if (!host->statm_exact)
        fb_buf_addf(out,
                    "%sNote: this kernel's statm lags by some pages: samples are inexact, "
                    "checkpoints are not.\n",
                    bullet);
}
