#include "base/alloc.h"
#include "base/buf.h"
#include "base/error.h"
#include "commands/commands.h"
#include "commands/exit_code.h"
#include "commands/message.h"

#include <argp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the parser before the sub-command finds. */
struct front {
    const struct fb_command *table;
    size_t count;
    const struct fb_command *chosen;
    int rest; /* index of the sub-command's name in argv */
};

static void fail_unknown(const struct front *front, const char *word)
{
    const char **names = fb_alloc(front->count, sizeof *names);
    for (size_t i = 0; i < front->count; i++)
        names[i] = front->table[i].name;
    fb_message_unknown("command", word, names, front->count);
    free(names);
    exit(fb_exit_code(FB_HAPPENED_BAD_INPUT, 0));
}

static error_t parse_front(int key, char *arg, struct argp_state *state)
{
    struct front *front = state->input;
    switch (key) {
    case ARGP_KEY_ARG:
        for (size_t i = 0; i < front->count; i++) {
            if (strcmp(front->table[i].name, arg) == 0)
                front->chosen = &front->table[i];
        }
        if (front->chosen == NULL)
            fail_unknown(front, arg);
        front->rest = state->next - 1;
        state->next = state->argc; /* the rest is the sub-command's */
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_state_help(state, stderr,
                        ARGP_HELP_USAGE | ARGP_HELP_LONG | ARGP_HELP_DOC | ARGP_HELP_EXIT_ERR);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* The list of sub-commands comes from the table; the exit codes from theirs. */
static char *filter_help(int key, const char *text, void *input)
{
    const struct front *front = input;
    if (key != ARGP_KEY_HELP_POST_DOC || front == NULL)
        return fb_exit_help_filter(key, text, input);
    struct fb_buf buf;
    fb_buf_init(&buf, 8192);
    fb_buf_adds(&buf, "Commands:\n");
    for (size_t i = 0; i < front->count; i++)
        fb_buf_addf(&buf, "  %-7s %s\n", front->table[i].name, front->table[i].help);
    fb_buf_adds(&buf, "\n`fragbench COMMAND --help' says more.");
    char *whole = fb_exit_help_filter(key, buf.text, NULL);
    fb_buf_deinit(&buf);
    return whole;
}

/* The sub-command sees "fragbench NAME" as its own name, so that its usage and errors say it. */
static int run_command(const struct front *front, int argc, char **argv)
{
    char *name = fb_format("fragbench %s", front->chosen->name);
    argv[front->rest] = name;
    int code = front->chosen->run(argc - front->rest, argv + front->rest);
    free(name);
    return code;
}

/* A document that did not reach stdout is a failure, whatever the command thought. */
static int flush_document(int code)
{
    struct fb_error err = {0};
    if (fflush(stdout) == 0 && ferror(stdout) == 0)
        return code;
    (void)fb_fail_errno(&err, "cannot write to standard output");
    fb_message_error(&err);
    return code == 0 || code > 3 ? fb_exit_code(FB_HAPPENED_IO, 0) : code;
}

int fb_commands_dispatch(const struct fb_command *table, size_t count, int argc, char **argv)
{
    struct front front = {.table = table, .count = count};
    const struct argp argp = {
        .parser = parse_front,
        .args_doc = "COMMAND [OPTION...]",
        .doc = "fragbench measures what an allocation pattern costs in memory under each "
               "allocator.\v ",
        .help_filter = filter_help,
    };
    argp_program_version = "fragbench " FRAGBENCH_VERSION;
    argp_err_exit_status = fb_exit_code(FB_HAPPENED_BAD_INPUT, 0);
    (void)argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &front);
    return flush_document(run_command(&front, argc, argv));
}
