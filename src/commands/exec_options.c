#include "commands/exec_options.h"

#include "base/alloc.h"
#include "base/units.h"
#include "commands/exit_code.h"

#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define INTERVAL_DEFAULT_NS UINT64_C(10000000)
#define TIMEOUT_DEFAULT_NS UINT64_C(600000000000)
#define GRACE_DEFAULT_NS UINT64_C(10000000000)
#define PORT_MAX 65535UL

/* Above those of `run`, which share the parser. */
enum {
    KEY_NAME = 1024,
    KEY_READY_PORT,
    KEY_READY_LINE,
    KEY_DRIVER,
    KEY_SETTLE,
    KEY_GRACE,
    KEY_LIVE,
};

static int set_name(struct fb_exec_options *o, const char *text, struct fb_error *err)
{
    if (*text == '\0' || strchr(text, '/') != NULL)
        return fb_fail(err, FB_ERROR_INPUT, "--name \"%s\": must not be empty nor contain \"/\"",
                       text);
    o->name = text;
    return 0;
}

static int set_ready_port(struct fb_exec_options *o, const char *text, struct fb_error *err)
{
    char *end = NULL;
    errno = 0;
    unsigned long port = strtoul(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || port < 1 || port > PORT_MAX)
        return fb_fail(err, FB_ERROR_INPUT, "--ready-port \"%s\": must be a TCP port from 1 to %lu",
                       text, PORT_MAX);
    o->ready_port = (unsigned)port;
    return 0;
}

static int set_ready_line(struct fb_exec_options *o, const char *text, struct fb_error *err)
{
    char why[200];
    if (o->ready_text != NULL)
        return fb_fail(err, FB_ERROR_INPUT, "--ready-line: given twice; write A|B for either");
    int error = regcomp(&o->ready_line, text, REG_EXTENDED | REG_NOSUB);
    if (error != 0) {
        (void)regerror(error, &o->ready_line, why, sizeof why);
        return fb_fail(err, FB_ERROR_INPUT,
                       "--ready-line \"%s\": not an extended regular expression: %s", text, why);
    }
    o->ready_text = text;
    return 0;
}

static int set_driver(struct fb_exec_options *o, const char *text, struct fb_error *err)
{
    if (*text == '\0')
        return fb_fail(err, FB_ERROR_INPUT, "--driver: the command is empty");
    o->driver = text;
    return 0;
}

static int set_time(const char *option, const char *text, uint64_t *out, struct fb_error *err)
{
    struct fb_error why = {0};
    if (fb_units_parse(FB_UNIT_TIME, text, out, &why) != 0)
        return fb_fail(err, FB_ERROR_INPUT, "%s \"%s\": %s", option, text, why.text);
    return 0;
}

static int set_settle(struct fb_exec_options *o, const char *text, struct fb_error *err)
{
    return set_time("--settle", text, &o->settle_ns, err);
}

static int set_grace(struct fb_exec_options *o, const char *text, struct fb_error *err)
{
    return set_time("--grace", text, &o->grace_ns, err);
}

static int set_live(struct fb_exec_options *o, const char *text, struct fb_error *err)
{
    (void)text, (void)err;
    o->live = true;
    return 0;
}

static const struct row {
    struct argp_option shown;
    int (*apply)(struct fb_exec_options *options, const char *text, struct fb_error *err);
} rows[] = {
    {{"name", KEY_NAME, "NAME", 0,
      "what the cells are called, the same for two builds that are to be compared (default: the "
      "program's file name)",
      1},
     set_name},
    {{"live", KEY_LIVE, NULL, 0,
      "count live bytes with a library preloaded before the allocator: ratios, some ns a call", 1},
     set_live},
    {{NULL, 0, NULL, 0, "A service:", 2}, NULL},
    {{"ready-port", KEY_READY_PORT, "PORT", 0, "it is ready when it listens on this TCP port", 2},
     set_ready_port},
    {{"ready-line", KEY_READY_LINE, "REGEX", 0,
      "it is ready when it prints a line that matches (extended regular expression)", 2},
     set_ready_line},
    {{"driver", KEY_DRIVER, "COMMAND", 0,
      "run this with sh -c when it is ready; when it ends, the program is asked to end (SIGTERM)",
      2},
     set_driver},
    {{"settle", KEY_SETTLE, "TIME", 0,
      "watch the program idle for so long after the driver (default 0)", 2},
     set_settle},
    {{"grace", KEY_GRACE, "TIME", 0, "from SIGTERM to SIGKILL (default 10s)", 2}, set_grace},
};
#define ROW_COUNT (sizeof rows / sizeof rows[0])

static const char *const shared_rows[] = {
    "allocator", "repeat", "dry-run", "interval", "timeout", "memory-limit", "output",
    "force",     "export", "limit",   "plot",     "sketch",  "progress",     "color",
};
#define SHARED_COUNT (sizeof shared_rows / sizeof shared_rows[0])

static int apply(struct fb_exec_options *options, int key, const char *text, struct fb_error *err)
{
    for (size_t i = 0; i < ROW_COUNT; i++)
        if (rows[i].apply != NULL && rows[i].shown.key == key)
            return rows[i].apply(options, text, err) == 0 ? 1 : -1;
    return fb_options_apply(&options->common, key, text, err);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct fb_exec_options *options = state->input;
    struct fb_error err = {0};
    if (key == ARGP_KEY_ARG) {
        options->command = state->argv + state->next - 1;
        state->next = state->argc; /* the rest is the program's */
        return 0;
    }
    if (key == ARGP_KEY_NO_ARGS)
        argp_error(state, "no program given; write it last, as in: fragbench exec -a "
                          "ptmalloc2,jemalloc -- python3 serve.py");
    int applied = apply(options, key, arg, &err);
    if (applied < 0)
        argp_error(state, "%s", err.text);
    return applied != 0 ? 0 : ARGP_ERR_UNKNOWN;
}

static void check(const struct fb_exec_options *options, struct fb_error *err)
{
    if (options->settle_ns > 0 && options->driver == NULL)
        (void)fb_fail(
            err, FB_ERROR_INPUT,
            "--settle watches the program after its driver; give one with --driver (as in "
            "--driver 'sleep 10')");
}

void fb_exec_options_parse(int argc, char **argv, struct fb_exec_options *out)
{
    struct argp_option shown[ROW_COUNT + SHARED_COUNT + 1] = {0};
    for (size_t i = 0; i < ROW_COUNT; i++)
        shown[i] = rows[i].shown;
    for (size_t i = 0; i < SHARED_COUNT; i++) {
        shown[ROW_COUNT + i] = *fb_options_row(shared_rows[i]);
        shown[ROW_COUNT + i].group = 3;
    }
    const struct argp argp = {
        .options = shown,
        .parser = parse_option,
        .args_doc = "-- PROGRAM [ARGUMENT...]",
        .doc =
            "Run a program of your own under each allocator and measure its memory from outside: "
            "the whole tree of its processes, in real time.\v"
            "Its output goes to logs/ in the result folder; its environment is yours with the "
            "allocator put in. docs/exec.md says what cannot be switched and what to do.",
        .help_filter = fb_exit_help_filter,
    };
    struct fb_error err = {0};
    *out = (struct fb_exec_options){
        .common = {.layouts = 1,
                   .seeds = 1,
                   .repeats = 1,
                   .clock = FB_CLOCK_REAL,
                   .order = FB_ORDER_FREE,
                   .interval_ns = INTERVAL_DEFAULT_NS,
                   .timeout_ns = TIMEOUT_DEFAULT_NS,
                   .scale = 1,
                   .thp = "advised"},
        .grace_ns = GRACE_DEFAULT_NS,
    };
    (void)argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, out);
    check(out, &err);
    if (err.kind != FB_ERROR_NONE)
        argp_failure(NULL, argp_err_exit_status, 0, "%s", err.text);
}

void fb_exec_options_deinit(struct fb_exec_options *options)
{
    if (options->ready_text != NULL)
        regfree(&options->ready_line);
    fb_options_deinit(&options->common);
}
