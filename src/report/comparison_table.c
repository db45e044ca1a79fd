#include "report/comparison_table.h"

#include "base/alloc.h"
#include "metrics/compare.h"
#include "metrics/phases.h"
#include "metrics/wording.h"
#include "report/group.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIB 1048576.0

enum { NAME = 0, METRIC, BASE, NEW, CHANGE, PERCENT, VERDICT, EVIDENCE, RUNS, COLUMNS };

static const struct fb_grid_column heads[COLUMNS] = {
    [NAME] = {"", "", "contender", true, 0},
    [METRIC] = {"", "", "metric", true, 0},
    [BASE] = {"", "base", "base", false, 0},
    [NEW] = {"", "new", "new", false, 0},
    [CHANGE] = {"", "change", "change", false, 3},
    [PERCENT] = {"", "", "per cent", false, 0},
    [VERDICT] = {"", "verdict", "verdict", true, 0},
    [EVIDENCE] = {"", "evidence", "evidence", true, 2},
    [RUNS] = {"", "runs", "runs", true, 4},
};

enum { PHASE = 0, PEAK_BASE, PEAK_NEW, PEAK_CHANGE, END_BASE, END_NEW, END_CHANGE, PHASE_COLUMNS };

static const struct fb_grid_column phase_heads[PHASE_COLUMNS] = {
    [PHASE] = {"phase", "", "phase", true, 0},
    [PEAK_BASE] = {"peak", "MiB", "peak", false, 0},
    [PEAK_NEW] = {"new", "MiB", "new peak", false, 0},
    [PEAK_CHANGE] = {"", "change", "change", false, 1},
    [END_BASE] = {"at its end", "MiB", "at its end", false, 0},
    [END_NEW] = {"new", "MiB", "new at its end", false, 0},
    [END_CHANGE] = {"", "change", "change", false, 1},
};

enum fb_grid_tone fb_comparison_tone(const struct fb_finding *finding)
{
    static const enum fb_grid_tone tones[FB_JUDGEMENT_COUNT] = {
        [FB_JUDGED_IMPROVED] = FB_GRID_GOOD,     [FB_JUDGED_REGRESSED] = FB_GRID_BAD,
        [FB_JUDGED_INCONCLUSIVE] = FB_GRID_WARN, [FB_JUDGED_NEW] = FB_GRID_WARN,
        [FB_JUDGED_MISSING] = FB_GRID_BAD,       [FB_JUDGED_FAILED] = FB_GRID_BAD,
        [FB_JUDGED_OVER_LIMIT] = FB_GRID_BAD,    [FB_JUDGED_SKIPPED] = FB_GRID_WARN,
    };
    return tones[finding->judgement];
}

static const struct fb_cell *shown_cell(const struct fb_finding *finding)
{
    return finding->cell != NULL ? finding->cell : finding->base;
}

static bool same(const char *a, const char *b)
{
    return strcmp(fb_text_or_empty(a), fb_text_or_empty(b)) == 0;
}

static bool together(const struct fb_document *document, const struct fb_finding *a,
                     const struct fb_finding *b)
{
    const struct fb_cell *x = shown_cell(a), *y = shown_cell(b);
    if (x == NULL || y == NULL)
        return false;
    if (document->set_count == 1 && (a->base != NULL || b->base != NULL))
        return a->base == b->base;
    return a->set == b->set && same(x->workload.name, y->workload.name) &&
           same(fb_match_varied(x), fb_match_varied(y));
}

void fb_comparison_blocks_init(struct fb_comparison_blocks *blocks,
                               const struct fb_document *document)
{
    const struct fb_findings *findings = document->findings;
    *blocks = (struct fb_comparison_blocks){
        .items = fb_alloc(findings->count + 1, sizeof *blocks->items)};
    for (size_t i = 0; i < findings->count; i++) {
        const struct fb_finding *finding = &findings->items[i];
        if (shown_cell(finding) == NULL)
            continue;
        size_t place = 0;
        while (place < blocks->count && !together(document, blocks->items[place].items[0], finding))
            place++;
        struct fb_comparison_block *block = &blocks->items[place];
        blocks->count += place == blocks->count;
        block->items = fb_realloc(block->items, block->count + 1, sizeof(struct fb_finding *));
        block->items[block->count++] = finding;
    }
}

void fb_comparison_blocks_deinit(struct fb_comparison_blocks *blocks)
{
    for (size_t i = 0; i < blocks->count; i++)
        free(blocks->items[i].items);
    free(blocks->items);
    *blocks = (struct fb_comparison_blocks){0};
}

void fb_comparison_block_title(const struct fb_document *document,
                               const struct fb_comparison_block *block, struct fb_buf *out)
{
    const struct fb_finding *first = block->items[0];
    const struct fb_cell *cell = shown_cell(first);
    if (document->set_count == 1 && first->base != NULL)
        cell = first->base;
    if (cell == NULL)
        return;
    const char *varied = fb_match_varied(cell);
    fb_buf_addf(out, "%s%s%s%s", fb_text_or_empty(cell->workload.name),
                varied[0] == '\0' ? "" : " (", varied, varied[0] == '\0' ? "" : ")");
}

static void add_title(const struct fb_document *document, const struct fb_comparison_block *block,
                      bool color, struct fb_buf *out)
{
    const struct fb_finding *first = block->items[0];
    if (shown_cell(first) == NULL)
        return;
    fb_buf_adds(out, color ? "\033[1m" : "");
    fb_comparison_block_title(document, block, out);
    fb_buf_adds(out, color ? "\033[0m" : "");
    if (document->set_count == 1 && first->base != NULL)
        fb_buf_addf(out, ", against %s", fb_text_or_empty(first->base->allocator.name));
    if (document->set_count > 2)
        fb_buf_addf(out, ", %s", document->sets[first->set].label);
    fb_buf_adds(out, "\n");
}

/* "jemalloc"; between contenders of two sets "old → new". New string. */
static char *row_name(const struct fb_document *document, const struct fb_finding *finding)
{
    const struct fb_cell *cell = shown_cell(finding);
    if (finding->base == NULL || finding->cell == NULL)
        return cell == NULL ? fb_strdup("") : fb_wording_name(NULL, cell);
    char *name = fb_wording_name(finding->base, cell);
    if (document->set_count == 1 || same(finding->base->id, cell->id))
        return name;
    char *before = fb_wording_name(cell, finding->base);
    char *both = fb_format("%s → %s", before, name);
    free(before);
    free(name);
    return both;
}

/* One unit down the column, where the sizes of a sentence have each their own. */
static const char *column_value(enum fb_metric metric, double value, char *text)
{
    if (isnan(value) || strcmp(fb_metrics[metric].unit, "bytes") != 0)
        return fb_wording_value(metric, value, text);
    (void)snprintf(text, FB_WORDING_CHARS, "%.2f MiB", value / MIB);
    return text;
}

/* "1.213 ± 2 %": the farther end of the range, where it is not a point. New string. */
static char *value_text(enum fb_metric metric, const struct fb_summary *summary)
{
    char text[FB_WORDING_CHARS];
    double spread = fmax(summary->max - summary->median, summary->median - summary->min);
    double percent = 100 * spread / fabs(summary->median);
    (void)column_value(metric, summary->n > 0 ? summary->median : NAN, text);
    if (!(spread > 0) || !isfinite(percent))
        return fb_strdup(text);
    if (percent < 0.05)
        return fb_format("%s ± <0.1 %%", text);
    return fb_format("%s ± %.*f %%", text, percent < 1 ? 1 : 0, percent);
}

static char *runs_text(const struct fb_finding *finding)
{
    if (finding->before.n == finding->after.n)
        return fb_format("%u", finding->after.n);
    return fb_format("%u, %u", finding->before.n, finding->after.n);
}

static void fill_values(struct fb_grid *grid, size_t row, const struct fb_finding *finding)
{
    char text[FB_WORDING_CHARS];
    double change = finding->after.median - finding->before.median;
    fb_grid_set(grid, row, BASE, value_text(finding->metric, &finding->before));
    fb_grid_set(grid, row, NEW, value_text(finding->metric, &finding->after));
    fb_grid_set(grid, row, CHANGE, fb_strdup(fb_wording_difference(finding->metric, change, text)));
    const char *percent = fabs(change) > 0 ? fb_wording_percent(finding, text) : "";
    fb_grid_set(grid, row, PERCENT, fb_strdup(percent));
    fb_grid_set(grid, row, VERDICT, fb_strdup(fb_judgement_name(finding->judgement)));
    fb_grid_tone(grid, row, VERDICT, fb_comparison_tone(finding));
    fb_grid_set(grid, row, EVIDENCE, fb_strdup(fb_wording_evidence(finding, text)));
    fb_grid_set(grid, row, RUNS, runs_text(finding));
}

/* The part of the message behind "workload, contender: ". */
static const char *said(const struct fb_finding *finding)
{
    const char *message = fb_text_or_empty(finding->message);
    const char *colon = strstr(message, ": ");
    struct fb_buf subject;
    fb_buf_init(&subject, 4096);
    fb_wording_subject(finding->base, finding->cell, &subject);
    if (strncmp(message, subject.text, subject.length) == 0)
        colon = message + subject.length;
    fb_buf_deinit(&subject);
    return colon == NULL || strlen(colon) < 2 ? message : colon + 2;
}

static void fill_row(struct fb_grid *grid, size_t row, const struct fb_finding *finding)
{
    if (finding->metric == FB_METRIC_COUNT) {
        fb_grid_span(grid, row,
                     fb_format("%s: %s", fb_judgement_name(finding->judgement), said(finding)),
                     fb_comparison_tone(finding));
        return;
    }
    fb_grid_set(grid, row, METRIC, fb_strdup(fb_metrics[finding->metric].name));
    fill_values(grid, row, finding);
}

static bool hidden(bool all, const struct fb_finding *finding)
{
    return !all && finding->judgement == FB_JUDGED_UNCHANGED;
}

static size_t count_hidden(const struct fb_comparison_block *block, bool all)
{
    size_t count = 0;
    for (size_t i = 0; i < block->count; i++)
        count += hidden(all, block->items[i]);
    return count;
}

size_t fb_comparison_block_grid(const struct fb_document *document,
                                const struct fb_comparison_block *block, bool all, bool names,
                                struct fb_grid *grid)
{
    size_t unchanged = count_hidden(block, all), row = 0;
    const struct fb_finding *before = NULL;
    fb_grid_init(grid, heads, COLUMNS, block->count - unchanged);
    for (size_t i = 0; i < block->count; i++) {
        const struct fb_finding *finding = block->items[i];
        if (hidden(all, finding))
            continue;
        if (names || before == NULL || shown_cell(before) != shown_cell(finding))
            fb_grid_set(grid, row, NAME, row_name(document, finding));
        fill_row(grid, row++, finding);
        before = finding;
    }
    return unchanged;
}

static size_t add_rows(const struct fb_document *document, const struct fb_comparison_block *block,
                       const struct fb_comparison_style *style, struct fb_buf *out)
{
    struct fb_grid grid;
    size_t unchanged = fb_comparison_block_grid(document, block, style->all, false, &grid);
    if (grid.row_count > 0)
        fb_grid_render(&grid, style->width, style->color, out);
    fb_grid_deinit(&grid);
    return unchanged;
}

static char *bytes_text(double bytes)
{
    return fb_format("%.2f", bytes / MIB);
}

static char *percent_text(double before, double after)
{
    double change = before > 0 ? 100 * (after - before) / before : NAN;
    if (isnan(change) || fabs(change) <= 0)
        return fb_strdup("");
    return fb_format("%+.*f %%", fabs(change) < 0.05 ? 4 : 1, change);
}

static void fill_phase(struct fb_grid *grid, size_t row, const struct fb_phase_change *change)
{
    fb_grid_set(grid, row, PHASE, fb_format("  %s", change->name));
    fb_grid_set(grid, row, PEAK_BASE, bytes_text(change->peak_before));
    fb_grid_set(grid, row, PEAK_NEW, bytes_text(change->peak_after));
    fb_grid_set(grid, row, PEAK_CHANGE, percent_text(change->peak_before, change->peak_after));
    fb_grid_set(grid, row, END_BASE, bytes_text(change->end_before));
    fb_grid_set(grid, row, END_NEW, bytes_text(change->end_after));
    fb_grid_set(grid, row, END_CHANGE, percent_text(change->end_before, change->end_after));
}

static void add_phases(const struct fb_document *document, const struct fb_finding *finding,
                       const struct fb_comparison_style *style, struct fb_buf *out)
{
    size_t count = 0, rows = 0, row = 0;
    struct fb_phase_change *changes = fb_phases_compare(finding->base, finding->cell, &count);
    for (size_t i = 0; i < count; i++)
        rows += fb_phase_differs(&changes[i]);
    if (rows > 0) {
        struct fb_grid grid;
        fb_grid_init(&grid, phase_heads, PHASE_COLUMNS, rows);
        for (size_t i = 0; i < count; i++)
            if (fb_phase_differs(&changes[i]))
                fill_phase(&grid, row++, &changes[i]);
        char *name = row_name(document, finding);
        fb_buf_addf(out, "\n%s, anonymous RSS phase by phase%s:\n", name,
                    rows < count ? " (the other phases are the same)" : "");
        free(name);
        fb_grid_render(&grid, style->width, style->color, out);
        fb_grid_deinit(&grid);
    }
    free(changes);
}

static bool changed(const struct fb_finding *finding)
{
    return finding->base != NULL && finding->cell != NULL && finding->metric != FB_METRIC_COUNT &&
           (finding->judgement == FB_JUDGED_REGRESSED || finding->judgement == FB_JUDGED_IMPROVED);
}

void fb_comparison_block_add(const struct fb_document *document,
                             const struct fb_comparison_block *block,
                             const struct fb_comparison_style *style, struct fb_buf *out)
{
    if (count_hidden(block, style->all) == block->count)
        return;
    add_title(document, block, style->color, out);
    size_t unchanged = add_rows(document, block, style, out);
    if (unchanged > 0)
        fb_buf_addf(out, "and %zu unchanged\n", unchanged);
    const struct fb_cell *last = NULL;
    for (size_t i = 0; i < block->count; i++) {
        if (!changed(block->items[i]) || block->items[i]->cell == last)
            continue;
        last = block->items[i]->cell;
        add_phases(document, block->items[i], style, out);
    }
    fb_buf_adds(out, "\n");
}
