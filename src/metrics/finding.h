/* Judged values: a metric of a cell set against the same of a base, or against a limit.
 *
 * compare and the gates of run both end in a list of these; every export of report/ reads
 * nothing else about gating. Cells are borrowed from results that must outlive the list.
 */
#ifndef FB_METRICS_FINDING_H
#define FB_METRICS_FINDING_H

#include "result/record.h"

enum fb_judgement {
    FB_JUDGED_UNCHANGED = 0, /* also: a limit that holds */
    FB_JUDGED_IMPROVED,
    FB_JUDGED_REGRESSED,
    FB_JUDGED_INCONCLUSIVE, /* too few runs to tell; never shown green */
    FB_JUDGED_NEW,          /* no base to set it against */
    FB_JUDGED_MISSING,      /* in the base only */
    FB_JUDGED_FAILED,       /* the cell did not end with figures */
    FB_JUDGED_OVER_LIMIT,
    FB_JUDGED_SKIPPED, /* not installed, unsupported, or n/a: nothing was judged */
    FB_JUDGEMENT_COUNT
};

/* "unchanged", "improved", "regressed", "inconclusive", "new", "missing", "failed",
 * "over-limit", "skipped". */
const char *fb_judgement_name(enum fb_judgement judgement);
enum fb_judgement fb_judgement_find(const char *name); /* FB_JUDGEMENT_COUNT: none */

struct fb_finding {
    enum fb_judgement judgement;
    bool gates; /* fails the job: exit code 1, and 5 where the judgement is failed */
    size_t set; /* the set of the document that `cell` is of */
    const struct fb_cell *base; /* NULL: a limit, or the cell is new */
    const struct fb_cell *cell; /* NULL: missing */
    enum fb_metric metric;      /* FB_METRIC_COUNT: the cell as a whole */
    struct fb_summary before;   /* of the base; n = 0 where there is none */
    struct fb_summary after;
    double limit;  /* largest value allowed; NaN = none */
    bool exact;    /* both sides are exact, so any difference is real */
    double p;      /* two-sided, of a rank test; NaN = none was made */
    char *message; /* owned: one line that says all, "kv-cache-growth, jemalloc: …" */
    char *where;   /* owned: "peak in phase serve at 12.3 s"; NULL = not known */
    char *next;    /* owned: what to look at next, a command where there is one; NULL */
};

struct fb_findings {
    struct fb_finding *items;
    size_t count;
};

/* Adds a blank finding (NaN where there is no number) and returns it; valid until the next add. */
struct fb_finding *fb_findings_add(struct fb_findings *findings);
void fb_findings_deinit(struct fb_findings *findings);

/* How many have the judgement. */
size_t fb_findings_count(const struct fb_findings *findings, enum fb_judgement judgement);
/* How many gate. */
size_t fb_findings_gating(const struct fb_findings *findings);

#endif
