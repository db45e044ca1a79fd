/* A comparison for GitHub: what gates in words, then a table of every finding. */
#include "base/alloc.h"
#include "metrics/show.h"
#include "report/case.h"
#include "report/formats.h"
#include "report/gates.h"
#include "report/grid.h"
#include "report/group.h"

#include <math.h>
#include <stdlib.h>

enum { VERDICT, WHAT, METRIC, BASE, NEW, CHANGE, RANGES, COLUMNS };

static const struct fb_grid_column columns[COLUMNS] = {
    [VERDICT] = {"verdict", "", "verdict", true, 0},
    [WHAT] = {"cell", "", "cell", true, 0},
    [METRIC] = {"metric", "", "metric", true, 0},
    [BASE] = {"base", "", "base", false, 0},
    [NEW] = {"new", "", "new", false, 0},
    [CHANGE] = {"change", "", "change", false, 0},
    [RANGES] = {"ranges", "", "ranges", true, 0},
};

static char *value(enum fb_metric metric, const struct fb_summary *summary)
{
    return summary->n > 0 ? fb_metric_show(metric, summary->median) : NULL;
}

static char *range(enum fb_metric metric, const struct fb_summary *summary)
{
    if (summary->n == 0)
        return fb_strdup("none");
    char *low = fb_metric_show(metric, summary->min), *high = fb_metric_show(metric, summary->max);
    char *text = fb_format("%s to %s", low, high);
    free(low);
    free(high);
    return text;
}

static char *ranges(const struct fb_finding *finding)
{
    bool spread =
        finding->before.max > finding->before.min || finding->after.max > finding->after.min;
    if (!spread)
        return NULL;
    char *before = range(finding->metric, &finding->before);
    char *after = range(finding->metric, &finding->after);
    char *text = fb_format("%s; %s", before, after);
    free(before);
    free(after);
    return text;
}

/* A limit's row has no base, but what was allowed. */
static char *base_text(const struct fb_finding *finding)
{
    if (isnan(finding->limit))
        return value(finding->metric, &finding->before);
    char *limit = fb_metric_show(finding->metric, finding->limit);
    char *text = fb_format("at most %s", limit);
    free(limit);
    return text;
}

static void fill_row(struct fb_grid *grid, size_t row, const struct fb_case *item)
{
    const struct fb_finding *finding = item->finding;
    double share = fb_finding_share(finding);
    fb_grid_set(grid, row, VERDICT,
                fb_format("%s%s", item->type, finding->gates ? " (gates)" : ""));
    fb_grid_set(grid, row, WHAT, fb_strdup(fb_text_or_empty(item->cell->id)));
    if (finding->metric == FB_METRIC_COUNT)
        return;
    fb_grid_set(grid, row, METRIC, fb_strdup(fb_metrics[finding->metric].name));
    fb_grid_set(grid, row, BASE, base_text(finding));
    fb_grid_set(grid, row, NEW, value(finding->metric, &finding->after));
    if (!isnan(share))
        fb_grid_set(grid, row, CHANGE, fb_format("%+.1f %%", share * 100));
    fb_grid_set(grid, row, RANGES, ranges(finding));
}

void fb_format_markdown_findings(const struct fb_document *document, struct fb_buf *out)
{
    struct fb_cases cases;
    struct fb_grid grid;
    fb_cases_init(&cases, document);
    fb_grid_init(&grid, columns, COLUMNS, cases.count);
    for (size_t i = 0; i < cases.count; i++)
        fill_row(&grid, i, &cases.items[i]);
    fb_gates_markdown_comparison(document->findings, out);
    if (cases.count > 0)
        fb_grid_markdown(&grid, out);
    fb_grid_deinit(&grid);
    fb_cases_deinit(&cases);
}
