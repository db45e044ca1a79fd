#include "result/metric.h"

#include <string.h>

#define JW "Johnstone and Wilson, The memory fragmentation problem: solved? (ISMM 1998), measure "
#define LOWER FB_BETTER_LOWER
#define NONE FB_BETTER_NONE

/* Columns: name, unit, better, exact, timing, title, help, source. */
const struct fb_metric_info fb_metrics[FB_METRIC_COUNT] = {
    [FB_METRIC_PEAK_FOOTPRINT_BYTES] = {"peak_footprint_bytes", "bytes", LOWER, true, false,
                                        "peak RSS, anonymous",
                                        "The largest footprint (RssAnon + swap) over all samples "
                                        "and checkpoints up to the last phase's end.",
                                        ""},
    [FB_METRIC_PEAK_LIVE_BYTES] = {"peak_live_bytes", "bytes", NONE, true, false, "peak live",
                                   "The largest sum of requested bytes over live objects: what "
                                   "the pattern itself needs.",
                                   ""},
    [FB_METRIC_PEAK_TOUCHED_BYTES] = {"peak_touched_bytes", "bytes", NONE, true, false,
                                      "peak touched",
                                      "The largest sum of live bytes that the pattern has written "
                                      "(in whole pages).",
                                      ""},
    [FB_METRIC_OVERHEAD_PEAK_BYTES] =
        {"overhead_peak_bytes", "bytes", LOWER, true, false, "overhead at peaks",
         "Peak footprint minus peak live: ratio_peak as a difference, "
         "also where the ratio is n/a.",
         ""},
    [FB_METRIC_RATIO_PEAK] = {"ratio_peak", "ratio", LOWER, true, false, "ratio of peaks",
                              "Peak footprint over peak live: how large a container the pattern "
                              "needs per byte of data. Blind to what stays after frees.",
                              JW "4"},
    [FB_METRIC_KEPT_BYTES] = {"kept_bytes", "bytes", LOWER, true, false, "kept",
                              "Footprint minus live at the end of a phase, after its frees; the "
                              "largest over all phases, and which phase that was.",
                              ""},
    [FB_METRIC_RATIO_END] = {"ratio_end", "ratio", LOWER, true, false, "ratio at the end",
                             "Footprint over live at the end of the last phase, before teardown: "
                             "what an operator sees in top.",
                             ""},
    [FB_METRIC_END_FOOTPRINT_BYTES] = {"end_footprint_bytes", "bytes", LOWER, true, false,
                                       "end RSS, anonymous",
                                       "Footprint at the end of the last phase, before teardown.",
                                       ""},
    [FB_METRIC_END_LIVE_BYTES] = {"end_live_bytes", "bytes", NONE, true, false, "end live",
                                  "Live bytes at the end of the last phase, before teardown.", ""},
    [FB_METRIC_OVERHEAD_END_BYTES] = {"overhead_end_bytes", "bytes", LOWER, true, false,
                                      "overhead at the end",
                                      "End footprint minus end live: ratio_end as a difference.",
                                      ""},
    [FB_METRIC_RATIO_MEAN] = {"ratio_mean", "ratio", LOWER, true, false, "mean ratio",
                              "Mean of footprint over live, each sample weighted by the bytes "
                              "allocated since the one before: the cost over the program's work.",
                              JW "1"},
    [FB_METRIC_RATIO_MEAN_TIME] = {"ratio_mean_time", "ratio", LOWER, true, false,
                                   "mean ratio over time",
                                   "The same mean weighted by time, each value held until the next "
                                   "sample, so pauses count.",
                                   ""},
    [FB_METRIC_RATIO_AT_PEAK_LIVE] = {"ratio_at_peak_live", "ratio", LOWER, true, false,
                                      "ratio at peak live",
                                      "Footprint over live at the first moment of the largest live "
                                      "bytes: waste when it matters.",
                                      JW "2"},
    [FB_METRIC_RATIO_AT_PEAK_FOOTPRINT] = {"ratio_at_peak_footprint", "ratio", LOWER, true, false,
                                           "ratio at peak RSS",
                                           "Peak footprint over the live bytes of the first moment "
                                           "the footprint reached it: the worst moment.",
                                           JW "3"},
    [FB_METRIC_RATIO_MAX] = {"ratio_max", "ratio", LOWER, true, false, "largest ratio",
                             "The largest footprint over live of any moment with at least 1 MiB "
                             "live.",
                             ""},
    [FB_METRIC_RATIO_TOUCHED] =
        {"ratio_touched", "ratio", LOWER, true, false, "ratio to touched",
         "Peak footprint over peak touched bytes: for patterns that reserve "
         "memory and do not write it.",
         ""},
    [FB_METRIC_DRIFT] = {"drift", "ratio", LOWER, true, false, "drift",
                         "Mean relative waste, (footprint - live) / live, of the last quarter of "
                         "iterations over that of the second quarter, in the phase with most "
                         "iterations: above 1 the waste keeps growing.",
                         ""},
    [FB_METRIC_RETAINED_IDLE_0S_BYTES] = {"retained_idle_0s_bytes", "bytes", LOWER, true, false,
                                          "retained at once",
                                          "Footprint minus live right after everything but objects "
                                          "of lifetime run is freed.",
                                          ""},
    [FB_METRIC_RETAINED_IDLE_1S_BYTES] = {"retained_idle_1s_bytes", "bytes", LOWER, true, false,
                                          "retained, idle 1 s",
                                          "The same after one second without any allocator call.",
                                          ""},
    [FB_METRIC_RETAINED_IDLE_10S_BYTES] = {"retained_idle_10s_bytes", "bytes", LOWER, true, false,
                                           "retained, idle 10 s",
                                           "The same after ten seconds without any allocator call: "
                                           "what does not go back by itself.",
                                           ""},
    [FB_METRIC_RETAINED_ACTIVE_10S_BYTES] = {"retained_active_10s_bytes", "bytes", LOWER, true,
                                             false, "retained, active 10 s",
                                             "The same after ten seconds with a heartbeat: a few "
                                             "cached small pairs and one 64 KiB pair a second on "
                                             "each thread.",
                                             ""},
    [FB_METRIC_RETAINED_PURGED_BYTES] = {"retained_purged_bytes", "bytes", LOWER, true, false,
                                         "retained, purged",
                                         "The same after an explicit purge on every thread: what "
                                         "never goes back.",
                                         ""},
    [FB_METRIC_WASTE_BYTE_SECONDS] = {"waste_byte_seconds", "byte_seconds", LOWER, true, false,
                                      "waste",
                                      "Footprint minus live, integrated over time up to the last "
                                      "phase's end.",
                                      ""},
    [FB_METRIC_STARTUP_BYTES] =
        {"startup_bytes", "bytes", LOWER, true, false, "start-up",
         "Footprint before the first operation: part of every other figure, "
         "never subtracted.",
         ""},
    [FB_METRIC_LAZYFREE_MAX_BYTES] = {"lazyfree_max_bytes", "bytes", NONE, true, false, "lazy free",
                                      "The most bytes of the footprint, at a checkpoint, that the "
                                      "kernel was allowed to take (MADV_FREE). Never subtracted.",
                                      ""},
    [FB_METRIC_NS_PER_OP] = {"ns_per_op", "ns", LOWER, false, true, "time per call",
                             "Wall time of the timing pass minus that of the same trace without an "
                             "allocator, per allocator call: writing to the blocks is included.",
                             ""},
    [FB_METRIC_LATENCY_P50_NS] = {"latency_p50_ns", "ns", LOWER, false, true, "p50",
                                  "Median time of one allocator call, from a sampled histogram.",
                                  ""},
    [FB_METRIC_LATENCY_P99_NS] = {"latency_p99_ns", "ns", LOWER, false, true, "p99",
                                  "99th percentile of the time of one allocator call.", ""},
    [FB_METRIC_LATENCY_P999_NS] = {"latency_p999_ns", "ns", LOWER, false, true, "p99.9",
                                   "99.9th percentile of the time of one allocator call.", ""},
    [FB_METRIC_LATENCY_MAX_NS] = {"latency_max_ns", "ns", LOWER, false, true, "slowest call",
                                  "The slowest timed allocator call.", ""},
    [FB_METRIC_WALL_S] = {"wall_s", "s", LOWER, false, false, "wall time",
                          "Time that a program's work took, from ready to the end of its driver or "
                          "its own. Not of a replay: see ns_per_op.",
                          ""},
    [FB_METRIC_MINOR_FAULTS] = {"minor_faults", "count", LOWER, false, false, "page faults",
                                "Minor page faults of the worker over the phases: the price of "
                                "memory given back and taken again.",
                                ""},
    [FB_METRIC_USER_S] = {"user_s", "s", LOWER, false, false, "user time",
                          "CPU time of the worker outside the kernel, over the phases.", ""},
    [FB_METRIC_SYSTEM_S] = {"system_s", "s", LOWER, false, false, "system time",
                            "CPU time of the worker inside the kernel, over the phases.", ""},
    [FB_METRIC_MAPPINGS_MAX] = {"mappings_max", "count", LOWER, true, false, "mappings",
                                "The most memory mappings of the worker at a checkpoint "
                                "(vm.max_map_count is the limit).",
                                ""},
};

enum fb_metric fb_metric_find(const char *name)
{
    int metric = 0;
    while (metric < FB_METRIC_COUNT && strcmp(fb_metrics[metric].name, name) != 0)
        metric++;
    return (enum fb_metric)metric;
}
