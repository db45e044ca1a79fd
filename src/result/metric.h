/* The vocabulary of results: every metric's name, unit, direction and meaning in
 * one table. metrics/ computes them, result/ stores them, report/ shows them. */
#ifndef FB_RESULT_METRIC_H
#define FB_RESULT_METRIC_H

#include <stdbool.h>
#include <stddef.h>

enum fb_metric {
    FB_METRIC_PEAK_FOOTPRINT_BYTES = 0,
    FB_METRIC_PEAK_LIVE_BYTES,
    FB_METRIC_PEAK_TOUCHED_BYTES,
    FB_METRIC_OVERHEAD_PEAK_BYTES,
    FB_METRIC_RATIO_PEAK,
    FB_METRIC_KEPT_BYTES,
    FB_METRIC_RATIO_END,
    FB_METRIC_END_FOOTPRINT_BYTES,
    FB_METRIC_END_LIVE_BYTES,
    FB_METRIC_OVERHEAD_END_BYTES,
    FB_METRIC_RATIO_MEAN,
    FB_METRIC_RATIO_MEAN_TIME,
    FB_METRIC_RATIO_AT_PEAK_LIVE,
    FB_METRIC_RATIO_AT_PEAK_FOOTPRINT,
    FB_METRIC_RATIO_MAX,
    FB_METRIC_RATIO_TOUCHED,
    FB_METRIC_DRIFT,
    FB_METRIC_RETAINED_IDLE_0S_BYTES,
    FB_METRIC_RETAINED_IDLE_1S_BYTES,
    FB_METRIC_RETAINED_IDLE_10S_BYTES,
    FB_METRIC_RETAINED_ACTIVE_10S_BYTES,
    FB_METRIC_RETAINED_PURGED_BYTES,
    FB_METRIC_WASTE_BYTE_SECONDS,
    FB_METRIC_STARTUP_BYTES,
    FB_METRIC_LAZYFREE_MAX_BYTES,
    FB_METRIC_NS_PER_OP,
    FB_METRIC_LATENCY_P50_NS,
    FB_METRIC_LATENCY_P99_NS,
    FB_METRIC_LATENCY_P999_NS,
    FB_METRIC_LATENCY_MAX_NS,
    FB_METRIC_WALL_S,
    FB_METRIC_MINOR_FAULTS,
    FB_METRIC_USER_S,
    FB_METRIC_SYSTEM_S,
    FB_METRIC_MAPPINGS_MAX,
    FB_METRIC_COUNT
};

enum fb_better { FB_BETTER_LOWER = 0, FB_BETTER_NONE };

struct fb_metric_info {
    const char *name; /* in every output, never renamed */
    const char *unit; /* "bytes", "ratio", "ns", "s", "count", "byte_seconds" */
    enum fb_better better;
    bool exact;         /* exact under the virtual clock: assume "exact", else "nothing" */
    bool timing;        /* from the timing pass */
    const char *title;  /* for tables: "peak RSS, anon" */
    const char *help;   /* definition, in one or two sentences */
    const char *source; /* paper or "" */
};

extern const struct fb_metric_info fb_metrics[FB_METRIC_COUNT];

/* FB_METRIC_COUNT when there is none of that name. */
enum fb_metric fb_metric_find(const char *name);

#endif
