/* Where a change is to be seen, and what to look at next. */
#ifndef FB_METRICS_EXPLAIN_H
#define FB_METRICS_EXPLAIN_H

#include "metrics/finding.h"

/* Fills finding->where ("peak in phase decode at 12.8 s") and ->next where there is
 * something to say and they are not set: of a finding that gates, that improved or that is
 * inconclusive. */
void fb_explain(struct fb_finding *finding);

#endif
