/* The largest values allowed: metrics, and allocators with metrics of their own. */
#include "base/alloc.h"
#include "base/suggest.h"
#include "workload/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How a limit is written follows from its metric's unit. */
static const struct {
    const char *unit;   /* of result/metric.c */
    const char *values; /* for people */
    enum fb_unit_kind kind;
    double high;     /* as written, in base units */
    double per_unit; /* base units of the language in one of the metric's */
} forms[] = {
    {"bytes", "a size", FB_UNIT_BYTES, 0x1p60, 1},
    {"byte_seconds", "a size (held for one second)", FB_UNIT_BYTES, 0x1p60, 1},
    {"ratio", "a number", FB_UNIT_COUNT, 1e6, 1},
    {"count", "a count", FB_UNIT_COUNT, 1e15, 1},
    {"ns", "a time", FB_UNIT_TIME, 86400e9, 1},
    {"s", "a time", FB_UNIT_TIME, 86400e9, 1e9},
};
enum { FORMS = sizeof forms / sizeof forms[0] };

/* Those that have a direction. */
static size_t known_metrics(const char *known[FB_METRIC_COUNT])
{
    size_t count = 0;
    for (int i = 0; i < FB_METRIC_COUNT; i++)
        if (fb_metrics[i].better == FB_BETTER_LOWER)
            known[count++] = fb_metrics[i].name;
    return count;
}

/* What is near no metric may be meant as an allocator, where one can stand. */
static void report_unknown(const struct fb_pair *pair, const char *title, bool own)
{
    const char *known[FB_METRIC_COUNT];
    char advice[FB_TITLE_MAX];
    size_t count = known_metrics(known);
    if (own || fb_suggest(pair->name, known, count) != NULL)
        (void)fb_advise(pair->name, known, count, advice, sizeof advice);
    else
        (void)snprintf(advice, sizeof advice,
                       "; an allocator takes a mapping, such as \"%.40s: {ratio_peak: 1.2}\"",
                       pair->name);
    fb_node_fault(pair->key, "unknown-metric", "unknown metric \"%.40s\" in %.80s%s", pair->name,
                  title, advice);
}

/* FB_METRIC_COUNT (a fault): none, or none that can be limited. */
static enum fb_metric find_metric(const struct fb_pair *pair, const char *title, bool own)
{
    enum fb_metric metric = fb_metric_find(pair->name);
    if (metric == FB_METRIC_COUNT) {
        report_unknown(pair, title, own);
        return metric;
    }
    if (fb_metrics[metric].better == FB_BETTER_LOWER)
        return metric;
    fb_node_fault(pair->key, "no-direction",
                  "%s cannot be limited: it describes the pattern, so less of it is not better; "
                  "\"fragbench list metrics\" shows which are",
                  pair->name);
    return FB_METRIC_COUNT;
}

static void add(struct fb_reader *reader, const struct fb_pair *pair, const struct fb_pair *named,
                enum fb_metric metric, double max)
{
    struct fb_workload *workload = reader->workload;
    bool in_file = pair->key.tree->override == NULL;
    workload->limits =
        fb_realloc(workload->limits, workload->limit_count + 1, sizeof *workload->limits);
    struct fb_workload_limit *limit = &workload->limits[workload->limit_count++];
    *limit = (struct fb_workload_limit){.metric = metric, .max = max};
    limit->line = in_file ? pair->key.raw->start_mark.line + 1 : 0;
    if (named == NULL)
        return;
    limit->allocator = fb_strdup(named->name);
    if (named->key.tree->override != NULL)
        return;
    limit->named.line = named->key.raw->start_mark.line + 1;
    limit->named.column = named->key.raw->start_mark.column + 1;
    limit->named.length = named->key.raw->end_mark.line == named->key.raw->start_mark.line
                              ? named->key.raw->end_mark.column - named->key.raw->start_mark.column
                              : 1;
}

static size_t form_of(enum fb_metric metric)
{
    size_t form = 0;
    while (form + 1 < FORMS && strcmp(forms[form].unit, fb_metrics[metric].unit) != 0)
        form++;
    return form;
}

static void read_limit(struct fb_reader *reader, const struct fb_value *outer,
                       const struct fb_pair *pair, const struct fb_pair *named)
{
    struct fb_value value = {.values = outer->values};
    double max = 0;
    enum fb_metric metric = find_metric(pair, outer->what, named != NULL);
    if (metric == FB_METRIC_COUNT)
        return;
    size_t form = form_of(metric);
    value.values = forms[form].values;
    (void)snprintf(value.what, sizeof value.what, "%s of %.80s", pair->name, outer->what);
    if (!fb_value_inner(reader, &value, pair->value, &value) ||
        !fb_value_real(&value, forms[form].kind, 0, forms[form].high, &max))
        return;
    add(reader, pair, named, metric, max / forms[form].per_unit);
}

static void read_allocator(struct fb_reader *reader, const struct fb_pair *named,
                           struct fb_value *value)
{
    struct fb_pairs pairs;
    (void)snprintf(value->what, sizeof value->what, "limits of \"%.60s\"", named->name);
    fb_pairs_init(&pairs, value->node, value->what);
    for (size_t i = 0; i < pairs.count; i++)
        read_limit(reader, value, &pairs.items[i], named);
    fb_pairs_deinit(&pairs);
}

/* A mapping belongs to an allocator, everything else to a metric. */
void fb_read_limits(struct fb_reader *reader, const struct fb_value *limits)
{
    struct fb_pairs pairs;
    struct fb_value outer = *limits, inner;
    if (!fb_node_is_mapping(limits->node)) {
        fb_value_wrong_type(limits);
        return;
    }
    (void)snprintf(outer.what, sizeof outer.what, "limits");
    fb_pairs_init(&pairs, limits->node, outer.what);
    for (size_t i = 0; i < pairs.count; i++) {
        struct fb_node value;
        if (!fb_params_resolve(&reader->params, pairs.items[i].value, &value))
            continue;
        inner = outer;
        inner.node = value;
        if (fb_node_is_mapping(value) && fb_metric_find(pairs.items[i].name) == FB_METRIC_COUNT)
            read_allocator(reader, &pairs.items[i], &inner);
        else
            read_limit(reader, &outer, &pairs.items[i], NULL);
    }
    fb_pairs_deinit(&pairs);
}

static int fail_metric(const char *text, const char *name, struct fb_error *err)
{
    const char *known[FB_METRIC_COUNT];
    char advice[FB_TITLE_MAX];
    if (fb_metric_find(name) != FB_METRIC_COUNT)
        return fb_fail(err, FB_ERROR_INPUT,
                       "--limit \"%s\": less of %s is not better, so it cannot be limited; "
                       "\"fragbench list metrics\" shows what can",
                       text, name);
    (void)fb_advise(name, known, known_metrics(known), advice, sizeof advice);
    return fb_fail(err, FB_ERROR_INPUT, "--limit \"%s\": unknown metric \"%s\"%s", text, name,
                   advice);
}

static int parse_max(const char *text, const char *value, struct fb_workload_limit *out,
                     struct fb_error *err)
{
    size_t form = form_of(out->metric);
    struct fb_error why = {0};
    double max = 0;
    if (fb_units_read_real(forms[form].kind, value, &max, &why) != FB_UNITS_OK)
        return fb_fail(err, FB_ERROR_INPUT, "--limit \"%s\": %s; %s takes %s", text, why.text,
                       fb_metrics[out->metric].name, forms[form].values);
    if (max > forms[form].high)
        return fb_fail(err, FB_ERROR_INPUT, "--limit \"%s\": %s is too much", text, value);
    out->max = max / forms[form].per_unit;
    return 0;
}

int fb_workload_limit_parse(const char *text, struct fb_workload_limit *out, struct fb_error *err)
{
    *out = (struct fb_workload_limit){0};
    const char *colon = strrchr(text, ':'), *name = colon != NULL ? colon + 1 : text;
    const char *equals = strchr(name, '=');
    if (equals == NULL || equals == name || colon == text)
        return fb_fail(err, FB_ERROR_INPUT,
                       "--limit \"%s\": write METRIC=MAX or ALLOCATOR:METRIC=MAX, as in "
                       "peak_footprint_bytes=400MiB",
                       text);
    char *metric = fb_format("%.*s", (int)(equals - name), name);
    out->metric = fb_metric_find(metric);
    bool known =
        out->metric != FB_METRIC_COUNT && fb_metrics[out->metric].better == FB_BETTER_LOWER;
    int status = known ? parse_max(text, equals + 1, out, err) : fail_metric(text, metric, err);
    free(metric);
    if (status == 0 && colon != NULL)
        out->allocator = fb_format("%.*s", (int)(colon - text), text);
    return status;
}
