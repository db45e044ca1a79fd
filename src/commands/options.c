#include "commands/options.h"

#include "base/alloc.h"
#include "base/units.h"
#include "commands/exit_code.h"
#include "commands/shard.h"

#include <argp.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LAYOUTS_DEFAULT 3U
#define LAYOUTS_MAX 64U
#define COUNT_MAX 1000U
#define INTERVAL_DEFAULT_NS UINT64_C(10000000)
#define TIMEOUT_DEFAULT_NS UINT64_C(600000000000)

/* Keys of the options that have no letter. */
enum {
    KEY_LAYOUTS = 256,
    KEY_SEEDS,
    KEY_CLOCK,
    KEY_ORDER,
    KEY_INTERVAL,
    KEY_TIMEOUT,
    KEY_SCALE,
    KEY_SHARD,
    KEY_VERIFY,
    KEY_EXPLAIN,
    KEY_NO_TIMING,
    KEY_MEMORY_LIMIT,
    KEY_THP,
    KEY_DRY_RUN,
    KEY_EXPORT,
    KEY_PROGRESS,
    KEY_COLOR,
    KEY_PLOT,
    KEY_LIMIT,
    KEY_SKETCH,
};

static int set_words(const char *option, const char *text, const char *const *words, size_t *index,
                     struct fb_error *err)
{
    for (size_t i = 0; words[i] != NULL; i++) {
        if (strcmp(words[i], text) == 0) {
            *index = i;
            return 0;
        }
    }
    return fb_fail(err, FB_ERROR_INPUT, "%s \"%s\": must be %s%s%s%s%s", option, text, words[0],
                   words[2] != NULL ? ", " : " or ", words[1], words[2] != NULL ? " or " : "",
                   words[2] != NULL ? words[2] : "");
}

static int set_count(const char *option, const char *text, unsigned max, unsigned *out,
                     struct fb_error *err)
{
    char *end = NULL;
    errno = 0;
    unsigned long value = strtoul(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || value < 1 || value > max)
        return fb_fail(err, FB_ERROR_INPUT, "%s \"%s\": must be a number from 1 to %u", option,
                       text, max);
    *out = (unsigned)value;
    return 0;
}

static int set_unit(const char *option, enum fb_unit_kind kind, const char *text, uint64_t *out,
                    struct fb_error *err)
{
    struct fb_error why = {0};
    if (fb_units_parse(kind, text, out, &why) != 0)
        return fb_fail(err, FB_ERROR_INPUT, "%s \"%s\": %s", option, text, why.text);
    return 0;
}

static int set_allocator(struct fb_run_options *o, const char *text, struct fb_error *err)
{
    (void)err;
    o->allocators = fb_realloc(o->allocators, o->allocator_count + 1, sizeof *o->allocators);
    o->allocators[o->allocator_count++] = text;
    return 0;
}

static int set_param(struct fb_run_options *o, const char *text, struct fb_error *err)
{
    return fb_axes_add(&o->params, text, err);
}

static int set_layouts(struct fb_run_options *o, const char *text, struct fb_error *err)
{
    return set_count("--layouts", text, LAYOUTS_MAX, &o->layouts, err);
}

static int set_seeds(struct fb_run_options *o, const char *text, struct fb_error *err)
{
    return set_count("--seeds", text, COUNT_MAX, &o->seeds, err);
}

static int set_repeats(struct fb_run_options *o, const char *text, struct fb_error *err)
{
    return set_count("--repeat", text, COUNT_MAX, &o->repeats, err);
}

static int set_jobs(struct fb_run_options *o, const char *text, struct fb_error *err)
{
    return set_count("--jobs", text, COUNT_MAX, &o->jobs, err);
}

static int set_clock(struct fb_run_options *o, const char *text, struct fb_error *err)
{
    static const char *const words[] = {"virtual", "real", NULL};
    size_t index = 0;
    if (set_words("--clock", text, words, &index, err) != 0)
        return -1;
    o->clock = index == 0 ? FB_CLOCK_VIRTUAL : FB_CLOCK_REAL;
    return 0;
}

static int set_order(struct fb_run_options *o, const char *text, struct fb_error *err)
{
    static const char *const words[] = {"lockstep", "free", NULL};
    size_t index = 0;
    if (set_words("--order", text, words, &index, err) != 0)
        return -1;
    o->order = index == 0 ? FB_ORDER_LOCKSTEP : FB_ORDER_FREE;
    return 0;
}

static int set_interval(struct fb_run_options *o, const char *text, struct fb_error *err)
{
    if (set_unit("--interval", FB_UNIT_TIME, text, &o->interval_ns, err) != 0)
        return -1;
    if (o->interval_ns < 1000000)
        return fb_fail(err, FB_ERROR_INPUT, "--interval \"%s\": at least 1ms", text);
    return 0;
}

static int set_timeout(struct fb_run_options *o, const char *text, struct fb_error *err)
{
    return set_unit("--timeout", FB_UNIT_TIME, text, &o->timeout_ns, err);
}

int fb_options_scale(const char *text, double *out, struct fb_error *err)
{
    char *end = NULL;
    double value = strtod(text, &end);
    if (end == text || *end != '\0' || !isfinite(value) || value <= 0 || value > 1e9)
        return fb_fail(err, FB_ERROR_INPUT, "--scale \"%s\": must be a number above 0, as in 0.1",
                       text);
    *out = value;
    return 0;
}

static int set_scale(struct fb_run_options *o, const char *text, struct fb_error *err)
{
    return fb_options_scale(text, &o->scale, err);
}

static int set_shard(struct fb_run_options *o, const char *text, struct fb_error *err)
{
    return fb_shard_parse(text, &o->shard, err);
}

static int set_memory_limit(struct fb_run_options *o, const char *text, struct fb_error *err)
{
    o->memory_limit_given = true;
    return set_unit("--memory-limit", FB_UNIT_BYTES, text, &o->memory_limit_bytes, err);
}

static int set_thp(struct fb_run_options *o, const char *text, struct fb_error *err)
{
    static const char *const words[] = {"advised", "always", "never", NULL};
    size_t index = 0;
    if (set_words("--thp", text, words, &index, err) != 0)
        return -1;
    o->thp = words[index];
    return 0;
}

int fb_options_when(const char *option, const char *text, enum fb_when *out, struct fb_error *err)
{
    static const char *const words[] = {"auto", "always", "never", NULL};
    size_t index = 0;
    if (set_words(option, text, words, &index, err) != 0)
        return -1;
    *out = (enum fb_when)index;
    return 0;
}

static int set_progress(struct fb_run_options *o, const char *text, struct fb_error *err)
{
    return fb_options_when("--progress", text, &o->progress, err);
}

static int set_sketch(struct fb_run_options *o, const char *text, struct fb_error *err)
{
    return fb_options_when("--sketch", text, &o->sketch, err);
}

static int set_plot(struct fb_run_options *o, const char *text, struct fb_error *err)
{
    (void)text, (void)err;
    o->plot = true;
    return 0;
}

static int set_verify(struct fb_run_options *o, const char *text, struct fb_error *err)
{
    (void)text, (void)err;
    o->verify = true;
    return 0;
}

/* The argument may be left out. */
static int set_explain(struct fb_run_options *o, const char *text, struct fb_error *err)
{
    static const struct {
        const char *word;
        enum fb_explained explain;
    } words[] = {{"key", FB_EXPLAINED_KEY},
                 {"all", FB_EXPLAINED_ALL},
                 {"parts", FB_EXPLAINED_PARTS},
                 {"none", FB_EXPLAINED_NOTHING}};
    o->explain = FB_EXPLAINED_KEY;
    if (text == NULL)
        return 0;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(words[i].word, text) == 0) {
            o->explain = words[i].explain;
            return 0;
        }
    }
    return fb_fail(err, FB_ERROR_INPUT,
                   "--explain \"%s\": must be key, all, parts or none; write it with \"=\", as in "
                   "--explain=all",
                   text);
}

static int set_no_timing(struct fb_run_options *o, const char *text, struct fb_error *err)
{
    (void)text, (void)err;
    o->timing = false;
    return 0;
}

static int set_dry_run(struct fb_run_options *o, const char *text, struct fb_error *err)
{
    (void)text, (void)err;
    o->dry_run = true;
    return 0;
}

static int set_force(struct fb_run_options *o, const char *text, struct fb_error *err)
{
    (void)text, (void)err;
    o->force = true;
    return 0;
}

static int add_limit(struct fb_run_options *o, const char *text, struct fb_error *err)
{
    o->limits = fb_realloc(o->limits, o->limit_count + 1, sizeof *o->limits);
    return fb_workload_limit_parse(text, &o->limits[o->limit_count++], err);
}

/* One row an option: what argp shows, and what it does. */
static const struct row {
    struct argp_option shown;
    int (*apply)(struct fb_run_options *options, const char *text, struct fb_error *err);
} rows[] = {
    {{NULL, 0, NULL, 0, "What to run:", 1}, NULL},
    {{"allocator", 'a', "SPEC", 0,
      "a contender, repeatable: names as a,b,c; or NAME:key=value[,key=value...] with the "
      "allocator's own tunables; or LABEL=/path/lib.so; {a,b} expands; \"all\" is every one known "
      "(default: each installed one of the usual)",
      1},
     set_allocator},
    {{"param", 'L', "VAR=V1,V2", 0, "values of a workload's parameter, repeatable: cross product",
      1},
     set_param},
    {{"layouts", KEY_LAYOUTS, "K", 0, "address layouts a cell is measured in (default 3)", 1},
     set_layouts},
    {{"seeds", KEY_SEEDS, "K", 0, "workload seeds, counted up from the file's (default 1)", 1},
     set_seeds},
    {{"repeat", 'r', "N", 0, "the same seed again, for --clock real (default 1)", 1}, set_repeats},
    {{"scale", KEY_SCALE, "X", 0, "multiply every phase's iterations, as in 0.1", 1}, set_scale},
    {{"shard", KEY_SHARD, "I/N", 0,
      "run every N-th cell only, from the I-th; `fragbench merge' joins the N results", 1},
     set_shard},
    {{"dry-run", KEY_DRY_RUN, NULL, 0, "print the cell ids and stop", 1}, set_dry_run},
    {{NULL, 0, NULL, 0, "How to run it:", 2}, NULL},
    {{"jobs", 'j', "N", 0,
      "runs at once (default: one a CPU as memory allows; 1 under the real clock or in free order)",
      2},
     set_jobs},
    {{"clock", KEY_CLOCK, "MODE", 0, "virtual (default: pauses are jumped over) or real", 2},
     set_clock},
    {{"order", KEY_ORDER, "MODE", 0,
      "threads take turns, exactly repeatable (lockstep, default), or run at once (free)", 2},
     set_order},
    {{"interval", KEY_INTERVAL, "TIME", 0, "sampling under --clock real (default 10ms)", 2},
     set_interval},
    {{"timeout", KEY_TIMEOUT, "TIME", 0, "of one run, real time (default 10m; 0 = none)", 2},
     set_timeout},
    {{"memory-limit", KEY_MEMORY_LIMIT, "SIZE", 0,
      "stop a run that outgrows it (default: 75 % of the available memory over the runs at once; "
      "0 = none)",
      2},
     set_memory_limit},
    {{"thp", KEY_THP, "MODE", 0,
      "transparent huge pages: advised (default: who asks gets them), always, never", 2},
     set_thp},
    {{"verify", KEY_VERIFY, NULL, 0, "stamp every block and check it at its free", 2}, set_verify},
    {{"explain", KEY_EXPLAIN, "WHICH", OPTION_ARG_OPTIONAL,
      "tell where the memory is, and which of it a purge gives back: at key moments (default), at "
      "the end of all phases; parts: without purges; none: nothing",
      2},
     set_explain},
    {{"no-timing", KEY_NO_TIMING, NULL, 0, "leave out the timing pass", 2}, set_no_timing},
    {{NULL, 0, NULL, 0, "Where the results go:", 3}, NULL},
    {{"output", 'o', "DIR", 0, "result folder (default results/<workload>-<UTC>)", 3},
     fb_options_output},
    {{"force", 'f', NULL, 0, "replace the results in DIR", 3}, set_force},
    {{"export", KEY_EXPORT, "FORMAT=FILE", 0, "another document, repeatable; - is stdout", 3},
     fb_options_export},
    {{"limit", KEY_LIMIT, "[ALLOCATOR:]METRIC=MAX", 0,
      "more is a failure (exit code 1), repeatable", 3},
     add_limit},
    {{"plot", KEY_PLOT, NULL, 0, "draw the pictures of `fragbench plot` into DIR/plots", 3},
     set_plot},
    {{"sketch", KEY_SKETCH, "WHEN", 0,
      "the curves as text above the table: auto (default: on a terminal of 80 columns), always, "
      "never",
      3},
     set_sketch},
    {{"progress", KEY_PROGRESS, "WHEN", 0, "auto (default), always, never", 3}, set_progress},
    {{"color", KEY_COLOR, "WHEN", 0, "auto (default), always, never; NO_COLOR is heeded", 3},
     fb_options_color},
};
#define ROW_COUNT (sizeof rows / sizeof rows[0])

const struct argp_option *fb_options_row(const char *name)
{
    for (size_t i = 0; i < ROW_COUNT; i++)
        if (rows[i].shown.name != NULL && strcmp(rows[i].shown.name, name) == 0)
            return &rows[i].shown;
    return NULL;
}

int fb_options_apply(struct fb_run_options *options, int key, const char *text,
                     struct fb_error *err)
{
    for (size_t i = 0; i < ROW_COUNT; i++)
        if (rows[i].apply != NULL && rows[i].shown.key == key)
            return rows[i].apply(options, text, err) == 0 ? 1 : -1;
    return 0;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct fb_run_options *options = state->input;
    struct fb_error err = {0};
    if (key == ARGP_KEY_ARG) {
        options->workloads =
            fb_realloc(options->workloads, options->workload_count + 1, sizeof *options->workloads);
        options->workloads[options->workload_count++] = arg;
        return 0;
    }
    if (key == ARGP_KEY_NO_ARGS)
        argp_error(state, "no workload given; `fragbench list workloads` shows some");
    int applied = fb_options_apply(options, key, arg, &err);
    if (applied < 0)
        argp_error(state, "%s", err.text);
    return applied != 0 ? 0 : ARGP_ERR_UNKNOWN;
}

static char *filter_help(int key, const char *text, void *input)
{
    return key == KEY_EXPORT ? fb_options_export_help(text) : fb_exit_help_filter(key, text, input);
}

void fb_options_parse(int argc, char **argv, struct fb_run_options *out)
{
    struct argp_option shown[ROW_COUNT + 1] = {0};
    for (size_t i = 0; i < ROW_COUNT; i++)
        shown[i] = rows[i].shown;
    const struct argp argp = {
        .options = shown,
        .parser = parse_option,
        .args_doc = "WORKLOAD...",
        .doc = "Run each workload under each allocator, print a table, write a result folder.\v"
               "A WORKLOAD is a YAML file, or a name of `fragbench list workloads`.",
        .help_filter = filter_help,
    };
    *out = (struct fb_run_options){
        .layouts = LAYOUTS_DEFAULT,
        .seeds = 1,
        .repeats = 1,
        .clock = FB_CLOCK_VIRTUAL,
        .order = FB_ORDER_LOCKSTEP,
        .interval_ns = INTERVAL_DEFAULT_NS,
        .timeout_ns = TIMEOUT_DEFAULT_NS,
        .scale = 1,
        .shard = {1, 1},
        .timing = true,
        .explain = FB_EXPLAINED_PARTS,
        .thp = "advised",
    };
    (void)argp_parse(&argp, argc, argv, 0, NULL, out);
}

void fb_options_deinit(struct fb_run_options *options)
{
    free(options->workloads);
    free(options->allocators);
    free(options->exports);
    for (size_t i = 0; i < options->limit_count; i++)
        free(options->limits[i].allocator);
    free(options->limits);
    fb_axes_deinit(&options->params);
}
