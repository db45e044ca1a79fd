/* Every workload under every allocator: a map with the numbers in its cells. */
#include "base/alloc.h"
#include "report/plot_make.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS_MAX 12U
#define ROWS_MAX 60U
#define ROW_PX 21U
#define SLANTED_MAX 36U /* characters of a column's name, written at 60 degrees */
#define SLANT_SIN 0.87
#define SLANT_COS 0.5
#define FLOOR_BYTES 1048576.0 /* less than this is nothing, and no base for a colour */

/* The rows (workloads) and columns (contenders) over all results. */
struct map {
    const struct fb_plot_request *request;
    enum fb_metric metric;
    struct map_row {
        const struct fb_group *group;
    } * rows;
    size_t row_count;
    const char **columns;
    size_t column_count;
    double low, high; /* ends of the colours: ratios, or values over the least of their row */
};

static void add_column(struct map *map, const char *name)
{
    for (size_t i = 0; i < map->column_count; i++)
        if (strcmp(map->columns[i], name) == 0)
            return;
    map->columns = fb_realloc(map->columns, map->column_count + 1, sizeof *map->columns);
    map->columns[map->column_count++] = name;
}

static void collect(struct map *map)
{
    for (size_t s = 0; s < map->request->source_count; s++) {
        const struct fb_groups *groups = &map->request->sources[s].groups;
        for (size_t g = 0; g < groups->count; g++) {
            map->rows = fb_realloc(map->rows, map->row_count + 1, sizeof *map->rows);
            map->rows[map->row_count++].group = &groups->items[g];
            for (size_t c = 0; c < groups->items[g].count; c++)
                add_column(map, fb_text_or_empty(groups->items[g].cells[c].allocator.name));
        }
    }
}

static const struct fb_cell *find_cell(const struct map *map, size_t row, size_t column)
{
    const struct fb_group *group = map->rows[row].group;
    for (size_t i = 0; i < group->count; i++)
        if (strcmp(fb_text_or_empty(group->cells[i].allocator.name), map->columns[column]) == 0)
            return &group->cells[i];
    return NULL;
}

static double value_of(const struct map *map, size_t row, size_t column)
{
    const struct fb_cell *cell = find_cell(map, row, column);
    if (cell == NULL || cell->summary[map->metric].n == 0)
        return NAN;
    return cell->summary[map->metric].median;
}

static bool is_ratio(const struct map *map)
{
    return strcmp(fb_metrics[map->metric].unit, "ratio") == 0;
}

/* What the colour is of: a ratio as it is; anything else over the least of its row, since the rows'
 * own sizes say nothing. */
static double shade_value(const struct map *map, size_t row, size_t column)
{
    double value = value_of(map, row, column);
    double least = INFINITY;
    bool bytes = strcmp(fb_metrics[map->metric].unit, "bytes") == 0;
    double floor = bytes ? FLOOR_BYTES : 1e-12;
    if (isnan(value) || is_ratio(map))
        return value;
    for (size_t i = 0; i < map->column_count; i++)
        least = fmin(least, value_of(map, row, i));
    return fmax(value, floor) / fmax(least, floor);
}

static void find_range(struct map *map)
{
    map->low = INFINITY;
    map->high = 0;
    for (size_t row = 0; row < map->row_count; row++)
        for (size_t column = 0; column < map->column_count; column++) {
            double value = shade_value(map, row, column);
            if (isnan(value) || value <= 0)
                continue;
            map->low = fmin(map->low, value);
            map->high = fmax(map->high, value);
        }
    map->low = fmin(map->low, 1);
    map->high = fmax(map->high, map->low * 2);
}

/* From nearly white over blue to dark blue; `at` from 0 to 1. */
static unsigned ramp(double at)
{
    static const double stops[][3] = {{243, 247, 251}, {107, 174, 214}, {8, 48, 107}};
    double scaled = fmin(fmax(at, 0), 1) * 2;
    unsigned from = scaled >= 1 ? 1 : 0;
    unsigned colour = 0;
    for (unsigned i = 0; i < 3; i++) {
        double part = stops[from][i] + (stops[from + 1][i] - stops[from][i]) * (scaled - from);
        colour = colour << 8 | (unsigned)(part + 0.5);
    }
    return colour;
}

static double position(const struct map *map, double value)
{
    return value <= 0 ? 0 : log(value / map->low) / log(map->high / map->low);
}

/* The unit of the numbers in the cells; the title names it. */
static struct fb_plot_unit unit_of(const struct map *map)
{
    const char *unit = fb_metrics[map->metric].unit;
    if (strcmp(unit, "bytes") == 0)
        return (struct fb_plot_unit){"MiB", FLOOR_BYTES};
    if (strcmp(unit, "byte_seconds") == 0)
        return (struct fb_plot_unit){"MiB s", FLOOR_BYTES};
    return (struct fb_plot_unit){unit, 1};
}

static void format_number(const struct map *map, double value, char *text, size_t size)
{
    double shown = value / unit_of(map).base;
    int decimals = is_ratio(map) || fabs(shown) < 10 ? 2 : fabs(shown) < 100 ? 1 : 0;
    if (isnan(value))
        (void)snprintf(text, size, "n/a");
    else
        (void)snprintf(text, size, "%.*f", decimals, shown);
}

/* "cells": column, row, colour, text, colour of the text. */
static void put_cell(const struct map *map, size_t row, size_t column, size_t at_row,
                     size_t at_column, size_t fits, struct fb_buf *data)
{
    const struct fb_cell *cell = find_cell(map, row, column);
    double value = value_of(map, row, column);
    double at = position(map, shade_value(map, row, column));
    char text[40];
    format_number(map, value, text, sizeof text);
    const char *shown = cell == NULL                    ? ""
                        : !fb_status_done(cell->status) ? fb_status_name(cell->status)
                                                        : text;
    char *cut = shown == text ? fb_strdup(text) : fb_plot_cut(shown, fits); /* a number is whole */
    fb_buf_addf(data, "%zu\t%zu\t%u\t", at_column, at_row, isnan(value) ? 0xeeeeeeU : ramp(at));
    fb_plot_field(data, cut);
    fb_buf_addf(data, "\t%u\n", isnan(value) ? 0x555555U : at > 0.55 ? 0xffffffU : 0U);
    free(cut);
}

/* A part of the map that makes one picture. */
struct page {
    size_t row, rows, column, columns;
    unsigned number, of;
};

static void put_names(const struct map *map, const struct page *page, unsigned left, size_t fits,
                      struct fb_buf *data)
{
    fb_plot_dataset(data, "rows");
    for (size_t i = 0; i < page->rows; i++) {
        struct fb_buf title;
        fb_buf_init(&title, FB_PLOT_DATA_CAP_BYTES);
        fb_group_title(map->rows[page->row + i].group, &title);
        const char *name = fb_text_or_empty(map->rows[page->row + i].group->cells[0].workload.name);
        bool fit = fb_plot_length(title.text) <= fb_plot_fit((double)left - 24);
        char *cut = fb_plot_cut(fit ? title.text : name, fb_plot_fit((double)left - 24));
        fb_buf_addf(data, "%zu\t", i + 1);
        fb_plot_field(data, cut);
        fb_buf_adds(data, "\n");
        free(cut);
        fb_buf_deinit(&title);
    }
    fb_plot_dataset(data, "columns");
    for (size_t i = 0; i < page->columns; i++) {
        char *cut = fb_plot_cut(map->columns[page->column + i], fits);
        fb_buf_addf(data, "%zu\t", i + 1);
        fb_plot_field(data, cut);
        fb_buf_adds(data, "\n");
        free(cut);
    }
}

static unsigned left_px(const struct map *map, unsigned width)
{
    size_t longest = 0;
    for (size_t i = 0; i < map->row_count; i++) {
        size_t length =
            fb_plot_length(fb_text_or_empty(map->rows[i].group->cells[0].workload.name));
        longest = length > longest ? length : longest;
    }
    double px = fmax(7.4 * (double)longest + 28, width * 0.22);
    return (unsigned)fmin(px, width * 0.4);
}

static void put_caption(const struct map *map, struct fb_buf *caption)
{
    const struct fb_metric_info *metric = &fb_metrics[map->metric];
    char low[40], high[40];
    fb_buf_addf(caption, "%s ", metric->help);
    if (is_ratio(map))
        fb_buf_addf(caption, "Colours are logarithmic, from %s (light) to %s (dark). ",
                    fb_plot_value(map->metric, map->low, low, sizeof low),
                    fb_plot_value(map->metric, map->high, high, sizeof high));
    else
        fb_buf_addf(caption,
                    "Colours are logarithmic: a value over the least of its row, up to %.3g times "
                    "(dark). ",
                    map->high);
    fb_buf_adds(caption, "Each number is the median of its runs. ");
}

static size_t longest_column(const struct map *map, const struct page *page)
{
    size_t longest = 0;
    for (size_t i = 0; i < page->columns; i++) {
        size_t length = fb_plot_length(map->columns[page->column + i]);
        longest = length > longest ? length : longest;
    }
    return longest;
}

static void put_page(const struct map *map, const struct page *page, struct fb_pictures *out)
{
    struct fb_plot_frame frame;
    fb_plot_frame_init(&frame, map->request->width);
    const struct fb_metric_info *metric = &fb_metrics[map->metric];
    char *title = fb_format("%s (%s%s%s)", metric->title, metric->name, is_ratio(map) ? "" : ", ",
                            is_ratio(map) ? "" : unit_of(map).name);
    frame.title = title;
    frame.left_px = left_px(map, frame.width);
    double cell_px = fb_plot_frame_inner(&frame) / (double)page->columns;
    size_t fits = fb_plot_fit(cell_px - 4);
    size_t longest = longest_column(map, page);
    bool slanted = longest > fits;
    if (slanted) {
        longest = longest < SLANTED_MAX ? longest : SLANTED_MAX;
        frame.top_rows = (unsigned)((double)longest * 6.6 * SLANT_SIN / 15) + 1;
        frame.right_px = (unsigned)((double)longest * 6.6 * SLANT_COS) + 8;
        cell_px = fb_plot_frame_inner(&frame) / (double)page->columns;
    } else {
        frame.top_rows = 1;
    }
    frame.axis_px = 10;
    frame.plot_px = (unsigned)page->rows * ROW_PX;
    fb_host_line(&map->request->sources[0].result->host, &frame.subtitle);
    if (page->of > 1)
        fb_buf_addf(&frame.subtitle, "; picture %u of %u", page->number, page->of);
    put_caption(map, &frame.caption);
    struct fb_picture *picture =
        fb_pictures_add(out, "library", NULL, page->number, fb_strdup(title));
    const double extra[] = {(double)page->rows, (double)page->columns, slanted};
    fb_plot_frame_put(&frame, extra, sizeof extra / sizeof extra[0], &picture->data);
    put_names(map, page, frame.left_px, slanted ? SLANTED_MAX : fits, &picture->data);
    fb_plot_dataset(&picture->data, "cells");
    for (size_t row = 0; row < page->rows; row++)
        for (size_t column = 0; column < page->columns; column++)
            put_cell(map, page->row + row, page->column + column, row + 1, column + 1,
                     fb_plot_fit_small(cell_px - 4), &picture->data);
    free(title);
    fb_plot_frame_deinit(&frame);
}

static void put_pages(const struct map *map, struct fb_pictures *out)
{
    size_t down = (map->row_count + ROWS_MAX - 1) / ROWS_MAX;
    size_t across = (map->column_count + COLUMNS_MAX - 1) / COLUMNS_MAX;
    struct page page = {.of = (unsigned)(down * across)};
    for (page.row = 0; page.row < map->row_count; page.row += ROWS_MAX)
        for (page.column = 0; page.column < map->column_count; page.column += COLUMNS_MAX) {
            size_t rows = map->row_count - page.row, columns = map->column_count - page.column;
            page.rows = rows < ROWS_MAX ? rows : ROWS_MAX;
            page.columns = columns < COLUMNS_MAX ? columns : COLUMNS_MAX;
            page.number++;
            put_page(map, &page, out);
        }
}

void fb_plot_library(const struct fb_plot_request *request, struct fb_pictures *out)
{
    struct map map = {.request = request, .metric = request->metric};
    bool named = request->metric != FB_METRIC_COUNT;
    if (!named)
        map.metric = FB_METRIC_RATIO_PEAK;
    collect(&map);
    find_range(&map);
    if (map.row_count == 0)
        fb_pictures_lack(out, "library", "the result has no cells");
    else if (map.high <= 0)
        fb_pictures_lack(out, "library", "no cell has a value of %s", fb_metrics[map.metric].name);
    else
        put_pages(&map, out);
    free(map.rows);
    free(map.columns);
}
