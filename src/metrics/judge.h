/* The rules by which a change counts: pure functions of two cells' values. */
#ifndef FB_METRICS_JUDGE_H
#define FB_METRICS_JUDGE_H

#include "metrics/finding.h"
#include "metrics/tolerance.h"

/* The values of a metric over a cell's runs that are done. */
struct fb_values {
    double *values;                    /* owned */
    const struct fb_repetition **runs; /* owned array: the run of each value; NULL = timing pass */
    size_t count;
    struct fb_summary summary;
};

void fb_values_init(struct fb_values *values, const struct fb_cell *cell, enum fb_metric metric);
void fb_values_deinit(struct fb_values *values);

/* How two sides are judged. */
enum fb_rule {
    FB_RULE_EXACT,    /* every seed has one value over its layouts, on both sides */
    FB_RULE_ENSEMBLE, /* each run repeats exactly, but the value hangs on the layout */
    FB_RULE_SAMPLE,   /* runs differ: a rank test */
};

/* Whether a cell's runs repeat exactly for metrics that are exact: virtual clock that was seen to
 * work, lockstep, fixed layout, no huge pages, and a kernel whose counters are exact. */
bool fb_judge_repeats(const struct fb_host *host, const struct fb_cell *cell);

struct fb_judge_request {
    enum fb_metric metric;
    const struct fb_cell *base;
    const struct fb_tolerances *tolerances;
    bool repeats;     /* both sides, and their layouts and seeds are the same */
    bool any_change;  /* --exact: in cells that repeat, every difference counts */
    bool expect_same; /* A/A: likewise */
};

struct fb_judged {
    enum fb_judgement judgement; /* regressed, improved, unchanged or inconclusive */
    enum fb_rule rule;
    double p;         /* of the rank test; NaN = none was made */
    size_t differing; /* runs of one seed and layout whose values differ; 0 where nothing repeats */
    size_t paired;    /* runs that have a partner of the same seed and layout */
};

/* Both sides have at least one value. The exact rule: the change passes both tolerances. The
 * ensemble rule: and the two ensembles stand apart (fb_judge_apart()). The sample rule: and the
 * rank test over at least four runs a side gives p < 0.05; with three, the samples stand apart.
 * What passes the tolerances without the evidence is inconclusive. */
struct fb_judged fb_judge(const struct fb_judge_request *request, const struct fb_values *before,
                          const struct fb_values *after);

/* Whether two samples stand apart: at least three values each and no overlap. With three values a
 * side that happens to equal populations one time in ten, so then the gap must also be at least as
 * wide as the wider of the two samples. Seeds are different patterns with different values: every
 * value counts less the base's median of its seed. */
bool fb_judge_apart(const struct fb_values *before, const struct fb_values *after);

#endif
