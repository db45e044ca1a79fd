/* The command line of `compare`. Strings stay argv's. */
#ifndef FB_COMMANDS_COMPARE_OPTIONS_H
#define FB_COMMANDS_COMPARE_OPTIONS_H

#include "commands/options.h"
#include "metrics/compare.h"

struct fb_compare_source {
    char *label;        /* owned */
    const char *folder; /* or its result.json */
};

struct fb_compare_request {
    struct fb_compare_source *sources; /* ≥ 1, the base first; labels differ */
    size_t source_count;
    struct fb_compare_options rules;
    enum fb_metric *metrics; /* owned; what rules.metrics points to, or NULL */
    bool fail_on_given;
    const struct fb_export *format; /* for stdout */
    struct fb_export_request *exports;
    size_t export_count;
    bool all;
    enum fb_when color;
};

/* Parses; on --help or a bad command line argp prints and ends the process (0 or 2). */
void fb_compare_options_parse(int argc, char **argv, struct fb_compare_request *out);
void fb_compare_options_deinit(struct fb_compare_request *request);

#endif
