#include "report/ranking.h"

#include "base/alloc.h"
#include "base/units.h"
#include "metrics/ranking.h"
#include "report/block.h"
#include "report/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MIB 1048576.0
#define ROWS_MAX 24U  /* a screen; the table above has every row */
#define NAMES_MAX 12U /* of those not ranked */

enum { RANK, FRONT, CONTENDER, PEAK, RANGE, KEPT, END, TIME, COLUMNS };

static const struct fb_grid_column columns[COLUMNS] = {
    [RANK] = {"rank", "", "rank", false, 0},
    [FRONT] = {"", "", "Pareto front", true, 0},
    [CONTENDER] = {"contender", "", "contender", true, 0},
    [PEAK] = {"peak RSS", "MiB", "peak RSS", false, 0},
    [RANGE] = {"", "", "range", true, 4}, /* the rest from fb_block_head_range() */
    [KEPT] = {"kept", "MiB", "kept", false, 2},
    [END] = {"end RSS", "MiB", "end RSS", false, 3},
    [TIME] = {"time", "ns/op", "time per call", false, 1},
};

static const enum fb_metric metrics[COLUMNS] = {
    [PEAK] = FB_METRIC_PEAK_FOOTPRINT_BYTES,
    [KEPT] = FB_METRIC_KEPT_BYTES,
    [END] = FB_METRIC_END_FOOTPRINT_BYTES,
    [TIME] = FB_METRIC_NS_PER_OP,
};

/* A group's ranking together with the verdict that it borrows from. */
struct judged {
    struct fb_verdict verdict;
    struct fb_ranking ranking;
};

static void judge(const struct fb_group *group, struct judged *judged)
{
    fb_group_judge(group, &judged->verdict);
    fb_ranking_init(&judged->ranking, &judged->verdict);
}

static void judged_deinit(struct judged *judged)
{
    fb_ranking_deinit(&judged->ranking);
    fb_verdict_deinit(&judged->verdict);
}

bool fb_ranking_wanted(const struct fb_group *group)
{
    struct fb_verdict verdict;
    fb_group_judge(group, &verdict);
    bool wanted = verdict.ranked_count > 1 && fb_ranking_worth(group->cells, group->count);
    fb_verdict_deinit(&verdict);
    return wanted;
}

static bool is_shown(const struct fb_ranking *ranking, size_t index)
{
    return index < ROWS_MAX || ranking->items[index].front;
}

static size_t count_shown(const struct fb_ranking *ranking)
{
    size_t shown = 0;
    for (size_t i = 0; i < ranking->count; i++)
        shown += is_shown(ranking, i);
    return shown;
}

/* As in the table above: a column's decimals come from its largest value. */
static int decimals(const struct fb_ranking *ranking, size_t column, double unit)
{
    double largest = 0;
    for (size_t i = 0; i < ranking->count; i++) {
        const struct fb_summary *summary = &ranking->items[i].cell->summary[metrics[column]];
        if (summary->n > 0)
            largest = fmax(largest, fabs(summary->median) / unit);
    }
    if (column == TIME)
        return largest < 100 ? 1 : 0;
    return largest < 10 ? 2 : largest < 10000 ? 1 : 0;
}

static char *number(double value, int digits)
{
    double least = digits == 0 ? 0.5 : digits == 1 ? 0.05 : 0.005;
    return fb_format("%.*f", digits, fabs(value) < least ? 0.0 : value); /* no "-0.0" */
}

static char *value_text(const struct fb_cell *cell, size_t column, double unit, int digits)
{
    const struct fb_summary *summary = &cell->summary[metrics[column]];
    if (summary->n == 0)
        return fb_strdup("n/a");
    return number(summary->median / unit, digits);
}

/* Nothing where all repetitions agree to the digits shown. */
static char *range_text(const struct fb_cell *cell, int digits)
{
    const struct fb_summary *summary = &cell->summary[FB_METRIC_PEAK_FOOTPRINT_BYTES];
    char *low = number(summary->min / MIB, digits), *high = number(summary->max / MIB, digits);
    char *text = strcmp(low, high) == 0 ? NULL : fb_format("(%s–%s)", low, high);
    free(low);
    free(high);
    return text;
}

/* How the values of a column are written. */
struct writing {
    double unit;
    int digits;
};

static void fill_row(const struct fb_ranking *ranking, const struct fb_rank *item,
                     const struct writing *writing, struct fb_grid *grid, size_t row)
{
    fb_grid_set(grid, row, RANK, fb_format("%u", item->rank));
    if (item->front)
        fb_grid_set(grid, row, FRONT, fb_strdup("*"));
    fb_grid_set(grid, row, CONTENDER, fb_strdup(fb_text_or_empty(item->cell->allocator.name)));
    fb_grid_set(grid, row, RANGE, range_text(item->cell, writing[PEAK].digits));
    for (size_t column = PEAK; column < COLUMNS; column++) {
        if (column != RANGE && (column != TIME || ranking->timed))
            fb_grid_set(
                grid, row, column,
                value_text(item->cell, column, writing[column].unit, writing[column].digits));
    }
}

void fb_ranking_grid(const struct fb_group *group, struct fb_grid *grid)
{
    struct judged judged;
    const struct fb_time_scale *scale = fb_block_time_scale(group, FB_METRIC_NS_PER_OP);
    struct writing writing[COLUMNS] = {{0}};
    judge(group, &judged);
    const struct fb_ranking *ranking = &judged.ranking;
    for (size_t column = PEAK; column < COLUMNS; column++) {
        writing[column].unit = column == TIME ? scale->unit_ns : MIB;
        if (column != RANGE)
            writing[column].digits = decimals(ranking, column, writing[column].unit);
    }
    fb_grid_init(grid, columns, COLUMNS, count_shown(ranking));
    fb_block_head_range(group, &grid->columns[RANGE]);
    grid->columns[TIME].unit = scale->per_op;
    size_t row = 0;
    for (size_t i = 0; i < ranking->count; i++) {
        if (is_shown(ranking, i))
            fill_row(ranking, &ranking->items[i], writing, grid, row++);
    }
    judged_deinit(&judged);
}

static void add_rules(const struct fb_group *group, const struct fb_ranking *ranking,
                      const char *bullet, struct fb_buf *out)
{
    size_t hidden = ranking->count - count_shown(ranking);
    fb_buf_addf(out, "%sRanked by peak RSS; equal ranks: ", bullet);
    fb_group_tie(group, "2 %", out);
    fb_buf_adds(out, ".\n");
    if (ranking->timed)
        fb_buf_addf(out,
                    "%s*: on the Pareto front of peak RSS and time: no other needs less of one "
                    "without more of the other (times within %.0f %% are equal).\n",
                    bullet, FB_RANKING_TIME_SHARE * 100);
    else
        fb_buf_addf(out, "%sNo Pareto front: memory only, %s.\n", bullet,
                    group->times_apart != NULL ? group->times_apart : "times were not measured");
    if (hidden > 0)
        fb_buf_addf(out,
                    "%s%zu more of %zu are not shown here: the table above, and csv and json, have "
                    "all.\n",
                    bullet, hidden, ranking->count);
}

static void add_unranked(const struct fb_group *group, struct fb_buf *out)
{
    size_t count = 0;
    for (size_t i = 0; i < group->count; i++) {
        const struct fb_cell *cell = &group->cells[i];
        if (cell->status == FB_STATUS_OK)
            continue;
        if (count++ < NAMES_MAX)
            fb_buf_addf(out, "%s%s (%s)", count == 1 ? "" : ", ",
                        fb_text_or_empty(cell->allocator.name), fb_status_name(cell->status));
    }
    if (count > NAMES_MAX)
        fb_buf_addf(out, " and %zu more", count - NAMES_MAX);
}

static void add_use(const struct fb_cell *cell, const char *what,
                    const struct fb_verdict_style *style, struct fb_buf *out)
{
    char *environment = fb_table_environment(cell), *spec = fb_table_spec(cell);
    fb_buf_addf(out, "%s%s: %s. To measure it again, and to use it:\n", style->bullet, what,
                fb_text_or_empty(cell->allocator.name));
    fb_buf_addf(out, "%s%s%s\n", style->command, spec, style->command_end);
    if (environment[0] != '\0')
        fb_buf_addf(out, "%s%s your-program%s\n", style->command, environment, style->command_end);
    else
        fb_buf_addf(out, "%s(nothing to set: it is what libc has built in)\n", style->note);
    free(spec);
    free(environment);
}

static void add_uses(const struct judged *judged, const struct fb_verdict_style *style,
                     struct fb_buf *out)
{
    const struct fb_cell *best = judged->ranking.items[0].cell;
    const struct fb_cell *end = judged->verdict.least_end;
    const struct fb_cell *fastest = fb_ranking_fastest(&judged->ranking);
    bool ends_worse = end != NULL && end != best && !fb_ranking_equal_end(end, best);
    add_use(best, ends_worse ? "Least at its peak" : "Least memory", style, out);
    if (ends_worse)
        add_use(end, "Least at the end", style, out);
    if (fastest != NULL && fastest != best && !(ends_worse && fastest == end))
        add_use(fastest, "Fastest on the front", style, out);
}

void fb_ranking_sentences(const struct fb_group *group, const struct fb_verdict_style *style,
                          struct fb_buf *out)
{
    struct judged judged;
    struct fb_buf unranked;
    judge(group, &judged);
    add_rules(group, &judged.ranking, style->bullet, out);
    fb_buf_init(&unranked, 65536);
    add_unranked(group, &unranked);
    if (unranked.length > 0)
        fb_buf_addf(out, "%sNot ranked: %s.\n", style->bullet, unranked.text);
    fb_buf_deinit(&unranked);
    add_uses(&judged, style, out);
    judged_deinit(&judged);
}
