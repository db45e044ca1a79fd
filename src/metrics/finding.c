#include "metrics/finding.h"

#include "base/alloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[FB_JUDGEMENT_COUNT] = {
    [FB_JUDGED_UNCHANGED] = "unchanged",
    [FB_JUDGED_IMPROVED] = "improved",
    [FB_JUDGED_REGRESSED] = "regressed",
    [FB_JUDGED_INCONCLUSIVE] = "inconclusive",
    [FB_JUDGED_NEW] = "new",
    [FB_JUDGED_MISSING] = "missing",
    [FB_JUDGED_FAILED] = "failed",
    [FB_JUDGED_OVER_LIMIT] = "over-limit",
    [FB_JUDGED_SKIPPED] = "skipped",
};

const char *fb_judgement_name(enum fb_judgement judgement)
{
    return names[judgement];
}

enum fb_judgement fb_judgement_find(const char *name)
{
    for (size_t i = 0; i < FB_JUDGEMENT_COUNT; i++)
        if (strcmp(names[i], name) == 0)
            return (enum fb_judgement)i;
    return FB_JUDGEMENT_COUNT;
}

struct fb_finding *fb_findings_add(struct fb_findings *findings)
{
    findings->items = fb_realloc(findings->items, findings->count + 1, sizeof *findings->items);
    struct fb_finding *finding = &findings->items[findings->count++];
    const struct fb_summary none = {0, NAN, NAN, NAN};
    *finding = (struct fb_finding){
        .metric = FB_METRIC_COUNT, .before = none, .after = none, .limit = NAN, .p = NAN};
    return finding;
}

void fb_findings_deinit(struct fb_findings *findings)
{
    for (size_t i = 0; i < findings->count; i++) {
        free(findings->items[i].message);
        free(findings->items[i].where);
        free(findings->items[i].next);
    }
    free(findings->items);
    *findings = (struct fb_findings){0};
}

size_t fb_findings_count(const struct fb_findings *findings, enum fb_judgement judgement)
{
    size_t count = 0;
    for (size_t i = 0; i < findings->count; i++)
        count += findings->items[i].judgement == judgement;
    return count;
}

size_t fb_findings_gating(const struct fb_findings *findings)
{
    size_t count = 0;
    for (size_t i = 0; i < findings->count; i++)
        count += findings->items[i].gates;
    return count;
}
