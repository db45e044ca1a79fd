#include "commands/compare_options.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/suggest.h"
#include "base/units.h"
#include "commands/exit_code.h"
#include "metrics/finding.h"

#include <argp.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAMES_CAP 65536U
#define NAMES_MAX 64U /* more than there are metrics, fields or judgements */

enum {
    KEY_METRIC = 'm',
    KEY_THRESHOLD = 256,
    KEY_NOISE,
    KEY_BY,
    KEY_BASE,
    KEY_FAIL_ON,
    KEY_EXACT,
    KEY_EXPECT_SAME,
    KEY_SKIP_UNLIKE,
    KEY_FORMAT,
    KEY_EXPORT,
    KEY_ALL,
    KEY_COLOR,
};

/* "--by "libk": no such field; did you mean "libc"? (known: …)". */
static int fail_unknown(const char *option, const char *what, const char *word,
                        const char *const *known, size_t count, struct fb_error *err)
{
    struct fb_buf names;
    fb_buf_init(&names, NAMES_CAP);
    for (size_t i = 0; i < count; i++)
        fb_buf_addf(&names, "%s%s", i > 0 ? ", " : "", known[i]);
    const char *near = fb_suggest(word, known, count);
    (void)fb_fail(err, FB_ERROR_INPUT, "%s \"%s\": no such %s%s%s%s (known: %s)", option, word,
                  what, near != NULL ? "; did you mean \"" : "", near != NULL ? near : "",
                  near != NULL ? "\"?" : "", names.text);
    fb_buf_deinit(&names);
    return -1;
}

/* Calls `use` for each word of a list "a,b,c". */
static int each_word(const char *option, const char *text, struct fb_compare_request *request,
                     int (*use)(struct fb_compare_request *request, const char *word,
                                struct fb_error *err),
                     struct fb_error *err)
{
    char *list = fb_strdup(text), *rest = list, *word;
    int status = 0;
    while (status == 0 && (word = strsep(&rest, ",")) != NULL)
        status = *word == '\0'
                     ? fb_fail(err, FB_ERROR_INPUT, "%s \"%s\": a name is empty", option, text)
                     : use(request, word, err);
    free(list);
    return status;
}

static int find_metric(const char *option, const char *word, enum fb_metric *out,
                       struct fb_error *err)
{
    const char *names[FB_METRIC_COUNT];
    for (size_t i = 0; i < FB_METRIC_COUNT; i++)
        names[i] = fb_metrics[i].name;
    *out = fb_metric_find(word);
    return *out < FB_METRIC_COUNT
               ? 0
               : fail_unknown(option, "metric", word, names, FB_METRIC_COUNT, err);
}

static void add_metric(struct fb_compare_request *request, enum fb_metric metric)
{
    for (size_t i = 0; i < request->rules.metric_count; i++)
        if (request->metrics[i] == metric)
            return;
    request->metrics =
        fb_realloc(request->metrics, request->rules.metric_count + 1, sizeof *request->metrics);
    request->metrics[request->rules.metric_count++] = metric;
    request->rules.metrics = request->metrics;
}

static int use_metric(struct fb_compare_request *request, const char *word, struct fb_error *err)
{
    enum fb_metric metric;
    if (strcmp(word, "all") == 0) {
        for (size_t i = 0; i < FB_METRIC_COUNT; i++)
            if (fb_metrics[i].better == FB_BETTER_LOWER)
                add_metric(request, (enum fb_metric)i);
        return 0;
    }
    if (find_metric("--metric", word, &metric, err) != 0)
        return -1;
    if (fb_metrics[metric].better != FB_BETTER_LOWER)
        return fb_fail(err, FB_ERROR_INPUT,
                       "--metric \"%s\": neither more nor less of it is better, so there is "
                       "nothing to judge",
                       word);
    add_metric(request, metric);
    return 0;
}

static int set_metric(struct fb_compare_request *request, const char *text, struct fb_error *err)
{
    return each_word("--metric", text, request, use_metric, err);
}

/* Splits "METRIC=VALUE" (*metric = FB_METRIC_COUNT where it is a value alone). */
static int split_value(const char *option, const char *text, enum fb_metric *metric,
                       const char **value, struct fb_error *err)
{
    const char *equals = strchr(text, '=');
    *metric = FB_METRIC_COUNT;
    *value = equals == NULL ? text : equals + 1;
    if (equals == NULL)
        return 0;
    char *name = fb_format("%.*s", (int)(equals - text), text);
    int status = find_metric(option, name, metric, err);
    free(name);
    return status;
}

static int set_threshold(struct fb_compare_request *request, const char *text, struct fb_error *err)
{
    struct fb_tolerances *tolerances = &request->rules.tolerances;
    struct fb_error why = {0};
    enum fb_metric metric;
    const char *value;
    double share = 0;
    if (split_value("--threshold", text, &metric, &value, err) != 0)
        return -1;
    if (fb_units_read_real(FB_UNIT_SHARE, value, &share, &why) != FB_UNITS_OK)
        return fb_fail(err, FB_ERROR_INPUT, "--threshold \"%s\": %s; write 5%% or METRIC=5%%", text,
                       why.text);
    if (metric == FB_METRIC_COUNT)
        tolerances->relative = share;
    else
        tolerances->relative_of[metric] = share;
    return 0;
}

/* Sizes have their units; other metrics are given in their own, as a plain number. */
static int read_amount(enum fb_metric metric, const char *text, double *out)
{
    if (metric == FB_METRIC_COUNT || strcmp(fb_metrics[metric].unit, "bytes") == 0)
        return fb_units_read_real(FB_UNIT_BYTES, text, out, NULL) == FB_UNITS_OK ? 0 : -1;
    char *end = NULL;
    *out = strtod(text, &end);
    return end == text || *end != '\0' || !isfinite(*out) || *out < 0 ? -1 : 0;
}

static int set_noise(struct fb_compare_request *request, const char *text, struct fb_error *err)
{
    struct fb_tolerances *tolerances = &request->rules.tolerances;
    enum fb_metric metric;
    const char *value;
    double amount = 0;
    if (split_value("--noise", text, &metric, &value, err) != 0)
        return -1;
    bool size = metric == FB_METRIC_COUNT || strcmp(fb_metrics[metric].unit, "bytes") == 0;
    if (read_amount(metric, value, &amount) != 0)
        return fb_fail(err, FB_ERROR_INPUT, "--noise \"%s\": write %s%s%s", text,
                       size ? "a size as in 1MiB" : "a plain number (its unit is ",
                       size ? "" : fb_metrics[metric].unit, size ? "" : ")");
    if (metric == FB_METRIC_COUNT)
        tolerances->noise_bytes = amount;
    else
        tolerances->absolute_of[metric] = amount;
    return 0;
}

static int use_field(struct fb_compare_request *request, const char *word, struct fb_error *err)
{
    const char *names[FB_MATCH_COUNT];
    for (size_t i = 0; i < FB_MATCH_COUNT; i++)
        names[i] = fb_matches[i].name;
    enum fb_match field = fb_match_find(word);
    if (field == FB_MATCH_COUNT)
        return fail_unknown("--by", "field of the comparison key", word, names, FB_MATCH_COUNT,
                            err);
    request->rules.pairing.by |= FB_MATCH_BIT(field);
    return 0;
}

static int set_by(struct fb_compare_request *request, const char *text, struct fb_error *err)
{
    return each_word("--by", text, request, use_field, err);
}

static int set_base(struct fb_compare_request *request, const char *text, struct fb_error *err)
{
    (void)err;
    request->rules.pairing.base = text;
    return 0;
}

static int use_judgement(struct fb_compare_request *request, const char *word, struct fb_error *err)
{
    const char *names[FB_JUDGEMENT_COUNT];
    for (size_t i = 0; i < FB_JUDGEMENT_COUNT; i++)
        names[i] = fb_judgement_name((enum fb_judgement)i);
    enum fb_judgement judgement = fb_judgement_find(word);
    if (strcmp(word, "none") == 0)
        return 0;
    if (judgement == FB_JUDGEMENT_COUNT)
        return fail_unknown("--fail-on", "verdict", word, names, FB_JUDGEMENT_COUNT, err);
    request->rules.fail_on |= FB_COMPARE_BIT(judgement);
    return 0;
}

static int set_fail_on(struct fb_compare_request *request, const char *text, struct fb_error *err)
{
    if (!request->fail_on_given)
        request->rules.fail_on = 0;
    request->fail_on_given = true;
    return each_word("--fail-on", text, request, use_judgement, err);
}

static int set_exact(struct fb_compare_request *request, const char *text, struct fb_error *err)
{
    (void)text, (void)err;
    request->rules.exact = true;
    return 0;
}

static int set_expect_same(struct fb_compare_request *request, const char *text,
                           struct fb_error *err)
{
    (void)text, (void)err;
    request->rules.expect_same = true;
    return 0;
}

static int set_skip_unlike(struct fb_compare_request *request, const char *text,
                           struct fb_error *err)
{
    (void)text, (void)err;
    request->rules.skip_unlike = true;
    return 0;
}

static int set_format(struct fb_compare_request *request, const char *text, struct fb_error *err)
{
    const char *names[NAMES_MAX];
    size_t count = fb_export_count < NAMES_MAX ? fb_export_count : NAMES_MAX;
    for (size_t i = 0; i < count; i++)
        names[i] = fb_exports[i].name;
    request->format = fb_export_find(text);
    return request->format != NULL ? 0
                                   : fail_unknown("--format", "format", text, names, count, err);
}

static int set_export(struct fb_compare_request *request, const char *text, struct fb_error *err)
{
    return fb_options_add_export(&request->exports, &request->export_count, text, err);
}

static int set_all(struct fb_compare_request *request, const char *text, struct fb_error *err)
{
    (void)text, (void)err;
    request->all = true;
    return 0;
}

static int set_color(struct fb_compare_request *request, const char *text, struct fb_error *err)
{
    return fb_options_when("--color", text, &request->color, err);
}

/* One row an option: what argp shows, and what it does. */
static const struct row {
    struct argp_option shown;
    int (*apply)(struct fb_compare_request *request, const char *text, struct fb_error *err);
} rows[] = {
    {{NULL, 0, NULL, 0, "What is set against what:", 1}, NULL},
    {{"by", KEY_BY, "FIELD,...", 0,
      "what is meant to differ: allocator, tunables, params, version, trace, libc, ... Every other "
      "difference is refused. With one RESULT: what its cells are compared by",
      1},
     set_by},
    {{"base", KEY_BASE, "NAME", 0,
      "the contender, or VAR=VALUE, that the others are set against (default: the first)", 1},
     set_base},
    {{"skip-unlike", KEY_SKIP_UNLIKE, NULL, 0,
      "skip cells that were measured under other conditions, and say which, where others are "
      "refused: for a base that is kept and not measured anew",
      1},
     set_skip_unlike},
    {{"metric", KEY_METRIC, "METRIC,...", 0,
      "what is judged (default: ratio_peak, kept_bytes, end_footprint_bytes; of a program of one's "
      "own, executed or recorded, also peak_footprint_bytes); \"all\" is every one of which "
      "less is better",
      1},
     set_metric},
    {{NULL, 0, NULL, 0, "What counts:", 2}, NULL},
    {{"threshold", KEY_THRESHOLD, "[METRIC=]SHARE", 0, "relative change that matters (default 5%)",
      2},
     set_threshold},
    {{"noise", KEY_NOISE, "[METRIC=]SIZE", 0, "and absolute change that does (default 1MiB)", 2},
     set_noise},
    {{"exact", KEY_EXACT, NULL, 0, "in cells that repeat exactly any difference counts", 2},
     set_exact},
    {{"expect-same", KEY_EXPECT_SAME, NULL, 0,
      "both are measurements of the same thing: any difference in cells that repeat exactly fails, "
      "and any that counts in others",
      2},
     set_expect_same},
    {{"fail-on", KEY_FAIL_ON, "VERDICT,...", 0,
      "what exits with 1 (default regressed,missing): also improved, inconclusive, new, skipped; "
      "or none. A failed cell is always 5",
      2},
     set_fail_on},
    {{NULL, 0, NULL, 0, "What is printed:", 3}, NULL},
    {{"format", KEY_FORMAT, "NAME", 0, "of the document on stdout (default text)", 3}, set_format},
    {{"export", KEY_EXPORT, "FORMAT=FILE", 0, "another document, repeatable", 3}, set_export},
    {{"all", KEY_ALL, NULL, 0, "also the unchanged values of a long list", 3}, set_all},
    {{"color", KEY_COLOR, "WHEN", 0, "auto (default), always, never; NO_COLOR is heeded", 3},
     set_color},
};
#define ROW_COUNT (sizeof rows / sizeof rows[0])

static bool label_taken(const struct fb_compare_request *request, const char *label)
{
    for (size_t i = 0; i < request->source_count; i++)
        if (strcmp(request->sources[i].label, label) == 0)
            return true;
    return false;
}

/* LABEL=DIR, unless a folder of that whole name is there. */
static int add_source(struct fb_compare_request *request, const char *text, struct fb_error *err)
{
    const char *equals = strchr(text, '=');
    bool labelled = equals != NULL && equals > text && access(text, F_OK) != 0;
    struct fb_compare_source source = {
        .label = labelled ? fb_format("%.*s", (int)(equals - text), text) : fb_strdup(""),
        .folder = labelled ? equals + 1 : text,
    };
    if (labelled && label_taken(request, source.label)) {
        (void)fb_fail(err, FB_ERROR_INPUT, "two results are called \"%s\"", source.label);
        free(source.label);
        return -1;
    }
    request->sources =
        fb_realloc(request->sources, request->source_count + 1, sizeof *request->sources);
    request->sources[request->source_count++] = source;
    return 0;
}

/* "base" and "new"; of several, and of one alone, their folders. */
static void label_sources(struct fb_compare_request *request)
{
    for (size_t i = 0; i < request->source_count; i++) {
        struct fb_compare_source *source = &request->sources[i];
        if (source->label[0] != '\0')
            continue;
        const char *plain = i == 0 ? "base" : "new";
        bool simple = request->source_count == 2 && !label_taken(request, plain);
        free(source->label);
        source->label = fb_strdup(simple ? plain : source->folder);
    }
}

/* What only makes sense together. */
static int check(const struct fb_compare_request *request, struct fb_error *err)
{
    bool within = false;
    for (size_t i = 0; i < FB_MATCH_COUNT; i++)
        within |= fb_matches[i].within_a_set && (request->rules.pairing.by & FB_MATCH_BIT(i)) != 0;
    if (request->source_count == 1 && !within)
        return fb_fail(err, FB_ERROR_INPUT,
                       "one result: say what its cells are compared by (--by allocator, tunables, "
                       "params or workload), or give a second result");
    if (request->rules.exact && request->rules.expect_same)
        return fb_fail(err, FB_ERROR_INPUT,
                       "--exact and --expect-same: the second includes the first; leave one out");
    return 0;
}

static int apply(struct fb_compare_request *request, int key, const char *arg, struct fb_error *err)
{
    for (size_t i = 0; i < ROW_COUNT; i++)
        if (rows[i].apply != NULL && rows[i].shown.key == key)
            return rows[i].apply(request, arg, err);
    return ARGP_ERR_UNKNOWN;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct fb_compare_request *request = state->input;
    struct fb_error err = {0};
    int status = 0;
    switch (key) {
    case ARGP_KEY_ARG:
        status = add_source(request, arg, &err);
        break;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "no result given; a result is a folder that `fragbench run' wrote");
        return 0;
    case ARGP_KEY_END:
        label_sources(request);
        status = check(request, &err);
        break;
    default:
        status = apply(request, key, arg, &err);
        if (status == ARGP_ERR_UNKNOWN)
            return ARGP_ERR_UNKNOWN;
    }
    if (status != 0)
        argp_error(state, "%s", err.text);
    return 0;
}

static char *filter_help(int key, const char *text, void *input)
{
    return key == KEY_EXPORT ? fb_options_export_help(text) : fb_exit_help_filter(key, text, input);
}

void fb_compare_options_parse(int argc, char **argv, struct fb_compare_request *out)
{
    struct argp_option shown[ROW_COUNT + 1] = {0};
    for (size_t i = 0; i < ROW_COUNT; i++)
        shown[i] = rows[i].shown;
    const struct argp argp = {
        .options = shown,
        .parser = parse_option,
        .args_doc = "BASE NEW...\nRESULT --by FIELD",
        .doc = "Judge result sets against a base, or the cells of one set against one another; "
               "exit with 1 where memory got worse.\v"
               "BASE and NEW are result folders, or LABEL=FOLDER.",
        .help_filter = filter_help,
    };
    *out = (struct fb_compare_request){.rules = {.fail_on = FB_COMPARE_FAIL_ON},
                                       .format = fb_export_find("text")};
    fb_tolerances_init(&out->rules.tolerances);
    (void)argp_parse(&argp, argc, argv, 0, NULL, out);
}

void fb_compare_options_deinit(struct fb_compare_request *request)
{
    for (size_t i = 0; i < request->source_count; i++)
        free(request->sources[i].label);
    free(request->sources);
    free(request->metrics);
    free(request->exports);
}
