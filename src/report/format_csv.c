#include "report/formats.h"

#include "base/alloc.h"
#include "report/group.h"
#include "report/plain.h"
#include "result/csv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Spreadsheets run a cell that begins with one of these as a formula: a leading apostrophe keeps
 * it text. Numbers are written elsewhere and stay numbers. */
void fb_format_csv_text(struct fb_buf *out, const char *text)
{
    char *plain = fb_plain_text(text, FB_PLAIN_KEEP_LINES);
    bool formula = plain[0] != '\0' && strchr("=+-@", plain[0]) != NULL;
    char *safe = fb_format("%s%s", formula ? "'" : "", plain);
    fb_csv_add(out, safe);
    free(safe);
    free(plain);
}

static void add_text(struct fb_buf *out, const char *text)
{
    fb_format_csv_text(out, text);
    fb_buf_adds(out, ",");
}

static void add_params(struct fb_buf *out, const struct fb_cell *cell)
{
    struct fb_buf text;
    fb_buf_init(&text, 65536);
    for (size_t i = 0; i < cell->workload.param_count; i++)
        fb_buf_addf(&text, "%s%s=%s", i == 0 ? "" : " ", cell->workload.params[i].name,
                    fb_text_or_empty(cell->workload.params[i].value));
    add_text(out, text.text);
    fb_buf_deinit(&text);
}

static void add_number(struct fb_buf *out, double value, const char *end)
{
    if (isnan(value))
        fb_buf_adds(out, end);
    else
        fb_buf_addf(out, "%.15g%s", value, end);
}

static void add_summaries(struct fb_buf *out, const struct fb_cell *cell)
{
    for (int i = 0; i < FB_METRIC_COUNT; i++) {
        const struct fb_summary *summary = &cell->summary[i];
        bool any = summary->n > 0;
        add_number(out, any ? summary->median : NAN, ",");
        add_number(out, any ? summary->min : NAN, ",");
        add_number(out, any ? summary->max : NAN, i + 1 == FB_METRIC_COUNT ? "\n" : ",");
    }
}

static void add_header(struct fb_buf *out)
{
    fb_buf_adds(out, "id,workload,params,allocator,version,status,status_detail");
    for (int i = 0; i < FB_METRIC_COUNT; i++)
        fb_buf_addf(out, ",%s,%s_min,%s_max", fb_metrics[i].name, fb_metrics[i].name,
                    fb_metrics[i].name);
    fb_buf_adds(out, "\n");
}

void fb_format_csv(const struct fb_document *document, struct fb_buf *out)
{
    const struct fb_result *result = document->sets[0].result;
    if (document->comparison) {
        fb_format_csv_findings(document, out);
        return;
    }
    add_header(out);
    for (size_t i = 0; i < result->cell_count; i++) {
        const struct fb_cell *cell = &result->cells[i];
        add_text(out, cell->id);
        add_text(out, cell->workload.name);
        add_params(out, cell);
        add_text(out, cell->allocator.name);
        add_text(out, cell->allocator.version);
        add_text(out, fb_status_name(cell->status));
        add_text(out, cell->status_detail);
        add_summaries(out, cell);
    }
}
