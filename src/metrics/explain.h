/* Where a change is to be seen, and what to look at next. */
#ifndef FB_METRICS_EXPLAIN_H
#define FB_METRICS_EXPLAIN_H

#include "metrics/finding.h"

/* Whether a finding is worth an explanation: it gates, or a value improved or is inconclusive. */
bool fb_explain_wanted(const struct fb_finding *finding);
/* The run of a cell whose value is nearest to the median: the one to show. Its series, where the
 * caller has read it, gives the time of a peak. NULL where no run has a value. */
struct fb_repetition *fb_explain_run(const struct fb_cell *cell, enum fb_metric metric);

/* Fills finding->where ("peak in phase decode at 12.8 s, of 30 s") and ->next where there is
 * something to say and they are not set. */
void fb_explain(struct fb_finding *finding);

#endif
