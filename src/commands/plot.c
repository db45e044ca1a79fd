#include "base/alloc.h"
#include "base/units.h"
#include "commands/commands.h"
#include "commands/draw.h"
#include "commands/exit_code.h"
#include "commands/message.h"
#include "commands/progress.h"
#include "result/store.h"

#include <argp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SKETCH_COLUMNS 80U
#define KEY_PLOT 256
#define KEY_FORMAT 257
#define KEY_WIDTH 258
#define KEY_BASE 259
#define KEY_METRIC 260
#define KEY_THRESHOLD 261

struct plot_options {
    const char **results;
    size_t result_count;
    const char *output, *base, *format;
    size_t *kinds; /* places in the table; none: those that are drawn by default */
    size_t kind_count;
    enum fb_metric metric;
    double threshold;
    unsigned width;
    bool force;
};

/* A result that was read, and where its pictures go. */
struct loaded {
    struct fb_result result;
    char *dir;
};

static int add_kind(struct plot_options *options, const char *name, struct fb_error *err)
{
    const struct fb_plot_kind *kind = fb_plot_kind_find(name);
    if (kind == NULL)
        return fb_fail(err, FB_ERROR_INPUT,
                       "--plot \"%s\": no such picture; --help lists them, as in --plot rss,ratio",
                       name);
    options->kinds = fb_realloc(options->kinds, options->kind_count + 1, sizeof *options->kinds);
    options->kinds[options->kind_count++] = (size_t)(kind - fb_plot_kinds);
    return 0;
}

static int add_kinds(struct plot_options *options, const char *text, struct fb_error *err)
{
    char *copy = fb_strdup(text);
    char *state = NULL;
    int status = 0;
    for (char *name = strtok_r(copy, ",", &state); name != NULL && status == 0;
         name = strtok_r(NULL, ",", &state))
        status = add_kind(options, name, err);
    if (status == 0 && options->kind_count == 0)
        status = fb_fail(err, FB_ERROR_INPUT, "--plot: name a picture, as in --plot rss,ratio");
    free(copy);
    return status;
}

static int set_plot(struct plot_options *o, const char *text, struct fb_error *err)
{
    return add_kinds(o, text, err);
}

static int set_format(struct plot_options *o, const char *text, struct fb_error *err)
{
    for (size_t i = 0; fb_draw_formats[i] != NULL; i++)
        if (strcmp(fb_draw_formats[i], text) == 0)
            o->format = fb_draw_formats[i];
    if (o->format == NULL || strcmp(o->format, text) != 0)
        return fb_fail(err, FB_ERROR_INPUT, "--format \"%s\": must be svg, png or dat", text);
    return 0;
}

static int set_width(struct plot_options *o, const char *text, struct fb_error *err)
{
    char *end = NULL;
    unsigned long value = strtoul(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || value < FB_PLOT_WIDTH_MIN ||
        value > FB_PLOT_WIDTH_MAX)
        return fb_fail(err, FB_ERROR_INPUT, "--width \"%s\": must be %u to %u pixels", text,
                       FB_PLOT_WIDTH_MIN, FB_PLOT_WIDTH_MAX);
    o->width = (unsigned)value;
    return 0;
}

static int set_metric(struct plot_options *o, const char *text, struct fb_error *err)
{
    o->metric = fb_metric_find(text);
    if (o->metric == FB_METRIC_COUNT)
        return fb_fail(err, FB_ERROR_INPUT,
                       "--metric \"%s\": no such metric; see `fragbench list metrics`", text);
    return 0;
}

static int set_threshold(struct plot_options *o, const char *text, struct fb_error *err)
{
    struct fb_error why = {0};
    if (fb_units_read_real(FB_UNIT_SHARE, text, &o->threshold, &why) != FB_UNITS_OK)
        return fb_fail(err, FB_ERROR_INPUT, "--threshold \"%s\": %s", text, why.text);
    return 0;
}

static int set_output(struct plot_options *o, const char *text, struct fb_error *err)
{
    if (*text == '\0')
        return fb_fail(err, FB_ERROR_INPUT, "-o: the folder's name is empty");
    o->output = text;
    return 0;
}

static int set_base(struct plot_options *o, const char *text, struct fb_error *err)
{
    (void)err;
    o->base = text;
    return 0;
}

static int set_force(struct plot_options *o, const char *text, struct fb_error *err)
{
    (void)text, (void)err;
    o->force = true;
    return 0;
}

/* One row an option: what argp shows, and what it does. */
static const struct row {
    struct argp_option shown;
    int (*apply)(struct plot_options *options, const char *text, struct fb_error *err);
} rows[] = {
    {{"plot", KEY_PLOT, "NAME[,NAME...]", 0,
      "the pictures to draw, repeatable (default: all that there are data for, without the sketch)",
      0},
     set_plot},
    {{"output", 'o', "DIR", 0,
      "folder of the pictures (default RESULT/plots); several RESULTs are then drawn as one where "
      "a "
      "picture is over workloads",
      0},
     set_output},
    {{"format", KEY_FORMAT, "FORMAT", 0,
      "svg (default), png, or dat: the data that the templates read", 0},
     set_format},
    {{"width", KEY_WIDTH, "PIXELS", 0, "width of the pictures (default 800)", 0}, set_width},
    {{"base", KEY_BASE, "RESULT", 0, "the older result that \"change\" is against", 0}, set_base},
    {{"metric", KEY_METRIC, "NAME", 0,
      "what \"library\" (default ratio_peak) and \"change\" (default peak_footprint_bytes) show",
      0},
     set_metric},
    {{"threshold", KEY_THRESHOLD, "SHARE", 0, "half width of the band of \"change\" (default 5%)",
      0},
     set_threshold},
    {{"force", 'f', NULL, 0, "replace pictures that are there", 0}, set_force},
};
#define ROW_COUNT (sizeof rows / sizeof rows[0])

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct plot_options *options = state->input;
    struct fb_error err = {0};
    if (key == ARGP_KEY_ARG) {
        options->results =
            fb_realloc(options->results, options->result_count + 1, sizeof *options->results);
        options->results[options->result_count++] = arg;
        return 0;
    }
    if (key == ARGP_KEY_NO_ARGS)
        argp_error(state, "no result given; `fragbench run` makes one, as results/latest");
    for (size_t i = 0; i < ROW_COUNT; i++) {
        if (rows[i].shown.key != key)
            continue;
        if (rows[i].apply(options, arg, &err) != 0)
            argp_error(state, "%s", err.text);
        return 0;
    }
    return ARGP_ERR_UNKNOWN;
}

/* Every kind of picture is named where --plot is explained. */
static char *filter_help(int key, const char *text, void *input)
{
    if (key != KEY_PLOT)
        return fb_exit_help_filter(key, text, input);
    char *whole = fb_format("%s:", text);
    for (size_t i = 0; i < fb_plot_kind_count; i++) {
        char *longer = fb_format("%s%s %s, %s", whole, i > 0 ? ";" : "", fb_plot_kinds[i].name,
                                 fb_plot_kinds[i].help);
        free(whole);
        whole = longer;
    }
    return whole;
}

static int load(const char *path, struct loaded *out, struct fb_error *err)
{
    if (fb_store_read_result(path, &out->result, err) != 0)
        return -1;
    out->dir = fb_store_folder_of(path);
    return 0;
}

static void loaded_deinit(struct loaded *loaded)
{
    fb_result_deinit(&loaded->result);
    free(loaded->dir);
}

static bool is_sketch(const struct fb_plot_kind *kind)
{
    return strcmp(kind->name, "sketch") == 0;
}

/* Whether the kind is wanted; the sketch is printed and no file, unless its data are. */
static bool wanted(const struct plot_options *options, const struct fb_plot_kind *kind,
                   const struct fb_plot_request *request)
{
    if (is_sketch(kind) && strcmp(options->format, "dat") != 0)
        return false;
    if (options->kind_count == 0)
        return fb_draw_by_default(kind, request);
    for (size_t i = 0; i < options->kind_count; i++)
        if (&fb_plot_kinds[options->kinds[i]] == kind)
            return true;
    return false;
}

static bool wants_sketch(const struct plot_options *options)
{
    for (size_t i = 0; i < options->kind_count; i++)
        if (is_sketch(&fb_plot_kinds[options->kinds[i]]))
            return strcmp(options->format, "dat") != 0;
    return false;
}

static bool wants_curves(const struct plot_options *options)
{
    bool any = options->kind_count == 0;
    for (size_t i = 0; i < options->kind_count; i++)
        any = any || fb_plot_kinds[options->kinds[i]].with_curves;
    return any;
}

static void make(const struct plot_options *options, const struct fb_plot_request *request,
                 struct fb_pictures *out)
{
    for (size_t i = 0; i < fb_plot_kind_count; i++)
        if (wanted(options, &fb_plot_kinds[i], request))
            fb_plot_kinds[i].make(request, out);
    for (size_t i = 0; i < out->absent_count; i++)
        fb_message_note("not drawn: %s", out->absent[i]);
}

/* Draws `count` results as one request; adds to *drawn how many pictures there were. */
static int draw(const struct plot_options *options, struct loaded *loaded, size_t count,
                const struct loaded *base, size_t *drawn, struct fb_error *err)
{
    struct fb_pictures pictures = {0};
    struct fb_plot_source *sources = fb_alloc(count, sizeof *sources);
    for (size_t i = 0; i < count; i++)
        fb_plot_source_init(&sources[i], loaded[i].dir, &loaded[i].result, wants_curves(options),
                            options->width);
    const struct fb_plot_request request = {
        .sources = sources,
        .source_count = count,
        .base = base != NULL ? &base->result : NULL,
        .base_name = options->base,
        .metric = options->metric,
        .threshold = options->threshold,
        .width = options->width,
    };
    make(options, &request, &pictures);
    char *dir =
        options->output != NULL ? fb_strdup(options->output) : fb_format("%s/plots", loaded[0].dir);
    int status = fb_draw_files(&pictures, dir, options->format, options->force, true, err);
    *drawn += pictures.count;
    free(dir);
    for (size_t i = 0; i < count; i++)
        fb_plot_source_deinit(&sources[i]);
    free(sources);
    fb_pictures_deinit(&pictures);
    return status;
}

static int print_sketches(struct loaded *loaded, size_t count, size_t *drawn, struct fb_error *err)
{
    unsigned columns = fb_progress_terminal_width(STDOUT_FILENO);
    for (size_t i = 0; i < count; i++) {
        struct fb_buf text;
        if (fb_draw_sketch(loaded[i].dir, &loaded[i].result, columns > 0 ? columns : SKETCH_COLUMNS,
                           &text, err) != 0)
            return -1;
        *drawn += text.length > 0;
        (void)fwrite(text.text, 1, text.length, stdout);
        fb_buf_deinit(&text);
    }
    return 0;
}

static int draw_all(const struct plot_options *options, struct loaded *loaded,
                    const struct loaded *base, size_t *drawn, struct fb_error *err)
{
    if (wants_sketch(options) && print_sketches(loaded, options->result_count, drawn, err) != 0)
        return -1;
    if (options->output != NULL)
        return draw(options, loaded, options->result_count, base, drawn, err);
    for (size_t i = 0; i < options->result_count; i++)
        if (draw(options, &loaded[i], 1, base, drawn, err) != 0)
            return -1;
    return 0;
}

static int plot(const struct plot_options *options, struct loaded *loaded, struct loaded *base,
                struct fb_error *err)
{
    size_t drawn = 0;
    for (size_t i = 0; i < options->result_count; i++)
        if (load(options->results[i], &loaded[i], err) != 0)
            return -1;
    if (options->base != NULL && load(options->base, base, err) != 0)
        return -1;
    if (draw_all(options, loaded, options->base != NULL ? base : NULL, &drawn, err) != 0)
        return -1;
    if (drawn == 0)
        return fb_fail(err, FB_ERROR_NOTHING,
                       "nothing to draw; the notes above say what each picture needs");
    return 0;
}

int cmd_plot(int argc, char **argv)
{
    static const struct argp_option none = {0};
    struct argp_option shown[ROW_COUNT + 1];
    struct plot_options options = {.format = fb_draw_formats[0],
                                   .metric = FB_METRIC_COUNT,
                                   .threshold = FB_PLOT_THRESHOLD_DEFAULT,
                                   .width = FB_PLOT_WIDTH_DEFAULT};
    struct fb_error err = {0};
    for (size_t i = 0; i < ROW_COUNT; i++)
        shown[i] = rows[i].shown;
    shown[ROW_COUNT] = none;
    const struct argp argp = {
        .options = shown,
        .parser = parse_option,
        .args_doc = "RESULT...",
        .doc = "Draw pictures of results through gnuplot, into RESULT/plots or -o DIR.\v"
               "A RESULT is a folder of `fragbench run`, or its result.json.",
        .help_filter = filter_help,
    };
    (void)argp_parse(&argp, argc, argv, 0, NULL, &options);
    struct loaded *loaded = fb_alloc(options.result_count, sizeof *loaded);
    struct loaded base = {0};
    if (plot(&options, loaded, &base, &err) != 0)
        fb_message_error(&err);
    for (size_t i = 0; i < options.result_count; i++)
        loaded_deinit(&loaded[i]);
    loaded_deinit(&base);
    free(loaded);
    free(options.kinds);
    free(options.results);
    return fb_exit_code(fb_exit_of_error(&err), 0);
}
