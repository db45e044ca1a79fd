#include "report/html_table.h"

#include "base/alloc.h"
#include "report/html_text.h"
#include "result/metric.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *text_at(const struct fb_grid *grid, size_t row, size_t column)
{
    return grid->texts[row * grid->column_count + column];
}

/* Where all rows have a span, it has the second column. */
static bool is_empty(const struct fb_grid *grid, size_t column)
{
    for (size_t row = 0; row < grid->row_count; row++)
        if (text_at(grid, row, column) != NULL || (column == 1 && grid->spans[row] != NULL))
            return false;
    return column > 0;
}

static void add_heading(struct fb_buf *out, const struct fb_grid_column *column)
{
    bool titled = column->title[0] != '\0';
    fb_buf_addf(out, "<th scope=\"col\"%s title=\"", column->left ? " class=\"left\"" : "");
    fb_html_text(out, column->label);
    fb_buf_adds(out, "\">");
    const char *name = column->unit[0] != '\0' ? column->unit : column->label;
    fb_html_text(out, titled ? column->title : name);
    if (titled && column->unit[0] != '\0') {
        fb_buf_adds(out, "<span>");
        fb_html_text(out, column->unit);
        fb_buf_adds(out, "</span>");
    }
    fb_buf_adds(out, "</th>");
}

/* The number that the script sorts by, where the text is one. */
static void add_sort_key(struct fb_buf *out, const char *text)
{
    char *end;
    double value = strtod(text, &end);
    if (end != text && *end == '\0' && isfinite(value))
        fb_buf_addf(out, " data-v=\"%s\"", text);
}

static void add_cell(struct fb_buf *out, const struct fb_grid *grid, size_t row, size_t column)
{
    static const char *const tones[] = {[FB_GRID_PLAIN] = "",
                                        [FB_GRID_GOOD] = "good",
                                        [FB_GRID_WARN] = "warn",
                                        [FB_GRID_BAD] = "bad"};
    const char *text = text_at(grid, row, column);
    enum fb_grid_tone tone = grid->tones[row * grid->column_count + column];
    bool left = grid->columns[column].left;
    fb_buf_adds(out, column == 0 ? "<th scope=\"row\"" : "<td");
    if (column > 0 && (left || tone != FB_GRID_PLAIN))
        fb_buf_addf(out, " class=\"%s%s%s\"", left ? "left" : "",
                    left && tone != FB_GRID_PLAIN ? " " : "", tones[tone]);
    if (text != NULL && column > 0)
        add_sort_key(out, text);
    fb_buf_adds(out, ">");
    fb_html_text(out, text == NULL ? "" : text);
    fb_buf_adds(out, column == 0 ? "</th>" : "</td>");
}

static void add_span(struct fb_buf *out, const struct fb_grid *grid, size_t row, size_t columns)
{
    bool bad = grid->tones[row * grid->column_count + 1] == FB_GRID_BAD;
    fb_buf_addf(out, "<td class=\"wide %s\" colspan=\"%zu\">", bad ? "bad" : "warn", columns);
    fb_html_text(out, grid->spans[row]);
    fb_buf_adds(out, "</td>");
}

static void add_row(struct fb_buf *out, const struct fb_grid *grid, size_t row, size_t shown)
{
    fb_buf_adds(out, "<tr>");
    add_cell(out, grid, row, 0);
    if (grid->spans[row] != NULL && shown > 1)
        add_span(out, grid, row, shown - 1);
    for (size_t column = 1; column < grid->column_count && grid->spans[row] == NULL; column++)
        if (!is_empty(grid, column))
            add_cell(out, grid, row, column);
    fb_buf_adds(out, "</tr>\n");
}

void fb_html_grid(struct fb_buf *out, const struct fb_grid *grid, const char *caption)
{
    size_t shown = 0;
    fb_buf_adds(out, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"");
    fb_html_text(out, caption);
    fb_buf_adds(out, "\"><table class=\"sortable\"><caption>");
    fb_html_text(out, caption);
    fb_buf_adds(out, "</caption>\n<thead><tr>");
    for (size_t column = 0; column < grid->column_count; column++) {
        if (is_empty(grid, column))
            continue;
        add_heading(out, &grid->columns[column]);
        shown++;
    }
    fb_buf_adds(out, "</tr></thead>\n<tbody>\n");
    for (size_t row = 0; row < grid->row_count; row++)
        add_row(out, grid, row, shown);
    fb_buf_adds(out, "</tbody></table></div>\n");
}

static bool has_metric(const struct fb_group *group, size_t metric)
{
    for (size_t i = 0; i < group->count; i++)
        if (group->cells[i].summary[metric].n > 0)
            return true;
    return false;
}

/* "MiB" and what one of it is in base units. */
static double shown_unit(const struct fb_metric_info *metric, const char **name)
{
    if (strcmp(metric->unit, "bytes") == 0) {
        *name = "MiB";
        return 1048576.0;
    }
    if (strcmp(metric->unit, "byte_seconds") == 0) {
        *name = "MiB·s";
        return 1048576.0;
    }
    *name = strcmp(metric->unit, "ratio") == 0 || strcmp(metric->unit, "count") == 0 ? ""
                                                                                     : metric->unit;
    return 1;
}

static char *summary_text(const struct fb_summary *summary, const struct fb_metric_info *metric)
{
    const char *name;
    double unit = shown_unit(metric, &name);
    int digits = strcmp(metric->unit, "count") == 0 ? 0 : 2;
    char *median = fb_format("%.*f", digits, summary->median / unit);
    char *low = fb_format("%.*f", digits, summary->min / unit);
    char *high = fb_format("%.*f", digits, summary->max / unit);
    bool spread = strcmp(low, high) != 0;
    char *text = spread ? fb_format("%s (%s–%s)", median, low, high) : fb_strdup(median);
    free(median);
    free(low);
    free(high);
    return text;
}

static void add_metric_row(struct fb_buf *out, const struct fb_group *group, size_t metric)
{
    const char *unit;
    (void)shown_unit(&fb_metrics[metric], &unit);
    fb_buf_adds(out, "<tr><th scope=\"row\">");
    fb_html_text(out, fb_metrics[metric].name);
    fb_buf_addf(out, "</th><td class=\"left\">%s</td>", unit);
    for (size_t i = 0; i < group->count; i++) {
        const struct fb_summary *summary = &group->cells[i].summary[metric];
        char *text =
            summary->n == 0 ? fb_strdup("n/a") : summary_text(summary, &fb_metrics[metric]);
        fb_buf_addf(out, "<td>%s</td>", text);
        free(text);
    }
    fb_buf_adds(out, "</tr>\n");
}

void fb_html_metrics(struct fb_buf *out, const struct fb_group *group)
{
    fb_buf_adds(out,
                "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"all metrics\">"
                "<table><caption>Median over the runs, and their range where they differ."
                "</caption>\n<thead><tr><th scope=\"col\" class=\"left\">metric</th>"
                "<th scope=\"col\" class=\"left\">unit</th>");
    for (size_t i = 0; i < group->count; i++) {
        fb_buf_adds(out, "<th scope=\"col\">");
        fb_html_text(out, fb_text_or_empty(group->cells[i].allocator.name));
        fb_buf_adds(out, "</th>");
    }
    fb_buf_adds(out, "</tr></thead>\n<tbody>\n");
    for (size_t metric = 0; metric < FB_METRIC_COUNT; metric++)
        if (has_metric(group, metric))
            add_metric_row(out, group, metric);
    fb_buf_adds(out, "</tbody></table></div>\n");
}

void fb_html_definitions(struct fb_buf *out, const struct fb_group *group)
{
    fb_buf_adds(out, "<dl>\n");
    for (size_t i = 0; i < FB_METRIC_COUNT; i++) {
        const struct fb_metric_info *metric = &fb_metrics[i];
        if (!has_metric(group, i))
            continue;
        fb_buf_addf(out, "<dt><code>%s</code></dt><dd>", metric->name);
        fb_html_text(out, metric->title);
        fb_buf_adds(out, ": ");
        fb_html_text(out, metric->help);
        if (metric->source[0] != '\0') {
            fb_buf_adds(out, " <span class=\"soft\">");
            fb_html_text(out, metric->source);
            fb_buf_adds(out, ".</span>");
        }
        fb_buf_adds(out, "</dd>\n");
    }
    fb_buf_adds(out, "</dl>\n");
}
