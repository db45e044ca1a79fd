/* A run's result.json, or a comparison (docs/comparison-schema.json). */
#include "report/case.h"
#include "report/formats.h"
#include "report/group.h"
#include "report/plain.h"
#include "result/codec.h"
#include "result/store.h"

#include <math.h>
#include <stdlib.h>

#define COMPARISON_SCHEMA "fragbench-comparison/1"

void fb_format_dump(json_t *document, struct fb_buf *out)
{
    char *text = json_dumps(document, JSON_INDENT(1) | JSON_REAL_PRECISION(15));
    fb_buf_adds(out, text != NULL ? text : "null");
    fb_buf_adds(out, "\n");
    free(text);
    json_decref(document);
}

json_t *fb_format_plain(const char *text)
{
    char *plain = fb_plain_text(text, FB_PLAIN_ONE_LINE);
    json_t *value = fb_codec_text(plain);
    free(plain);
    return value;
}

static json_t *set_json(const struct fb_document_set *set)
{
    json_t *object = json_object();
    fb_codec_put(object, "label", fb_codec_text(fb_text_or_empty(set->label)));
    fb_codec_put(object, "folder", fb_codec_text(set->folder));
    fb_codec_put(object, "fragbench", fb_codec_text(set->result->version));
    fb_codec_put(object, "started", fb_codec_text(set->result->started));
    fb_codec_put(object, "kernel", fb_codec_text(set->result->host.kernel));
    fb_codec_put(object, "cells", json_integer((json_int_t)set->result->cell_count));
    return object;
}

static json_t *summary_json(const struct fb_summary *summary)
{
    json_t *object = json_object();
    if (summary->n == 0) {
        json_decref(object);
        return json_null();
    }
    fb_codec_put(object, "n", json_integer(summary->n));
    fb_codec_put(object, "median", fb_codec_number(summary->median));
    fb_codec_put(object, "min", fb_codec_number(summary->min));
    fb_codec_put(object, "max", fb_codec_number(summary->max));
    return object;
}

static json_t *cell_json(const struct fb_cell *cell)
{
    if (cell == NULL)
        return json_null();
    json_t *object = json_object();
    fb_codec_put(object, "id", fb_codec_text(fb_text_or_empty(cell->id)));
    fb_codec_put(object, "workload", fb_codec_text(fb_text_or_empty(cell->workload.name)));
    fb_codec_put(object, "allocator", fb_codec_text(fb_text_or_empty(cell->allocator.name)));
    fb_codec_put(object, "version", fb_codec_text(cell->allocator.version));
    fb_codec_put(object, "status", json_string(fb_status_name(cell->status)));
    return object;
}

static void put_figures(json_t *object, const struct fb_finding *finding)
{
    bool whole = finding->metric == FB_METRIC_COUNT;
    fb_codec_put(object, "metric", fb_codec_text(whole ? NULL : fb_metrics[finding->metric].name));
    fb_codec_put(object, "unit", fb_codec_text(whole ? NULL : fb_metrics[finding->metric].unit));
    fb_codec_put(object, "before", summary_json(&finding->before));
    fb_codec_put(object, "after", summary_json(&finding->after));
    fb_codec_put(object, "delta", fb_codec_number(fb_finding_delta(finding)));
    fb_codec_put(object, "delta_share", fb_codec_number(fb_finding_share(finding)));
    fb_codec_put(object, "limit", fb_codec_number(finding->limit));
    fb_codec_put(object, "exact", json_boolean(finding->exact));
    fb_codec_put(object, "p", fb_codec_number(finding->p));
}

static json_t *finding_json(const struct fb_finding *finding)
{
    json_t *object = json_object();
    fb_codec_put(object, "judgement", json_string(fb_judgement_name(finding->judgement)));
    fb_codec_put(object, "gates", json_boolean(finding->gates));
    fb_codec_put(object, "set", json_integer((json_int_t)finding->set));
    fb_codec_put(object, "base", cell_json(finding->base));
    fb_codec_put(object, "cell", cell_json(finding->cell));
    put_figures(object, finding);
    fb_codec_put(object, "message", fb_codec_text(fb_text_or_empty(finding->message)));
    fb_codec_put(object, "where", fb_codec_text(finding->where));
    fb_codec_put(object, "next", fb_codec_text(finding->next));
    return object;
}

static json_t *counts_json(const struct fb_findings *findings)
{
    json_t *object = json_object();
    for (int i = 0; i < FB_JUDGEMENT_COUNT; i++)
        fb_codec_put(object, fb_judgement_name((enum fb_judgement)i),
                     json_integer((json_int_t)fb_findings_count(findings, (enum fb_judgement)i)));
    return object;
}

static void add_comparison(const struct fb_document *document, struct fb_buf *out)
{
    json_t *object = json_object(), *sets = json_array(), *findings = json_array();
    for (size_t i = 0; i < document->set_count; i++)
        (void)json_array_append_new(sets, set_json(&document->sets[i]));
    for (size_t i = 0; i < document->findings->count; i++)
        (void)json_array_append_new(findings, finding_json(&document->findings->items[i]));
    fb_codec_put(object, "schema", json_string(COMPARISON_SCHEMA));
    fb_codec_put(object, "sets", sets);
    fb_codec_put(object, "passed", json_boolean(fb_findings_gating(document->findings) == 0));
    fb_codec_put(object, "counts", counts_json(document->findings));
    fb_codec_put(object, "findings", findings);
    fb_format_dump(object, out);
}

void fb_format_json(const struct fb_document *document, struct fb_buf *out)
{
    if (document->comparison) {
        add_comparison(document, out);
        return;
    }
    char *text = fb_store_text(document->sets[0].result);
    fb_buf_adds(out, text);
    free(text);
}
