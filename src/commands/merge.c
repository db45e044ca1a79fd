/* fragbench merge: the shards of one plan into one result folder. Everything is read and checked
 * before anything is made. */
#include "result/merge.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "commands/commands.h"
#include "commands/execute.h"
#include "commands/exit_code.h"
#include "commands/message.h"
#include "result/store.h"

#include <argp.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOTES_CAP_BYTES 65536U

enum { KEY_PARTIAL = 256, KEY_EXPORT, KEY_COLOR };

struct merge_options {
    struct fb_run_options shared; /* output, force, exports, color */
    const char **shards;
    size_t shard_count;
    bool partial;
};

static const struct argp_option option_table[] = {
    {"output", 'o', "DIR", 0, "result folder to make; must be given", 0},
    {"force", 'f', NULL, 0, "replace the results in DIR", 0},
    {"partial", KEY_PARTIAL, NULL, 0, "join what there is, though shards are missing (exit 5)", 0},
    {"export", KEY_EXPORT, "FORMAT=FILE", 0, "another document, repeatable, as for run", 0},
    {"color", KEY_COLOR, "WHEN", 0, "auto (default), always, never; NO_COLOR is heeded", 0},
    {0},
};

static void add_shard(struct merge_options *options, const char *path)
{
    options->shards =
        fb_realloc(options->shards, options->shard_count + 1, sizeof *options->shards);
    options->shards[options->shard_count++] = path;
}

static void check_given(const struct merge_options *options, struct argp_state *state)
{
    if (options->shard_count == 0)
        argp_error(state, "no shard given: name the result folders of all shards");
    if (options->shared.output == NULL)
        argp_error(state, "no -o: say which folder the merged result goes to");
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct merge_options *options = state->input;
    struct fb_error err = {0};
    int status = 0;
    switch (key) {
    case 'o':
        status = fb_options_output(&options->shared, arg, &err);
        break;
    case 'f':
        options->shared.force = true;
        break;
    case KEY_PARTIAL:
        options->partial = true;
        break;
    case KEY_EXPORT:
        status = fb_options_export(&options->shared, arg, &err);
        break;
    case KEY_COLOR:
        status = fb_options_color(&options->shared, arg, &err);
        break;
    case ARGP_KEY_ARG:
        add_shard(options, arg);
        break;
    case ARGP_KEY_END:
        check_given(options, state);
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    if (status != 0)
        argp_error(state, "%s", err.text);
    return 0;
}

/* The shards as read; sorted by shard once they are checked. */
struct merging {
    const struct merge_options *options;
    struct fb_merge_input *inputs;
    size_t count;
    char *missing; /* NULL: none */
};

static int read_inputs(struct merging *merging, struct fb_error *err)
{
    const struct merge_options *options = merging->options;
    merging->inputs = fb_alloc(options->shard_count, sizeof *merging->inputs);
    for (size_t i = 0; i < options->shard_count; i++) {
        merging->inputs[i].path = options->shards[i];
        if (fb_store_read_result(options->shards[i], &merging->inputs[i].result, err) != 0)
            return -1;
        merging->count++;
    }
    return 0;
}

/* With -f the folder is emptied first: a shard in it would be lost. */
static int check_output(const char *folder, const char *output, struct fb_error *err)
{
    char shard[PATH_MAX], target[PATH_MAX];
    if (realpath(folder, shard) == NULL || realpath(output, target) == NULL ||
        strcmp(shard, target) != 0)
        return 0;
    return fb_fail(err, FB_ERROR_INPUT, "-o %s is the folder of a shard; give another", output);
}

static int check_files(const struct merging *merging, struct fb_error *err)
{
    int status = 0;
    for (size_t i = 0; i < merging->count && status == 0; i++) {
        char *folder = fb_store_folder_of(merging->inputs[i].path);
        status = check_output(folder, merging->options->shared.output, err);
        if (status == 0)
            status = fb_store_check_series(folder, &merging->inputs[i].result, err);
        free(folder);
    }
    return status;
}

/* Shards of one plan have the same workloads; some may have been measured without keeping them. */
static int copy_workloads(const char *folder, const struct fb_result *result, const char *output,
                          struct fb_error *err)
{
    int status = 0;
    for (size_t i = 0; i < result->cell_count && status == 0; i++) {
        const char *name = result->cells[i].workload.name;
        char *text = name != NULL ? fb_store_read_workload(folder, name) : NULL;
        if (text != NULL)
            status = fb_store_keep_workload(output, name, text, strlen(text), err);
        free(text);
    }
    return status;
}

static int copy_series(const struct merging *merging, struct fb_error *err)
{
    int status = 0;
    for (size_t i = 0; i < merging->count && status == 0; i++) {
        char *folder = fb_store_folder_of(merging->inputs[i].path);
        status = fb_store_copy_series(folder, &merging->inputs[i].result,
                                      merging->options->shared.output, err);
        if (status == 0)
            status = copy_workloads(folder, &merging->inputs[i].result,
                                    merging->options->shared.output, err);
        free(folder);
    }
    return status;
}

static void print_notes(const struct merging *merging)
{
    struct fb_buf notes;
    fb_buf_init(&notes, NOTES_CAP_BYTES);
    fb_merge_notes(merging->inputs, merging->count, &notes);
    for (char *line = strtok(notes.text, "\n"); line != NULL; line = strtok(NULL, "\n"))
        fb_message_note("%s", line);
    fb_buf_deinit(&notes);
    if (merging->missing != NULL)
        fb_message_note("shards missing: %s of %u", merging->missing,
                        merging->inputs[0].result.shard.count);
}

/* result.json comes last: where it is, all of it is there. */
static int join(struct merging *merging, struct fb_execution *run, struct fb_error *err)
{
    if (read_inputs(merging, err) != 0 ||
        fb_merge_check(merging->inputs, merging->count, merging->options->partial, err) != 0 ||
        check_files(merging, err) != 0 ||
        fb_store_create(run->folder, run->options->force, err) != 0 ||
        copy_series(merging, err) != 0)
        return -1;
    merging->missing = fb_merge_missing(merging->inputs, merging->count);
    print_notes(merging);
    fb_merge_take(merging->inputs, merging->count, &run->result);
    return 0;
}

static unsigned work(struct merging *merging, int argc, char **argv, struct fb_error *err)
{
    const struct fb_run_options *options = &merging->options->shared;
    struct fb_execution run = {.options = options, .folder = fb_strdup(options->output)};
    unsigned happened = 0;
    if (join(merging, &run, err) == 0) {
        fb_execute_argv(&run.result, argc, argv);
        if (fb_execute_save(&run, true, err) == 0) {
            fb_execute_print(&run);
            happened = fb_exit_of_result(&run.result) | fb_exit_of_findings(&run.findings);
        }
    }
    if (merging->missing != NULL)
        happened |= FB_HAPPENED_INCOMPLETE;
    fb_findings_deinit(&run.findings);
    fb_result_deinit(&run.result);
    free(run.folder);
    return happened;
}

static void merging_deinit(struct merging *merging)
{
    for (size_t i = 0; i < merging->count; i++)
        fb_result_deinit(&merging->inputs[i].result);
    free(merging->inputs);
    free(merging->missing);
}

int cmd_merge(int argc, char **argv)
{
    static const struct argp argp = {
        .options = option_table,
        .parser = parse_option,
        .args_doc = "SHARD... -o DIR",
        .doc = "Join the results of `fragbench run --shard 1/N' to N/N into one result folder, "
               "and print its table.\vA SHARD is a result folder or its result.json. All must be "
               "of one plan, one fragbench, one libc and the same allocator builds.",
        .help_filter = fb_exit_help_filter,
    };
    struct merge_options options = {0};
    struct fb_error err = {0};
    /* In order: argv is recorded as it was typed. */
    (void)argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &options);
    struct merging merging = {.options = &options};
    unsigned happened = work(&merging, argc, argv, &err);
    if (err.kind != FB_ERROR_NONE)
        fb_message_error(&err);
    happened |= fb_exit_of_error(&err);
    merging_deinit(&merging);
    fb_options_deinit(&options.shared);
    free(options.shards);
    return fb_exit_code(happened, 0);
}
