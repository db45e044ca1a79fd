/* Values and changes as people read them, the same in every message and table. */
#ifndef FB_METRICS_WORDING_H
#define FB_METRICS_WORDING_H

#include "base/buf.h"
#include "metrics/finding.h"

#define FB_WORDING_CHARS 64

/* A value of a metric with its unit: "400.8 MiB", "1.213", "54.2 ns", "0.25 s", "1,234"; "n/a" for
 * NaN. Returns buffer, of FB_WORDING_CHARS. */
const char *fb_wording_value(enum fb_metric metric, double value, char *buffer);
/* The difference, with its sign: "+20.5 MiB", "-0.012"; "0" for none. */
const char *fb_wording_difference(enum fb_metric metric, double difference, char *buffer);
/* The difference in per cent of what tolerance.h relates it to: "+5.1 %"; "" where there is nothing
 * to be relative to. */
const char *fb_wording_percent(const struct fb_finding *finding, char *buffer);

/* What a finding is about: "kv-cache-growth (steps=96), jemalloc"; within one set or between
 * contenders "kv-cache-growth, new against old". */
void fb_wording_subject(const struct fb_cell *base, const struct fb_cell *cell, struct fb_buf *out);
/* What tells a cell from its base in one or two words: the contender, or varied parameters. New
 * string. */
char *fb_wording_name(const struct fb_cell *base, const struct fb_cell *cell);
/* Why the change counts or does not: "exact", "p = 0.0079", "apart", "overlapping", "too few runs";
 * "" of a cell as a whole. */
const char *fb_wording_evidence(const struct fb_finding *finding, char *buffer);

#endif
