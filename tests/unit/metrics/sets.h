/* Hand-made result sets for comparisons: a host, cells, and the values of their runs. */
#ifndef FB_TESTS_UNIT_METRICS_SETS_H
#define FB_TESTS_UNIT_METRICS_SETS_H

#include "metrics/compare.h"
#include "result/record.h"

enum { SETS_CELLS = 8 };

/* Room for SETS_CELLS cells; free with fb_result_deinit(). */
void sets_init(struct fb_result *result);
/* A cell of workload "w" under an allocator, virtual, lockstep, fixed, with `runs` runs in layouts
 * 0, 1, …, each with two phases, 100 MiB of peak footprint, 80 MiB live, 10 MiB kept and 90 MiB at
 * the end. */
struct fb_cell *sets_add(struct fb_result *result, const char *allocator, unsigned runs);
/* Sets a metric of every run, in MiB where it counts bytes, and the cell's summaries. */
void sets_values(struct fb_cell *cell, enum fb_metric metric, const double *values);
/* The same value in every run. */
void sets_value(struct fb_cell *cell, enum fb_metric metric, double value);
/* Replaces a text. */
void sets_text(char **text, const char *value);

/* Compares base and other (NULL: within base) under the options; free with
 * fb_comparison_deinit(). */
void sets_compare(struct fb_comparison *out, const struct fb_result *base,
                  const struct fb_result *other, const struct fb_compare_options *options);
/* Default options. */
struct fb_compare_options sets_options(void);
/* The only finding of a metric (FB_METRIC_COUNT: of a cell as a whole). */
const struct fb_finding *sets_finding(const struct fb_comparison *comparison,
                                      enum fb_metric metric);
void assert_judged(const struct fb_comparison *comparison, enum fb_metric metric,
                   enum fb_judgement judgement, bool gates);
void assert_contains(const char *text, const char *part);

#endif
