/* OpenMetrics text: a gauge family a metric, the median of each cell. */
#include "report/case.h"
#include "report/formats.h"
#include "report/group.h"
#include "report/plain.h"

#include <math.h>
#include <string.h>

static const struct fb_plain_escape label_escapes[] = {
    {'\\', "\\\\"}, {'"', "\\\""}, {'\n', "\\n"}, {'\0', ""}};

/* A unit may be said where the name ends with it, and only there. */
static bool ends_with_unit(const char *name, const char *unit)
{
    size_t length = strlen(name), size = strlen(unit);
    return length > size && strcmp(name + length - size, unit) == 0 &&
           name[length - size - 1] == '_';
}

static void add_family(struct fb_buf *out, const char *name, const char *unit, const char *help)
{
    fb_buf_addf(out, "# TYPE fragbench_%s gauge\n", name);
    if (ends_with_unit(name, unit))
        fb_buf_addf(out, "# UNIT fragbench_%s %s\n", name, unit);
    fb_buf_addf(out, "# HELP fragbench_%s ", name);
    fb_plain_add(out, help, FB_PLAIN_ONE_LINE, label_escapes);
    fb_buf_adds(out, "\n");
}

static void add_label(struct fb_buf *out, const char *lead, const char *name, const char *value)
{
    fb_buf_addf(out, "%s%s=\"", lead, name);
    fb_plain_add(out, value, FB_PLAIN_ONE_LINE, label_escapes);
    fb_buf_adds(out, "\"");
}

static void add_cell_labels(struct fb_buf *out, const struct fb_cell *cell, const char *set)
{
    add_label(out, "{", "cell", cell->id);
    add_label(out, ",", "workload", cell->workload.name);
    add_label(out, ",", "allocator", cell->allocator.name);
    if (*set != '\0')
        add_label(out, ",", "set", set);
}

typedef void add_fn(struct fb_buf *out, const struct fb_cell *cell, const char *set, int metric);

/* Every cell of every set, named where there are several. */
static void each_cell(const struct fb_document *document, struct fb_buf *out, int metric,
                      add_fn *add)
{
    for (size_t i = 0; i < document->set_count; i++) {
        const struct fb_document_set *set = &document->sets[i];
        const char *label = document->set_count > 1 ? fb_text_or_empty(set->label) : "";
        for (size_t j = 0; j < set->result->cell_count; j++)
            add(out, &set->result->cells[j], label, metric);
    }
}

static void add_value(struct fb_buf *out, const struct fb_cell *cell, const char *set, int metric)
{
    if (cell->summary[metric].n == 0)
        return;
    fb_buf_addf(out, "fragbench_%s", fb_metrics[metric].name);
    add_cell_labels(out, cell, set);
    fb_buf_addf(out, "} %.15g\n", cell->summary[metric].median);
}

/* The version stands here alone: on every sample it would make each update another series. */
static void add_status(struct fb_buf *out, const struct fb_cell *cell, const char *set, int metric)
{
    (void)metric;
    fb_buf_adds(out, "fragbench_cell_done");
    add_cell_labels(out, cell, set);
    add_label(out, ",", "version", cell->allocator.version);
    add_label(out, ",", "status", fb_status_name(cell->status));
    fb_buf_addf(out, "} %d\n", fb_status_done(cell->status));
}

static void add_judgements(const struct fb_document *document, struct fb_buf *out)
{
    add_family(out, "findings", "", "How many values were judged so: limits, or the comparison.");
    for (int i = 0; i < FB_JUDGEMENT_COUNT; i++) {
        fb_buf_adds(out, "fragbench_findings");
        add_label(out, "{", "judgement", fb_judgement_name((enum fb_judgement)i));
        fb_buf_addf(out, "} %zu\n", fb_findings_count(document->findings, (enum fb_judgement)i));
    }
    add_family(out, "gating_findings", "", "How many of them fail the job.");
    fb_buf_addf(out, "fragbench_gating_findings %zu\n", fb_findings_gating(document->findings));
}

void fb_format_openmetrics(const struct fb_document *document, struct fb_buf *out)
{
    for (int i = 0; i < FB_METRIC_COUNT; i++) {
        add_family(out, fb_metrics[i].name, fb_metrics[i].unit, fb_metrics[i].help);
        each_cell(document, out, i, add_value);
    }
    add_family(out, "cell_done", "", "1 where the cell ended with figures, else 0.");
    each_cell(document, out, 0, add_status);
    add_judgements(document, out);
    fb_buf_adds(out, "# EOF\n");
}
