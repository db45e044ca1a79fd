/* Judges result sets against a base: pairs cells, applies the rules, and says it in sentences.
 *
 * The result is a list of findings (finding.h) in the order of the base's cells. What cannot be
 * compared is refused, not guessed at: pairs whose comparison keys differ in a field that was not
 * named in `by`. With skip_unlike such a pair is skipped, as a finding and in `refusals`.
 */
#ifndef FB_METRICS_COMPARE_H
#define FB_METRICS_COMPARE_H

#include "metrics/finding.h"
#include "metrics/matchup.h"
#include "metrics/tolerance.h"

#define FB_COMPARE_BIT(judgement) (1U << (unsigned)(judgement))
/* regressed and missing; a failed cell always gates. */
#define FB_COMPARE_FAIL_ON (FB_COMPARE_BIT(FB_JUDGED_REGRESSED) | FB_COMPARE_BIT(FB_JUDGED_MISSING))

struct fb_compare_options {
    struct fb_matchup_rule pairing;
    const enum fb_metric *metrics; /* to judge; NULL: fb_compare_metrics[] and what is said there,
                                      and of A/A pairs that repeat every exact metric */
    size_t metric_count;
    struct fb_tolerances tolerances;
    unsigned fail_on; /* FB_COMPARE_BIT()s of the judgements that gate */
    bool skip_unlike; /* pairs whose keys differ are left out and said, not refused */
    bool exact;       /* in cells that repeat any difference counts, whatever its size */
    bool expect_same; /* A/A: any difference where cells repeat gates, for better or worse; else one
                         that passes tolerances and evidence */
};

/* What is judged where nobody says otherwise: what the peak costs per byte of data (its twin in
 * bytes where n/a), what stays at a phase's end, what is held at the end. Of a program of one's own
 * also peak_footprint_bytes: what it asks for may have changed, which no ratio shows. */
extern const enum fb_metric fb_compare_metrics[];
extern const size_t fb_compare_metric_count;

struct fb_comparison {
    struct fb_findings findings;
    size_t judged;   /* findings with a verdict on values */
    size_t refused;  /* pairs that were not compared because their keys differ */
    size_t unlike;   /* the same where skip_unlike lets that pass */
    char *refusals;  /* owned: why, all fields and both values, lines for a person; NULL = none */
    unsigned fields; /* the fields that stood in the way: what --by would have to name */
};

/* set_count ≥ 1; one set alone is compared within itself. Findings point into the sets' cells. */
void fb_compare(const struct fb_compare_set *sets, size_t set_count,
                const struct fb_compare_options *options, struct fb_comparison *out);
void fb_comparison_deinit(struct fb_comparison *comparison);

/* Whether a judgement is of a value, for counting: unchanged, improved, regressed, inconclusive. */
bool fb_compare_valued(enum fb_judgement judgement);

#endif
