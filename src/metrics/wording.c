#include "metrics/wording.h"

#include "base/alloc.h"
#include "metrics/match.h"
#include "metrics/show.h"
#include "metrics/tolerance.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *or_empty(const char *text)
{
    return text == NULL ? "" : text;
}

static const char *put(char *buffer, const char *text)
{
    (void)snprintf(buffer, FB_WORDING_CHARS, "%s", text);
    return buffer;
}

/* Magnitude with its unit. */
static void put_size(enum fb_metric metric, double size, char *buffer)
{
    char *shown = fb_metric_show(metric, size);
    (void)put(buffer, shown);
    free(shown);
}

const char *fb_wording_value(enum fb_metric metric, double value, char *buffer)
{
    put_size(metric, value, buffer);
    return buffer;
}

const char *fb_wording_difference(enum fb_metric metric, double difference, char *buffer)
{
    if (isnan(difference))
        return put(buffer, "");
    if (fabs(difference) <= 0)
        return put(buffer, "0");
    char size[FB_WORDING_CHARS];
    put_size(metric, fabs(difference), size);
    (void)snprintf(buffer, FB_WORDING_CHARS, "%s%.*s", difference < 0 ? "-" : "+",
                   FB_WORDING_CHARS - 2, size);
    return buffer;
}

const char *fb_wording_percent(const struct fb_finding *finding, char *buffer)
{
    double change = finding->after.median - finding->before.median;
    double scale = finding->base == NULL || finding->metric == FB_METRIC_COUNT
                       ? NAN
                       : fb_tolerance_scale(finding->metric, finding->base);
    if (!(scale > 0) || isnan(change))
        return put(buffer, "");
    double percent = 100 * change / scale;
    if (fabs(percent) <= 0)
        return put(buffer, "0");
    /* A real difference is never shown as none. */
    int digits = fabs(percent) >= 0.05 ? 1 : 4;
    (void)snprintf(buffer, FB_WORDING_CHARS, "%+.*f %%", fabs(percent) >= 1000 ? 0 : digits,
                   percent);
    return buffer;
}

static void add_place(const struct fb_cell *cell, struct fb_buf *out)
{
    const char *varied = fb_match_varied(cell);
    fb_buf_adds(out, or_empty(cell->workload.name));
    if (varied[0] != '\0')
        fb_buf_addf(out, " (%s)", varied);
}

static bool same(const char *a, const char *b)
{
    return strcmp(or_empty(a), or_empty(b)) == 0;
}

char *fb_wording_name(const struct fb_cell *base, const struct fb_cell *cell)
{
    const char *name = or_empty(cell->allocator.name), *varied = fb_match_varied(cell);
    bool contender = base == NULL || !same(base->allocator.name, name);
    bool params = base != NULL && !same(fb_match_varied(base), varied);
    if (params && contender)
        return fb_format("%s, %s", name, varied[0] == '\0' ? "defaults" : varied);
    return fb_strdup(params ? (varied[0] == '\0' ? "defaults" : varied) : name);
}

void fb_wording_subject(const struct fb_cell *base, const struct fb_cell *cell, struct fb_buf *out)
{
    const struct fb_cell *shown = cell != NULL ? cell : base;
    if (shown == NULL)
        return;
    if (base == NULL || cell == NULL || same(base->id, cell->id)) {
        add_place(shown, out);
        fb_buf_addf(out, ", %s", or_empty(shown->allocator.name));
        return;
    }
    char *name = fb_wording_name(base, cell), *other = fb_wording_name(cell, base);
    if (same(fb_match_varied(base), fb_match_varied(cell)))
        add_place(cell, out);
    else
        fb_buf_adds(out, or_empty(cell->workload.name));
    if (!same(base->workload.name, cell->workload.name))
        fb_buf_addf(out, " (against %s)", or_empty(base->workload.name));
    if (same(base->allocator.name, cell->allocator.name) && !same(name, cell->allocator.name))
        fb_buf_addf(out, ", %s", or_empty(cell->allocator.name));
    fb_buf_addf(out, ", %s", name);
    if (!same(name, other))
        fb_buf_addf(out, " against %s", other);
    free(name);
    free(other);
}

const char *fb_wording_evidence(const struct fb_finding *finding, char *buffer)
{
    const struct fb_summary *a = &finding->before, *b = &finding->after;
    if (a->n == 0 || b->n == 0)
        return put(buffer, "");
    if (finding->exact)
        return put(buffer, "exact");
    if (!isnan(finding->p)) {
        (void)snprintf(buffer, FB_WORDING_CHARS, "p = %.*f", finding->p < 0.01 ? 4 : 3, finding->p);
        return buffer;
    }
    if (a->n < 3 || b->n < 3)
        return put(buffer, "too few runs");
    bool apart = b->min > a->max || a->min > b->max;
    return put(buffer, apart ? "apart" : "overlapping");
}
