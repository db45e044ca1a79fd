/* The limits of cells, judged. */
#ifndef FB_METRICS_LIMITS_H
#define FB_METRICS_LIMITS_H

#include "metrics/finding.h"

/* Adds a finding for every limit of every cell: over it (gates), or kept. The value is the median
 * over the cell's runs; the largest is named beside it. A cell that failed, or that was skipped, is
 * one finding with metric FB_METRIC_COUNT: failed (gates) or skipped; a metric that is n/a is
 * skipped with its reason. The set of the findings is 0. */
void fb_limits_judge(const struct fb_result *result, struct fb_findings *findings);

/* The cell's limit of the metric; NULL: none. */
const struct fb_limit *fb_limits_find(const struct fb_cell *cell, enum fb_metric metric);

#endif
