/* A comparison as CSV: a row a finding, base units. */
#include "report/case.h"
#include "report/formats.h"
#include "report/group.h"

#include <math.h>
#include <stdlib.h>

static void add_name(struct fb_buf *out, const struct fb_cell *cell)
{
    fb_format_csv_text(out, cell != NULL ? cell->id : "");
    fb_buf_adds(out, ",");
}

static void add_number(struct fb_buf *out, double value)
{
    if (!isnan(value))
        fb_buf_addf(out, "%.15g", value);
    fb_buf_adds(out, ",");
}

static void add_summary(struct fb_buf *out, const struct fb_summary *summary)
{
    bool any = summary->n > 0;
    fb_buf_addf(out, "%u,", summary->n);
    add_number(out, any ? summary->median : NAN);
    add_number(out, any ? summary->min : NAN);
    add_number(out, any ? summary->max : NAN);
}

static void add_texts(struct fb_buf *out, const struct fb_finding *finding)
{
    fb_format_csv_text(out, finding->message);
    fb_buf_adds(out, ",");
    fb_format_csv_text(out, finding->where);
    fb_buf_adds(out, ",");
    fb_format_csv_text(out, finding->next);
    fb_buf_adds(out, "\n");
}

static void add_finding(const struct fb_document *document, const struct fb_finding *finding,
                        struct fb_buf *out)
{
    const struct fb_cell *cell = finding->cell != NULL ? finding->cell : finding->base;
    bool whole = finding->metric == FB_METRIC_COUNT;
    bool known = finding->set < document->set_count;
    fb_buf_addf(out, "%s,%s,", fb_judgement_name(finding->judgement),
                finding->gates ? "true" : "false");
    fb_format_csv_text(out, known ? document->sets[finding->set].label : "");
    fb_buf_adds(out, ",");
    fb_format_csv_text(out, cell != NULL ? cell->workload.name : "");
    fb_buf_adds(out, ",");
    add_name(out, finding->base);
    add_name(out, finding->cell);
    fb_buf_addf(out, "%s,%s,", whole ? "" : fb_metrics[finding->metric].name,
                whole ? "" : fb_metrics[finding->metric].unit);
    add_summary(out, &finding->before);
    add_summary(out, &finding->after);
    add_number(out, fb_finding_delta(finding));
    add_number(out, fb_finding_share(finding) * 100);
    add_number(out, finding->limit);
    fb_buf_adds(out, finding->exact ? "true," : "false,");
    add_number(out, finding->p);
    add_texts(out, finding);
}

void fb_format_csv_findings(const struct fb_document *document, struct fb_buf *out)
{
    fb_buf_adds(out, "verdict,gates,set,workload,base,cell,metric,unit,base_n,base_median,base_min,"
                     "base_max,new_n,new_median,new_min,new_max,delta,delta_percent,limit,exact,p,"
                     "message,where,next\n");
    for (size_t i = 0; i < document->findings->count; i++)
        add_finding(document, &document->findings->items[i], out);
}
