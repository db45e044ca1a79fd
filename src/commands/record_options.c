#include "commands/record_options.h"

#include "base/units.h"
#include "commands/exit_code.h"
#include "trace/spool.h"

#include <argp.h>
#include <stddef.h>

#define SITE_FRAMES 16U

enum {
    KEY_FROM = 256,
    KEY_WORKLOAD,
    KEY_LIMIT,
    KEY_FOR,
    KEY_SPOOL,
    KEY_ALL,
    KEY_RATE,
    KEY_SITES,
    KEY_FRESH
};

static const struct argp_option shown[] = {
    {"output", 'o', "FILE", 0, "the recording, as in service.fbt (default recording.fbt)", 1},
    {"force", 'f', NULL, 0, "replace files that are there", 1},
    {"allocator", 'a', "SPEC", 0, "the program's allocator while it is recorded (default: its own)",
     1},
    {"limit", KEY_LIMIT, "SIZE", 0, "stop recording, not the program, at so much on disk", 1},
    {"rate", KEY_RATE, "SIZE", 0,
     "write at most so much a second, on average; a program that calls faster is held back", 1},
    {"sites", KEY_SITES, "FRAMES", OPTION_ARG_OPTIONAL,
     "also record where each block was asked for, with so many calling functions (default 16)", 1},
    {"fresh-pages", KEY_FRESH, NULL, 0,
     "give each block of 64 KiB or more fresh pages, so that what is written of it is known "
     "exactly",
     1},
    {"for", KEY_FOR, "TIME", 0, "stop recording, not the program, after so long", 1},
    {"all", KEY_ALL, NULL, 0,
     "keep the recordings of small processes, too: less than 1 % of what the largest allocated", 1},
    {"spool", KEY_SPOOL, "DIR", 0,
     "folder for the recorder's buffers (default /dev/shm, or TMPDIR)", 1},
    {"workload", KEY_WORKLOAD, "FILE.yaml", 0, "also write a workload in the language", 2},
    {"from", KEY_FROM, "FILE.fbt", 0, "record nothing; make the workload of this recording", 2},
    {0},
};

static void set_unit(struct argp_state *state, const char *option, enum fb_unit_kind kind,
                     const char *text, uint64_t *out)
{
    struct fb_error why = {0};
    if (fb_units_parse(kind, text, out, &why) != 0)
        argp_error(state, "%s \"%s\": %s", option, text, why.text);
    if (*out == 0)
        argp_error(state, "%s \"%s\": must be above 0", option, text);
}

static void set_sites(struct argp_state *state, const char *text, struct fb_record_options *options)
{
    uint64_t frames = SITE_FRAMES;
    struct fb_error err = {0};
    if (text != NULL && fb_units_parse(FB_UNIT_COUNT, text, &frames, &err) != 0)
        argp_error(state, "--sites: %s", err.text);
    if (frames < 1 || frames > FB_SPOOL_FRAMES_MAX)
        argp_error(state, "--sites \"%s\": give a number of frames from 1 to %u", text,
                   FB_SPOOL_FRAMES_MAX);
    options->site_frames = (unsigned)frames;
}

static void check(struct argp_state *state, const struct fb_record_options *options)
{
    if (options->from == NULL && options->command == NULL)
        argp_error(state, "no program given: fragbench record -o FILE.fbt -- COMMAND...");
    if (options->from != NULL && options->command != NULL)
        argp_error(state, "--from makes a workload of a recording that is there; leave out \"%s\"",
                   options->command[0]);
    if (options->from != NULL && options->workload == NULL)
        argp_error(state, "--from needs --workload FILE.yaml: what to make of it");
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct fb_record_options *options = state->input;
    const struct {
        int key;
        const char **text;
    } texts[] = {{'o', &options->output},
                 {'a', &options->allocator},
                 {KEY_SPOOL, &options->spool},
                 {KEY_WORKLOAD, &options->workload},
                 {KEY_FROM, &options->from}};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (texts[i].key == key) {
            *texts[i].text = arg;
            return 0;
        }
    }
    switch (key) {
    case 'f':
        options->force = true;
        return 0;
    case KEY_ALL:
        options->all = true;
        return 0;
    case KEY_LIMIT:
        set_unit(state, "--limit", FB_UNIT_BYTES, arg, &options->limit_bytes);
        return 0;
    case KEY_RATE:
        set_unit(state, "--rate", FB_UNIT_BYTES, arg, &options->rate_bytes);
        return 0;
    case KEY_SITES:
        set_sites(state, arg, options);
        return 0;
    case KEY_FRESH:
        options->fresh_pages = true;
        return 0;
    case KEY_FOR:
        set_unit(state, "--for", FB_UNIT_TIME, arg, &options->for_ns);
        return 0;
    case ARGP_KEY_ARGS: /* the rest, "--" taken out by argp */
        options->command = state->argv + state->next;
        state->next = state->argc;
        return 0;
    case ARGP_KEY_END:
        check(state, options);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

void fb_record_options_parse(int argc, char **argv, struct fb_record_options *out)
{
    static const struct argp argp = {
        .options = shown,
        .parser = parse_option,
        .args_doc = "-- COMMAND...\n--from FILE.fbt --workload FILE.yaml",
        .doc =
            "Run a program and record what it asks its allocator for; `fragbench run FILE.fbt` "
            "replays it under any allocator.\v"
            "Each process that the program starts gets a recording of its own, FILE.2.fbt and so "
            "on; the one that allocated most gets the name asked for. Sizes, times and thread "
            "numbers are "
            "recorded, nothing else; with --sites also names of functions and source files.",
        .help_filter = fb_exit_help_filter,
    };
    *out = (struct fb_record_options){0};
    (void)argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, out);
    if (out->output == NULL)
        out->output = "recording.fbt";
}
