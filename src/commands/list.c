#include "commands/list.h"

#include "base/alloc.h"
#include "base/suggest.h"
#include "commands/columns.h"
#include "commands/commands.h"
#include "commands/exit_code.h"
#include "commands/locate.h"
#include "commands/message.h"
#include "result/metric.h"
#include "workload/keys.h"
#include "workload/workload.h"

#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct list_options {
    const char *topic, *name;
    bool markdown;
};

static const struct topic {
    const char *name;
    int (*print)(const char *name, struct fb_error *err);
    void (*print_markdown)(void); /* NULL = has none */
} topics[] = {
    {"allocators", fb_list_allocators, NULL},
    {"workloads", fb_list_workloads, NULL},
    {"metrics", fb_list_metrics, NULL},
    {"keys", fb_list_keys, fb_list_keys_markdown},
};
#define TOPIC_COUNT (sizeof topics / sizeof topics[0])

static const char *better_word(const struct fb_metric_info *metric)
{
    return metric->better == FB_BETTER_LOWER ? "lower" : "-";
}

static void print_metric(const struct fb_metric_info *metric)
{
    (void)printf("%s: %s\n  unit    %s\n  better  %s\n  exact   %s\n  %s\n", metric->name,
                 metric->title, metric->unit, better_word(metric),
                 metric->exact ? "yes, under the virtual clock" : "no", metric->help);
    if (*metric->source != '\0')
        (void)printf("  source: %s\n", metric->source);
}

int fb_list_metrics(const char *name, struct fb_error *err)
{
    const char *names[FB_METRIC_COUNT];
    for (size_t i = 0; i < FB_METRIC_COUNT; i++)
        names[i] = fb_metrics[i].name;
    if (name != NULL) {
        enum fb_metric metric = fb_metric_find(name);
        const char *near = fb_suggest(name, names, FB_METRIC_COUNT);
        if (metric == FB_METRIC_COUNT)
            return fb_fail(err, FB_ERROR_INPUT, "no metric \"%s\"; %s%s%s", name,
                           near != NULL ? "did you mean \"" : "see `fragbench list metrics`",
                           near != NULL ? near : "", near != NULL ? "\"?" : "");
        print_metric(&fb_metrics[metric]);
        return 0;
    }
    struct fb_columns columns;
    fb_columns_init(&columns, "llll");
    fb_columns_add(&columns, (const char *const[]){"metric", "unit", "better", "meaning"});
    for (size_t i = 0; i < FB_METRIC_COUNT; i++)
        fb_columns_add(&columns,
                       (const char *const[]){fb_metrics[i].name, fb_metrics[i].unit,
                                             better_word(&fb_metrics[i]), fb_metrics[i].title});
    fb_columns_print(&columns, "", stdout);
    fb_columns_deinit(&columns);
    return 0;
}

/* Up to the first full stop that ends a sentence, on one line. New string. */
static char *first_sentence(const char *text)
{
    const char *end = strstr(text, ". ");
    const char *line = strchr(text, '\n');
    size_t length = strlen(text);
    if (end != NULL)
        length = (size_t)(end - text) + 1;
    if (line != NULL && (size_t)(line - text) < length)
        length = (size_t)(line - text);
    return fb_format("%.*s", (int)length, text);
}

static void print_workload(const struct fb_workload *workload)
{
    (void)printf("%s\n  file         %s\n  description  %s\n", workload->name, workload->file,
                 workload->description);
    if (workload->source != NULL && *workload->source != '\0')
        (void)printf("  source       %s\n", workload->source);
    for (size_t i = 0; i < workload->param_count; i++)
        (void)printf("  %s  %s=%s\n", i == 0 ? "parameters " : "           ",
                     workload->params[i].name, workload->params[i].value);
}

static void add_workload(struct fb_columns *columns, const char *path)
{
    struct fb_workload *workload = NULL;
    struct fb_diagnostics *diagnostics = fb_alloc(1, sizeof *diagnostics);
    fb_diagnostics_init(diagnostics);
    char *name = fb_locate_name(path);
    if (fb_workload_load(path, NULL, 0, &workload, diagnostics) == 0) {
        char *sentence = first_sentence(workload->description);
        fb_columns_add(columns, (const char *const[]){name, sentence});
        free(sentence);
        fb_workload_free(workload);
    } else {
        fb_columns_add(columns, (const char *const[]){name, "(has errors: see fragbench check)"});
    }
    free(name);
    fb_diagnostics_deinit(diagnostics);
    free(diagnostics);
}

static int list_workload(const char *name, struct fb_error *err)
{
    char *path = NULL;
    struct fb_workload *workload = NULL;
    if (fb_locate_workload(name, &path, err) != 0)
        return -1;
    struct fb_diagnostics *diagnostics = fb_alloc(1, sizeof *diagnostics);
    fb_diagnostics_init(diagnostics);
    int status = fb_workload_load(path, NULL, 0, &workload, diagnostics);
    if (status == 0)
        print_workload(workload);
    else
        (void)fb_fail(err, FB_ERROR_INPUT, "%s has errors; `fragbench check %s` shows them", path,
                      path);
    fb_workload_free(workload);
    fb_diagnostics_deinit(diagnostics);
    free(diagnostics);
    free(path);
    return status;
}

int fb_list_workloads(const char *name, struct fb_error *err)
{
    if (name != NULL)
        return list_workload(name, err);
    size_t count = 0;
    char **paths = fb_locate_all(&count);
    struct fb_columns columns;
    fb_columns_init(&columns, "ll");
    for (size_t i = 0; i < count; i++)
        add_workload(&columns, paths[i]);
    fb_columns_print(&columns, "", stdout);
    fb_columns_deinit(&columns);
    fb_locate_free(paths, count);
    return 0;
}

#define MARKDOWN_KEY 256 /* no short option */

static const struct argp_option option_table[] = {
    {"markdown", MARKDOWN_KEY, NULL, 0, "the whole table of keys, as GitHub tables", 0},
    {0},
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct list_options *options = state->input;
    if (key == MARKDOWN_KEY) {
        options->markdown = true;
        return 0;
    }
    if (key == ARGP_KEY_NO_ARGS)
        argp_error(state, "say what: allocators, workloads, metrics or keys");
    if (key != ARGP_KEY_ARG)
        return ARGP_ERR_UNKNOWN;
    if (state->arg_num > 1)
        argp_error(state, "one NAME at the most");
    *(state->arg_num == 0 ? &options->topic : &options->name) = arg;
    return 0;
}

static int print_one_topic(const struct topic *topic, const struct list_options *options,
                           struct fb_error *err)
{
    if (!options->markdown)
        return topic->print(options->name, err);
    if (topic->print_markdown == NULL || options->name != NULL)
        return fb_fail(err, FB_ERROR_INPUT,
                       "--markdown is for the whole table of keys: `fragbench list keys "
                       "--markdown`");
    topic->print_markdown();
    return 0;
}

static int print_topic(const struct list_options *options, struct fb_error *err)
{
    const char *names[TOPIC_COUNT];
    for (size_t i = 0; i < TOPIC_COUNT; i++) {
        names[i] = topics[i].name;
        if (strcmp(topics[i].name, options->topic) == 0)
            return print_one_topic(&topics[i], options, err);
    }
    fb_message_unknown("list", options->topic, names, TOPIC_COUNT);
    err->kind = FB_ERROR_INPUT; /* said already, with all of them */
    return -1;
}

int cmd_list(int argc, char **argv)
{
    static const struct argp argp = {
        .options = option_table,
        .parser = parse_option,
        .args_doc = "allocators|workloads|metrics|keys [NAME]",
        .doc = "What there is. With NAME: all that is known of that one.",
        .help_filter = fb_exit_help_filter,
    };
    struct list_options options = {0};
    struct fb_error err = {0};
    (void)argp_parse(&argp, argc, argv, 0, NULL, &options);
    if (print_topic(&options, &err) != 0 && err.text[0] != '\0')
        fb_message_error(&err);
    return fb_exit_code(fb_exit_of_error(&err), 0);
}
