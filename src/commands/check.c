#include "base/alloc.h"
#include "base/buf.h"
#include "base/units.h"
#include "commands/columns.h"
#include "commands/commands.h"
#include "commands/exit_code.h"
#include "commands/limits.h"
#include "commands/message.h"
#include "commands/options.h"
#include "commands/plan.h"
#include "commands/recorded.h"
#include "commands/sites.h"
#include "report/recorded.h"
#include "workload/replica.h"

#include <argp.h>
#include <stdio.h>
#include <stdlib.h>

#define FAULTS_CAP_BYTES ((size_t)1 << 24)
#define NUMBER_CHARS 48

struct check_options {
    const char **workloads;
    size_t workload_count;
    struct fb_param_axes params;
    double scale;
    struct fb_sites_view sites;
};

enum { KEY_SCALE = 256, KEY_SITES };

static const struct argp_option shown[] = {
    {"param", 'L', "VAR=V1,V2", 0, "values of a workload's parameter, repeatable: cross product",
     0},
    {"scale", KEY_SCALE, "X", 0, "multiply every phase's iterations, as in 0.1", 0},
    {"sites", KEY_SITES, "N", OPTION_ARG_OPTIONAL,
     "show all frames of the N call sites (default 10) that held most at a recording's peak", 0},
    {0},
};

static void add_workload(struct check_options *options, const char *workload)
{
    options->workloads =
        fb_realloc(options->workloads, options->workload_count + 1, sizeof *options->workloads);
    options->workloads[options->workload_count++] = workload;
}

static void set_sites(struct argp_state *state, const char *text, struct fb_sites_view *sites)
{
    uint64_t count = FB_SITES_SHOWN;
    struct fb_error err = {0};
    if (text != NULL && fb_units_parse(FB_UNIT_COUNT, text, &count, &err) != 0)
        argp_error(state, "--sites: %s", err.text);
    if (count == 0)
        argp_error(state, "--sites \"%s\": must be above 0", text);
    sites->count = (size_t)count;
    sites->frames = true;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct check_options *options = state->input;
    struct fb_error err = {0};
    int status = 0;
    switch (key) {
    case 'L':
        status = fb_axes_add(&options->params, arg, &err);
        break;
    case KEY_SCALE:
        status = fb_options_scale(arg, &options->scale, &err);
        break;
    case KEY_SITES:
        set_sites(state, arg, &options->sites);
        return 0;
    case ARGP_KEY_ARG:
        add_workload(options, arg);
        break;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "no workload given; `fragbench list workloads` shows some");
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    if (status != 0)
        argp_error(state, "%s", err.text);
    return 0;
}

static void add_fact(struct fb_columns *columns, const char *name, const char *value,
                     const char *more)
{
    fb_columns_add(columns, (const char *const[]){name, value, more});
}

/* Objects and calls, counted without the teardown. */
static void add_counts(struct fb_columns *columns, const struct fb_trace_header *header)
{
    char n[4][NUMBER_CHARS], more[256];
    (void)snprintf(more, sizeof more, "at most %s alive at once",
                   fb_units_count(header->peak_objects, n[0], sizeof n[0]));
    add_fact(columns, "objects", fb_units_count(header->alloc_calls, n[1], sizeof n[1]), more);
    uint64_t calls = header->alloc_calls + header->free_calls + header->realloc_calls;
    (void)snprintf(more, sizeof more, "%s allocations, %s frees, %s reallocations",
                   fb_units_count(header->alloc_calls, n[0], sizeof n[0]),
                   fb_units_count(header->free_calls, n[1], sizeof n[1]),
                   fb_units_count(header->realloc_calls, n[2], sizeof n[2]));
    add_fact(columns, "operations", fb_units_count(calls, n[3], sizeof n[3]), more);
}

/* What a recording's program held; nothing for a workload. */
static void add_recorded(struct fb_columns *columns, const struct fb_workload *workload)
{
    char value[NUMBER_CHARS];
    struct fb_buf more;
    if (workload->replica == NULL || workload->replica->memories.count == 0)
        return;
    const struct fb_recorded recorded = fb_recorded_of(&workload->replica->memories);
    fb_buf_init(&more, FAULTS_CAP_BYTES);
    fb_recorded_beside(&recorded, &more);
    add_fact(columns, "peak recorded", fb_units_bytes(recorded.peak_bytes, value, sizeof value),
             more.text);
    fb_buf_deinit(&more);
}

static void print_facts(const struct fb_workload *workload, const struct fb_totals *totals)
{
    const struct fb_trace_header *header = &totals->header;
    char value[NUMBER_CHARS], touched[NUMBER_CHARS], more[256];
    struct fb_columns columns;
    fb_columns_init(&columns, "lrl");
    add_counts(&columns, header);
    add_fact(&columns, "bytes allocated",
             fb_units_bytes(header->allocated_bytes, value, sizeof value), "");
    (void)snprintf(more, sizeof more, "%s of it written",
                   fb_units_bytes(header->peak_touched_bytes, touched, sizeof touched));
    add_fact(&columns, "peak live", fb_units_bytes(header->peak_live_bytes, value, sizeof value),
             more);
    add_recorded(&columns, workload);
    add_fact(&columns, "end live", fb_units_bytes(header->end_live_bytes, value, sizeof value), "");
    add_fact(&columns, "trace", fb_units_bytes(totals->trace_bytes, value, sizeof value), "");
    add_fact(&columns, "virtual time", fb_units_time(header->duration_ns, value, sizeof value), "");
    fb_columns_print(&columns, "  ", stdout);
    fb_columns_deinit(&columns);
}

static void add_phase(struct fb_columns *columns, const struct fb_phase *phase, uint64_t iterations,
                      const struct fb_phase_totals *totals)
{
    char text[8][NUMBER_CHARS];
    fb_columns_add(
        columns,
        (const char *const[]){
            phase->name,
            phase->has_iterations ? fb_units_count(iterations, text[0], NUMBER_CHARS) : "-",
            fb_units_count(totals->alloc_calls, text[1], NUMBER_CHARS),
            fb_units_count(totals->free_calls, text[2], NUMBER_CHARS),
            fb_units_count(totals->realloc_calls, text[3], NUMBER_CHARS),
            fb_units_bytes(totals->allocated_bytes, text[4], NUMBER_CHARS),
            fb_units_bytes(totals->peak_live_bytes, text[5], NUMBER_CHARS),
            fb_units_bytes(totals->end_live_bytes, text[6], NUMBER_CHARS),
            fb_units_time(totals->duration_ns, text[7], NUMBER_CHARS),
        });
}

/* The rule of the compiler: rounded to the nearest, at least 1. */
static uint64_t scaled(uint64_t iterations, double scale)
{
    double product = (double)iterations * scale + 0.5;
    if (scale >= 1 && scale <= 1)
        return iterations;
    return product < 1 ? 1 : (uint64_t)product;
}

static void print_phases(const struct fb_plan_unit *unit)
{
    struct fb_columns columns;
    fb_columns_init(&columns, "lrrrrrrrr");
    fb_columns_add(&columns,
                   (const char *const[]){"phase", "iterations", "allocs", "frees", "reallocs",
                                         "allocated", "peak live", "end live", "time"});
    for (size_t i = 0; i < unit->workload->phase_count; i++) {
        const struct fb_phase *phase = &unit->workload->phases[i];
        add_phase(&columns, phase, scaled(phase->iterations, unit->scale),
                  &unit->totals[0].phases[i]);
    }
    fb_columns_print(&columns, "  ", stdout);
    fb_columns_deinit(&columns);
}

static void print_sites(const struct fb_workload *workload, const struct fb_sites_view *view)
{
    const struct fb_replica *replica = workload->replica;
    const struct fb_sites_view own = {workload->file, view->count, view->frames};
    if (replica != NULL && replica->sites.count > 0)
        fb_sites_print(replica->recording, &replica->sites, &own);
    else if (view->frames)
        fb_message_note("%s has no call sites; `fragbench record --sites` records them",
                        workload->file);
}

static void print_unit(const struct fb_plan_unit *unit, const struct fb_sites_view *sites)
{
    (void)printf("%s: %s%s\n", unit->workload->file, unit->workload->name, unit->suffix);
    print_facts(unit->workload, &unit->totals[0]);
    (void)putchar('\n');
    print_phases(unit);
    print_sites(unit->workload, sites);
}

/* No contender is known here, so a name that -a may give one is not a fault yet. */
static void note_limits(const struct fb_plan *plan)
{
    const struct fb_contenders none = {0};
    struct fb_error unknown = {0};
    struct fb_buf faults;
    fb_buf_init(&faults, FAULTS_CAP_BYTES);
    if (fb_limits_check(plan, &none, &faults, &unknown) != 0) {
        fb_message_text(faults.text);
        fb_message_note("run refuses this limit unless -a names a contender so");
    }
    fb_buf_deinit(&faults);
}

static int check(const struct check_options *options, struct fb_error *err)
{
    const struct fb_plan_request request = {options->workloads, options->workload_count,
                                            &options->params, 1, options->scale};
    struct fb_plan plan;
    struct fb_buf faults;
    fb_buf_init(&faults, FAULTS_CAP_BYTES);
    int status = fb_plan_load(&request, &plan, &faults, err);
    if (faults.length > 0)
        fb_message_text(faults.text);
    if (status == 0)
        status = fb_plan_count(&plan, ".", err);
    if (status == 0)
        note_limits(&plan);
    for (size_t i = 0; status == 0 && i < plan.count; i++) {
        if (i > 0)
            (void)putchar('\n');
        print_unit(&plan.units[i], &options->sites);
    }
    fb_plan_deinit(&plan);
    fb_buf_deinit(&faults);
    return status;
}

int cmd_check(int argc, char **argv)
{
    static const struct argp argp = {
        .options = shown,
        .parser = parse_option,
        .args_doc = "WORKLOAD...",
        .doc = "Parse and validate workloads; print what each would do, without running it.\v"
               "A WORKLOAD is a YAML file, or a name of `fragbench list workloads`.",
        .help_filter = fb_exit_help_filter,
    };
    struct check_options options = {.scale = 1, .sites.count = FB_SITES_SHOWN};
    struct fb_error err = {0};
    (void)argp_parse(&argp, argc, argv, 0, NULL, &options);
    if (check(&options, &err) != 0)
        fb_message_error(&err);
    free(options.workloads);
    fb_axes_deinit(&options.params);
    return fb_exit_code(fb_exit_of_error(&err), 0);
}
