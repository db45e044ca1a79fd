/* The input of github-action-benchmark's customSmallerIsBetter. */
#include "base/alloc.h"
#include "report/case.h"
#include "report/formats.h"
#include "report/group.h"
#include "result/codec.h"

#include <stdlib.h>

/* One chart each: what repeats exactly, so that the action's threshold can be a narrow one. */
static const enum fb_metric charted[] = {
    FB_METRIC_PEAK_FOOTPRINT_BYTES,
    FB_METRIC_RATIO_PEAK,
    FB_METRIC_KEPT_BYTES,
    FB_METRIC_END_FOOTPRINT_BYTES,
    FB_METRIC_RETAINED_IDLE_10S_BYTES,
};

static json_t *entry(const struct fb_cell *cell, enum fb_metric metric, const char *set)
{
    const struct fb_summary *summary = &cell->summary[metric];
    json_t *object = json_object();
    char *params = fb_cell_params(cell);
    char *name = fb_format("%s%s / %s / %s%s%s%s", fb_text_or_empty(cell->workload.name), params,
                           fb_text_or_empty(cell->allocator.name), fb_metrics[metric].name,
                           *set != '\0' ? " [" : "", set, *set != '\0' ? "]" : "");
    char *range = fb_format("%.15g to %.15g", summary->min, summary->max);
    char *extra =
        fb_format("%s %s, %u runs, %s", fb_text_or_empty(cell->allocator.spec),
                  fb_text_or_empty(cell->allocator.version), summary->n, fb_metrics[metric].title);
    fb_codec_put(object, "name", fb_format_plain(name));
    fb_codec_put(object, "unit", fb_format_plain(fb_metrics[metric].unit));
    fb_codec_put(object, "value", fb_codec_number(summary->median));
    if (summary->max > summary->min)
        fb_codec_put(object, "range", fb_format_plain(range));
    fb_codec_put(object, "extra", fb_format_plain(extra));
    free(extra);
    free(range);
    free(name);
    free(params);
    return object;
}

/* What refused work is left out: less memory for less work is no improvement. */
static void add_set(json_t *entries, const struct fb_document_set *set, const char *label)
{
    for (size_t i = 0; i < set->result->cell_count; i++) {
        const struct fb_cell *cell = &set->result->cells[i];
        for (size_t j = 0; j < sizeof charted / sizeof charted[0]; j++)
            if (cell->status == FB_STATUS_OK && cell->summary[charted[j]].n > 0)
                (void)json_array_append_new(entries, entry(cell, charted[j], label));
    }
}

void fb_format_benchmark_action(const struct fb_document *document, struct fb_buf *out)
{
    json_t *entries = json_array();
    size_t first = document->comparison && document->set_count > 1 ? 1 : 0; /* not the base */
    bool several = document->set_count - first > 1;
    for (size_t i = first; i < document->set_count; i++)
        add_set(entries, &document->sets[i],
                several ? fb_text_or_empty(document->sets[i].label) : "");
    fb_format_dump(entries, out);
}
