#include "report/block.h"

#include "base/alloc.h"
#include "metrics/spread.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MIB 1048576.0

enum column_kind { NAME, STATUS, SIZE, RATIO, RANGE, PHASE, NANOSECONDS, SECONDS };

/* Which tables have the column. */
enum column_place { EVERYWHERE = 0, REPLAYS, PROGRAMS };

struct column {
    struct fb_grid_column head;
    enum column_kind kind;
    enum fb_metric metric;
    enum column_place place;
};

/* Order is the reading order, `drop` the order of sacrifice. Status is dropped first only while
 * all is well: see fill_status(). */
static const struct column columns[] = {
    {{"allocator", "", "allocator", true, 0}, NAME, FB_METRIC_COUNT, EVERYWHERE},
    {{"status", "", "status", true, 13}, STATUS, FB_METRIC_COUNT, EVERYWHERE},
    {{"peak RSS", "MiB", "peak RSS", false, 0}, SIZE, FB_METRIC_PEAK_FOOTPRINT_BYTES, EVERYWHERE},
    {{"live", "MiB", "peak live", false, 10}, SIZE, FB_METRIC_PEAK_LIVE_BYTES, EVERYWHERE},
    {{"ratio", "peak", "ratio at peak", false, 0}, RATIO, FB_METRIC_RATIO_PEAK, EVERYWHERE},
    {{"", "(layouts)", "range over layouts", true, 7}, RANGE, FB_METRIC_RATIO_PEAK, EVERYWHERE},
    {{"kept", "MiB", "kept", false, 1}, SIZE, FB_METRIC_KEPT_BYTES, EVERYWHERE},
    {{"", "after", "phase that kept most", true, 11}, PHASE, FB_METRIC_KEPT_BYTES, EVERYWHERE},
    {{"end RSS", "MiB", "RSS at end", false, 1}, SIZE, FB_METRIC_END_FOOTPRINT_BYTES, PROGRAMS},
    {{"ratio", "end", "ratio at end", false, 3}, RATIO, FB_METRIC_RATIO_END, EVERYWHERE},
    {{"drift", "", "drift", false, 8}, RATIO, FB_METRIC_DRIFT, REPLAYS},
    {{"idle 10 s", "MiB", "retained after 10 s idle", false, 5},
     SIZE,
     FB_METRIC_RETAINED_IDLE_10S_BYTES,
     REPLAYS},
    {{"purged", "MiB", "retained after a purge", false, 6},
     SIZE,
     FB_METRIC_RETAINED_PURGED_BYTES,
     REPLAYS},
    {{"time", "ns/op", "time per call", false, 2}, NANOSECONDS, FB_METRIC_NS_PER_OP, REPLAYS},
    {{"p99", "ns", "p99 latency", false, 9}, NANOSECONDS, FB_METRIC_LATENCY_P99_NS, REPLAYS},
    {{"wall", "s", "wall time", false, 2}, SECONDS, FB_METRIC_WALL_S, PROGRAMS},
    {{"user", "s", "CPU time, user", false, 4}, SECONDS, FB_METRIC_USER_S, PROGRAMS},
    {{"system", "s", "CPU time, system", false, 5}, SECONDS, FB_METRIC_SYSTEM_S, PROGRAMS},
};
enum { COLUMNS = sizeof columns / sizeof columns[0], STATUS_COLUMN = 1 };
_Static_assert(COLUMNS <= FB_COLUMNS_MAX, "notes have room for every column");

const char *const fb_note_marks[FB_NOTES_MAX] = {"¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};

static bool is_value(const struct column *column)
{
    return column->kind == SIZE || column->kind == RATIO || column->kind == NANOSECONDS ||
           column->kind == SECONDS;
}

/* Whether a row shows numbers at all. */
static bool has_numbers(const struct fb_cell *cell)
{
    return fb_status_done(cell->status);
}

static const char *timing_reason(const struct fb_cell *cell)
{
    const struct fb_timing *timing = &cell->timing;
    if (fb_status_done(timing->status))
        return timing->done ? "not measured" : "timing pass off";
    return "timing pass failed";
}

static const char *na_reason(const struct fb_cell *cell, enum fb_metric metric)
{
    const struct fb_repetition *done = fb_cell_done(cell);
    if (metric == FB_METRIC_NS_PER_OP && cell->timing.done && cell->timing.ops > 0)
        return "no slower than the replay itself";
    if (fb_metrics[metric].timing)
        return timing_reason(cell);
    return done != NULL && done->na[metric] != NULL ? done->na[metric] : "not measured";
}

/* Where every cell of the column is n/a for one reason, that reason; else NULL. */
static const char *common_reason(const struct fb_group *group, enum fb_metric metric)
{
    const char *common = NULL;
    for (size_t i = 0; i < group->count; i++) {
        const struct fb_cell *cell = &group->cells[i];
        if (!has_numbers(cell))
            continue;
        if (cell->summary[metric].n > 0)
            return NULL;
        const char *reason = na_reason(cell, metric);
        if (common != NULL && strcmp(common, reason) != 0)
            return NULL;
        common = reason;
    }
    return common;
}

static const char *mark_of(struct fb_notes *notes, const char *reason)
{
    size_t i = 0;
    while (i < notes->reason_count && strcmp(notes->reasons[i], reason) != 0)
        i++;
    if (i == FB_NOTES_MAX)
        return "";
    if (i == notes->reason_count)
        notes->reasons[notes->reason_count++] = reason;
    return fb_note_marks[i];
}

const struct fb_time_scale *fb_block_time_scale(const struct fb_group *group, enum fb_metric metric)
{
    static const struct fb_time_scale scales[] = {
        {1e7, 1e6, "ms", "ms/op"}, {1e5, 1e3, "µs", "µs/op"}, {0, 1, "ns", "ns/op"}};
    double smallest = INFINITY;
    for (size_t i = 0; i < group->count; i++)
        if (has_numbers(&group->cells[i]) && group->cells[i].summary[metric].n > 0)
            smallest = fmin(smallest, group->cells[i].summary[metric].median);
    const struct fb_time_scale *scale = scales;
    while (scale->from_ns > 0 && !(smallest < INFINITY && smallest >= scale->from_ns))
        scale++;
    return scale;
}

static double unit_of(const struct fb_group *group, const struct column *column)
{
    if (column->kind == NANOSECONDS)
        return fb_block_time_scale(group, column->metric)->unit_ns;
    return column->kind == SIZE ? MIB : 1;
}

/* Decimals of a column come from its largest value, so that they line up. */
static int decimals(const struct fb_group *group, const struct column *column)
{
    double largest = 0, unit = unit_of(group, column);
    for (size_t i = 0; i < group->count; i++)
        if (has_numbers(&group->cells[i]) && group->cells[i].summary[column->metric].n > 0)
            largest = fmax(largest, fabs(group->cells[i].summary[column->metric].median) / unit);
    if (column->kind == RATIO || column->kind == SECONDS)
        return 2;
    if (column->kind == SIZE)
        return largest < 10 ? 2 : largest < 10000 ? 1 : 0;
    return largest < 100 ? 1 : 0;
}

static char *value_text(const struct column *column, const struct fb_cell *cell, double unit,
                        int digits, struct fb_notes *notes)
{
    const struct fb_summary *summary = &cell->summary[column->metric];
    if (summary->n == 0)
        return fb_format("n/a%s", mark_of(notes, na_reason(cell, column->metric)));
    double value = summary->median / unit;
    char *text = fb_format("%.*f", digits, value);
    bool minus_zero = text[0] == '-' && strtod(text, NULL) >= 0;
    if (minus_zero)
        memmove(text, text + 1, strlen(text));
    return text;
}

/* Shown only where the layouts make a difference that the two decimals can show. */
static char *range_text(const struct fb_summary *summary)
{
    if (summary->n == 0)
        return NULL;
    char *low = fb_format("%.2f", summary->min), *high = fb_format("%.2f", summary->max);
    char *text = strcmp(low, high) == 0 ? NULL : fb_format("(%s–%s)", low, high);
    free(low);
    free(high);
    return text;
}

static char *phase_text(const struct fb_cell *cell)
{
    const struct fb_repetition *done = fb_cell_done(cell);
    bool named = done != NULL && done->phase_count > 1 && done->kept_phase[0] != '\0';
    return named ? fb_strdup(done->kept_phase) : NULL;
}

static char *cell_text(const struct column *column, const struct fb_cell *cell, double unit,
                       int digits, struct fb_notes *notes)
{
    switch (column->kind) {
    case NAME:
        return fb_strdup(fb_text_or_empty(cell->allocator.name));
    case STATUS:
        return fb_strdup(fb_status_name(cell->status));
    case RANGE:
        return range_text(&cell->summary[column->metric]);
    case PHASE:
        return phase_text(cell);
    case SIZE:
    case RATIO:
    case NANOSECONDS:
    case SECONDS:
        break;
    }
    return value_text(column, cell, unit, digits, notes);
}

/* "timeout: … (1 of 3 runs)"; a detail that says the status itself stands alone. */
static char *status_text(const struct fb_cell *cell)
{
    const char *name = fb_status_name(cell->status);
    const char *detail = fb_text_or_empty(cell->status_detail);
    size_t failed = 0;
    for (size_t i = 0; i < cell->repetition_count; i++)
        failed += cell->repetitions[i].status == cell->status;
    char *runs = failed > 0 && failed < cell->repetition_count
                     ? fb_format(" (%zu of %zu runs)", failed, cell->repetition_count)
                     : fb_strdup("");
    char *spoken = fb_strdup(name);
    for (char *dash = strchr(spoken, '-'); dash != NULL; dash = strchr(dash, '-'))
        *dash = ' ';
    bool said =
        strncmp(detail, spoken, strlen(spoken)) == 0 || strncmp(detail, name, strlen(name)) == 0;
    char *text = said ? fb_format("%s%s", detail, runs)
                      : fb_format("%s%s%s%s", name, detail[0] == '\0' ? "" : ": ", detail, runs);
    free(spoken);
    free(runs);
    return text;
}

static void fill_column(const struct fb_group *group, size_t index, struct fb_grid *grid,
                        struct fb_notes *notes)
{
    const struct column *column = &columns[index];
    if (column->place == (fb_group_is_program(group) ? REPLAYS : PROGRAMS))
        return;
    const char *common = is_value(column) ? common_reason(group, column->metric) : NULL;
    if (common != NULL) {
        notes->left_out[notes->left_out_count].label = column->head.label;
        notes->left_out[notes->left_out_count++].reason = common;
        return;
    }
    int digits = is_value(column) ? decimals(group, column) : 0;
    double unit = unit_of(group, column);
    for (size_t row = 0; row < group->count; row++)
        if (column->kind == NAME || has_numbers(&group->cells[row]))
            fb_grid_set(grid, row, index,
                        cell_text(column, &group->cells[row], unit, digits, notes));
}

static void fill_status(const struct fb_group *group, struct fb_grid *grid)
{
    for (size_t row = 0; row < group->count; row++) {
        enum fb_status status = group->cells[row].status;
        if (status != FB_STATUS_OK)
            grid->columns[STATUS_COLUMN].drop = 0; /* a row that is not like the others */
        if (status == FB_STATUS_REFUSED)
            fb_grid_tone(grid, row, STATUS_COLUMN, FB_GRID_WARN);
        if (!fb_status_done(status))
            fb_grid_span(grid, row, status_text(&group->cells[row]),
                         fb_status_skipped(status) ? FB_GRID_WARN : FB_GRID_BAD);
    }
}

/* What a range runs over, by fb_group_axes(). */
static const char *const range_units[1U << FB_AXIS_COUNT] = {
    "(layouts)", "(layouts)",          "(seeds)",          "(layouts, seeds)",
    "(repeats)", "(layouts, repeats)", "(seeds, repeats)", "(all runs)",
};
static const char *const range_labels[1U << FB_AXIS_COUNT] = {
    "range over layouts",           "range over layouts",  "range over seeds",
    "range over layouts and seeds", "range over repeats",  "range over layouts and repeats",
    "range over seeds and repeats", "range over all runs",
};

void fb_block_head_range(const struct fb_group *group, struct fb_grid_column *head)
{
    unsigned axes = fb_group_axes(group);
    head->unit = range_units[axes];
    head->label = range_labels[axes];
}

void fb_block_init(const struct fb_group *group, struct fb_grid *grid, struct fb_notes *notes)
{
    struct fb_grid_column heads[COLUMNS];
    for (size_t i = 0; i < COLUMNS; i++) {
        heads[i] = columns[i].head;
        if (columns[i].kind == RANGE)
            fb_block_head_range(group, &heads[i]);
        if (columns[i].kind != NANOSECONDS)
            continue;
        const struct fb_time_scale *scale = fb_block_time_scale(group, columns[i].metric);
        heads[i].unit = columns[i].metric == FB_METRIC_NS_PER_OP ? scale->per_op : scale->name;
    }
    *notes = (struct fb_notes){.reason_count = 0};
    fb_grid_init(grid, heads, COLUMNS, group->count);
    for (size_t i = 0; i < COLUMNS; i++)
        fill_column(group, i, grid, notes);
    fill_status(group, grid);
}
