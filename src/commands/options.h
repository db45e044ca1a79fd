/* The command line of `run`. Strings stay argv's. */
#ifndef FB_COMMANDS_OPTIONS_H
#define FB_COMMANDS_OPTIONS_H

#include "commands/axes.h"
#include "report/export.h"
#include "trace/shared.h"
#include "workload/workload.h"

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum fb_when { FB_WHEN_AUTO = 0, FB_WHEN_ALWAYS, FB_WHEN_NEVER };

/* How much of `--explain` there is. */
enum fb_explained {
    FB_EXPLAINED_NOTHING = 0, /* no snapshot is taken */
    FB_EXPLAINED_PARTS,       /* first runs only: free pages are not split */
    FB_EXPLAINED_KEY,         /* second runs at the peak, where most was kept, and at the end */
    FB_EXPLAINED_ALL,         /* second runs at the end of every phase, too */
};

struct fb_export_request {
    const struct fb_export *format;
    const char *file; /* "-" = stdout */
};

struct fb_shard_option {
    unsigned index, count; /* 1 ≤ index ≤ count; 1/1 = everything */
};

struct fb_run_options {
    const char **workloads; /* paths or bare names, ≥ 1 */
    size_t workload_count;
    const char **allocators; /* the values of -a */
    size_t allocator_count;
    struct fb_param_axes params;
    unsigned layouts, seeds, repeats; /* ≥ 1 */
    unsigned jobs;                    /* 0 = as many as the clock mode allows */
    enum fb_clock_mode clock;
    enum fb_order order;
    uint64_t interval_ns, timeout_ns;
    bool memory_limit_given;
    uint64_t memory_limit_bytes; /* 0 = none */
    double scale;
    struct fb_shard_option shard;
    bool verify, timing, dry_run, force;
    enum fb_explained explain;
    const char *thp;    /* "advised", "always", "never" */
    const char *output; /* NULL = results/<workload>-<UTC> */
    struct fb_export_request *exports;
    size_t export_count;
    bool plot;
    struct fb_workload_limit *limits; /* of the command line */
    size_t limit_count;
    enum fb_when progress, color, sketch;
};

/* Parses; on --help or a bad command line argp prints and ends the process (0 or 2). */
void fb_options_parse(int argc, char **argv, struct fb_run_options *out);
void fb_options_deinit(struct fb_run_options *options);

/* The options that `merge` shares: -o, --export and --color. INPUT errors name the option. */
int fb_options_output(struct fb_run_options *o, const char *text, struct fb_error *err) FB_MUST_USE;
int fb_options_export(struct fb_run_options *o, const char *text, struct fb_error *err) FB_MUST_USE;
int fb_options_color(struct fb_run_options *o, const char *text, struct fb_error *err) FB_MUST_USE;
/* What other commands share: one more FORMAT=FILE for --export; the formats' names in one line (new
 * string); auto, always or never; whether stdout is to be coloured. */
int fb_options_add_export(struct fb_export_request **requests, size_t *count, const char *text,
                          struct fb_error *err) FB_MUST_USE;
char *fb_options_formats(void);
/* The help text of --export with the formats behind it. New string. */
char *fb_options_export_help(const char *text);
int fb_options_when(const char *option, const char *text, enum fb_when *out,
                    struct fb_error *err) FB_MUST_USE;
bool fb_options_want_color(enum fb_when when);
/* The rows of this table that other commands have, too: what argp shows of an option by its long
 * name (NULL: no such), and its effect. 1 = done, 0 = not of this table, -1 = an INPUT error. */
const struct argp_option *fb_options_row(const char *name);
int fb_options_apply(struct fb_run_options *options, int key, const char *text,
                     struct fb_error *err) FB_MUST_USE;

/* A positive decimal number; INPUT error naming the option. Shared with `check --scale`. */
int fb_options_scale(const char *text, double *out, struct fb_error *err) FB_MUST_USE;

#endif
