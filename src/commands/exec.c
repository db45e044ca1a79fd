/* `exec`: a program of one's own under each allocator. */
#include "harness/exec/exec.h"
#include "base/alloc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/units.h"
#include "commands/cells.h"
#include "commands/commands.h"
#include "commands/exec_options.h"
#include "commands/execute.h"
#include "commands/exit_code.h"
#include "commands/folder.h"
#include "commands/interrupt.h"
#include "commands/limits.h"
#include "commands/message.h"
#include "metrics/program.h"
#include "result/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NS_PER_S UINT64_C(1000000000)
#define PLAIN_EVERY_NS (30 * NS_PER_S)
enum { LINE_CAP = 1024 };

struct state {
    const struct fb_exec_options *options;
    struct fb_execution run;
    struct fb_binaries binaries;
    struct fb_relink relink;
    char *program;      /* path */
    char *live_library; /* NULL: not counted */
    size_t started;     /* runs so far */
};

static const char *name_of(const struct fb_exec_options *options)
{
    if (options->name != NULL)
        return options->name;
    const char *slash = strrchr(options->command[0], '/');
    return slash != NULL ? slash + 1 : options->command[0];
}

/* The command as one line to read; words with blanks in single quotes. New string. */
static char *command_line(char *const *words)
{
    struct fb_buf line;
    fb_buf_init(&line, (size_t)1 << 20);
    for (size_t i = 0; words[i] != NULL; i++) {
        bool plain = words[i][0] != '\0' && strpbrk(words[i], " \t\n'\"\\$&|;<>()*?") == NULL;
        fb_buf_addf(&line, "%s%s%s%s", i > 0 ? " " : "", plain ? "" : "'", words[i],
                    plain ? "" : "'");
    }
    return line.text; /* the buffer's, now the caller's */
}

static int resolve(struct state *state, struct fb_error *err)
{
    const struct fb_run_options *options = &state->options->common;
    struct fb_contenders *contenders = &state->run.contenders;
    if (fb_contenders_resolve((const char *const *)options->allocators, options->allocator_count,
                              contenders, err) != 0 ||
        fb_limits_check_given(options, contenders, err) != 0 ||
        fb_exec_find(state->options->command[0], &state->program, err) != 0)
        return -1;
    for (size_t i = 0; i < contenders->count; i++) {
        const struct fb_backend *backend = contenders->items[i].backend;
        if (backend != NULL && (backend->flags & FB_BACKEND_NULL) != 0)
            return fb_fail(err, FB_ERROR_INPUT,
                           "-a null makes no allocator call, which only a replay can do; leave it "
                           "out");
    }
    fb_relink_find(state->program, environ, &state->binaries, &state->relink);
    return state->options->live ? fb_exec_live_library(&state->live_library, err) : 0;
}

/* What a person has to preload for libc's malloc to answer is that contender's library. */
static void describe_relinked(struct fb_cell *cell, const struct fb_contender *contender,
                              const struct fb_relink *relink)
{
    if (contender->path != NULL || relink->libc == NULL)
        return;
    free(cell->allocator.path);
    cell->allocator.path = fb_strdup(relink->libc);
}

static void build_cells(struct state *state)
{
    struct fb_result *result = &state->run.result;
    const struct fb_contenders *contenders = &state->run.contenders;
    const char *name = name_of(state->options);
    result->cell_count = contenders->count;
    result->cells = fb_alloc(result->cell_count, sizeof *result->cells);
    for (size_t i = 0; i < contenders->count; i++) {
        struct fb_cell *cell = &result->cells[i];
        cell->id = fb_format("%s/%s", name, contenders->items[i].label);
        cell->workload.name = fb_strdup(name);
        cell->workload.scale = 1;
        cell->workload.command = command_line(state->options->command);
        cell->workload.driver =
            state->options->driver != NULL ? fb_strdup(state->options->driver) : NULL;
        cell->clock = fb_strdup("real");
        cell->order = fb_strdup("free");
        cell->layout = fb_strdup("random");
        cell->thp = fb_strdup("");
        fb_cells_describe(cell, &contenders->items[i]);
        describe_relinked(cell, &contenders->items[i], &state->relink);
        fb_limits_fill(cell, state->options->common.limits, state->options->common.limit_count,
                       &contenders->items[i]);
    }
}

static size_t count_runs(const struct state *state)
{
    size_t runnable = 0;
    for (size_t i = 0; i < state->run.contenders.count; i++)
        runnable += fb_cells_runnable(&state->run.contenders.items[i]);
    return runnable * state->options->common.repeats;
}

/* "[2/6] jemalloc  work 12.3 s  RSS 341 MiB" */
static void show(void *user, const struct fb_exec_progress *progress)
{
    struct state *state = user;
    struct fb_progress *line = &state->run.progress;
    char footprint[32], live[32];
    if (line->style == FB_PROGRESS_NONE ||
        (line->style == FB_PROGRESS_PLAIN && fb_clock_now_ns() - line->printed_ns < PLAIN_EVERY_NS))
        return;
    struct fb_buf text;
    fb_buf_init(&text, LINE_CAP);
    fb_buf_addf(&text, "[%zu/%zu] %s  %s %.1f s  RSS %s", state->started, line->total,
                progress->request->contender->label, progress->phase, progress->elapsed_s,
                fb_units_bytes(progress->footprint_bytes, footprint, sizeof footprint));
    if (state->live_library != NULL)
        fb_buf_addf(&text, "  live %s", fb_units_bytes(progress->live_bytes, live, sizeof live));
    if (progress->processes > 1)
        fb_buf_addf(&text, "  %zu processes", progress->processes);
    if (line->style == FB_PROGRESS_REDRAW) {
        fb_message_line(text.text);
    } else {
        fb_message_note("%s", text.text);
        line->printed_ns = fb_clock_now_ns();
    }
    fb_buf_deinit(&text);
}

/* "logs/<cell>.<run>.log", relative to the result folder. New string. */
static char *log_name(const struct fb_cell *cell, unsigned index, const char *suffix)
{
    char *file = fb_cell_file_name(cell->id);
    char *name = fb_format("logs/%s.%u%s.log", file, index, suffix);
    free(file);
    return name;
}

static void take(struct state *state, size_t contender, struct fb_repetition *repetition, char *log,
                 struct fb_repetition **place)
{
    struct fb_run_outcome outcome = {.repetition = *repetition, .clock_proven = true};
    outcome.repetition.log_file = log;
    *place = fb_cells_take(&state->run.result.cells[contender],
                           &state->run.contenders.items[contender], &outcome);
}

static int run_one(struct state *state, size_t contender, unsigned index, struct fb_error *err)
{
    const struct fb_exec_options *options = state->options;
    struct fb_cell *cell = &state->run.result.cells[contender];
    char *log = log_name(cell, index, ""), *driver_log = log_name(cell, index, ".driver");
    char *log_path = fb_format("%s/%s", state->run.folder, log);
    char *driver_path = fb_format("%s/%s", state->run.folder, driver_log);
    struct fb_exec_request request = {
        .program = state->program,
        .argv = options->command,
        .name = cell->workload.name,
        .environment = environ,
        .contender = &state->run.contenders.items[contender],
        .relink = &state->relink,
        .live_library = state->live_library,
        .ready_port = options->ready_port,
        .ready_line = options->ready_text != NULL ? &options->ready_line : NULL,
        .ready_text = options->ready_text,
        .driver = options->driver,
        .settle_ns = options->settle_ns,
        .grace_ns = options->grace_ns,
        .timeout_ns = options->common.timeout_ns,
        .interval_ns = options->common.interval_ns,
        .log_file = log_path,
        .driver_log_file = driver_path,
        .objects = &state->binaries,
        .index = index,
    };
    const struct fb_exec_hooks hooks = {show, state, fb_interrupt_stop()};
    struct fb_repetition repetition, *place = NULL;
    state->started++;
    int status = fb_execute_memory_limit(&options->common, 1, &request.memory_limit_bytes, err);
    if (status == 0)
        status = fb_exec_run(&request, &hooks, &repetition, err);
    if (status == 0) {
        take(state, contender, &repetition, log, &place);
        log = NULL;
        fb_measure_program(place, state->live_library != NULL);
        status = fb_execute_record(&state->run, cell, place, err);
    }
    free(log);
    free(driver_log);
    free(log_path);
    free(driver_path);
    return status;
}

/* Contenders run fastest: what disturbs the machine for a while disturbs all alike. */
static int run_all(struct state *state, struct fb_error *err)
{
    int status = 0;
    fb_progress_init(&state->run.progress, state->options->common.progress, count_runs(state));
    for (unsigned i = 0; i < state->options->common.repeats && status == 0; i++)
        for (size_t c = 0; c < state->run.contenders.count && status == 0; c++)
            if (fb_cells_runnable(&state->run.contenders.items[c]) && fb_interrupt_signal() == 0)
                status = run_one(state, c, i, err);
    fb_progress_end(&state->run.progress);
    return status;
}

static unsigned work(struct state *state, int argc, char **argv, struct fb_error *err)
{
    struct fb_execution *run = &state->run;
    if (resolve(state, err) != 0)
        return 0;
    build_cells(state);
    if (run->options->dry_run) {
        for (size_t i = 0; i < run->result.cell_count; i++)
            (void)printf("%s\n", run->result.cells[i].id);
        return 0;
    }
    run->folder = fb_folder_choose_named(run->options, name_of(state->options));
    if (fb_execute_open(run, argc, argv, err) != 0 ||
        fb_store_make_folder(run->folder, "logs", err) != 0)
        return 0;
    if (run_all(state, err) != 0) {
        fb_message_note("stopped; the runs before this are in %s", run->folder);
        return 0;
    }
    if (fb_execute_close(run, run->options->repeats, err) != 0)
        return 0;
    fb_execute_print(run);
    return fb_exit_of_result(&run->result) | fb_exit_of_findings(&run->findings);
}

int cmd_exec(int argc, char **argv)
{
    struct fb_exec_options options;
    struct fb_error err = {0};
    fb_exec_options_parse(argc, argv, &options);
    fb_interrupt_install();
    struct state state = {.options = &options, .run = {.options = &options.common}};
    unsigned happened = work(&state, argc, argv, &err);
    if (err.kind != FB_ERROR_NONE)
        fb_message_error(&err);
    happened |= fb_exit_of_error(&err);
    int signal = fb_interrupt_signal();
    if (signal != 0)
        happened |= FB_HAPPENED_SIGNAL;
    fb_contenders_deinit(&state.run.contenders);
    fb_result_deinit(&state.run.result);
    fb_findings_deinit(&state.run.findings);
    fb_binaries_deinit(&state.binaries);
    fb_relink_deinit(&state.relink);
    free(state.run.folder);
    free(state.program);
    free(state.live_library);
    fb_exec_options_deinit(&options);
    return fb_exit_code(happened, signal);
}
