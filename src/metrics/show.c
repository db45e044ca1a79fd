#include "metrics/show.h"

#include "base/alloc.h"
#include "base/units.h"

#include <math.h>
#include <string.h>

enum kind { RATIO, BYTES, BYTE_SECONDS, NANOSECONDS, SECONDS, COUNT };

static const struct {
    const char *unit; /* of result/metric.c */
    enum kind kind;
    const char *exact_unit;
} kinds[] = {
    {"ratio", RATIO, ""},       {"bytes", BYTES, " B"}, {"byte_seconds", BYTE_SECONDS, " B·s"},
    {"ns", NANOSECONDS, " ns"}, {"s", SECONDS, " s"},   {"count", COUNT, ""},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static size_t find(enum fb_metric metric)
{
    size_t i = 0;
    while (i + 1 < KINDS && strcmp(kinds[i].unit, fb_metrics[metric].unit) != 0)
        i++;
    return i;
}

/* Sizes beyond 2^63 come from no machine, but may stand in a file. */
static uint64_t whole(double value)
{
    return value < 0x1p63 ? (uint64_t)(value + 0.5) : UINT64_C(1) << 63;
}

char *fb_metric_show(enum fb_metric metric, double value)
{
    char text[48];
    double size = fabs(value);
    const char *sign = value < 0 ? "-" : "";
    if (isnan(value))
        return fb_strdup("n/a");
    switch (kinds[find(metric)].kind) {
    case BYTES:
        return fb_format("%s%s", sign, fb_units_bytes(whole(size), text, sizeof text));
    case BYTE_SECONDS:
        return fb_format("%s%s·s", sign, fb_units_bytes(whole(size), text, sizeof text));
    case NANOSECONDS:
        return size < 1000 ? fb_format("%.1f ns", value)
                           : fb_format("%s%s", sign, fb_units_time(whole(size), text, sizeof text));
    case SECONDS:
        return fb_format("%.3g s", value);
    case COUNT:
        return fb_format("%s%s", sign, fb_units_count(whole(size), text, sizeof text));
    case RATIO:
        break;
    }
    return fb_format("%.3f", value);
}

char *fb_metric_show_exact(enum fb_metric metric, double value)
{
    char text[48];
    if (isnan(value))
        return fb_strdup("n/a");
    const char *unit = kinds[find(metric)].exact_unit;
    bool is_whole = fabs(value) < 0x1p53 && value == floor(value);
    if (!is_whole)
        return fb_format("%.10g%s", value, unit);
    return fb_format("%s%s%s", value < 0 ? "-" : "",
                     fb_units_count(whole(fabs(value)), text, sizeof text), unit);
}
