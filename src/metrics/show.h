/* Values of metrics for people. */
#ifndef FB_METRICS_SHOW_H
#define FB_METRICS_SHOW_H

#include "result/metric.h"

/* "1.315", "362.3 MiB", "-4 KiB", "5.78 us", "12 GiB·s", "n/a" for NaN. New string. */
char *fb_metric_show(enum fb_metric metric, double value);
/* The same with every digit, for values that would look alike: "419,430,656 B", "1.20004". */
char *fb_metric_show_exact(enum fb_metric metric, double value);

#endif
