#include "base/alloc.h"
#include "base/buf.h"
#include "commands/cells.h"
#include "commands/commands.h"
#include "commands/draw.h"
#include "commands/execute.h"
#include "commands/exit_code.h"
#include "commands/folder.h"
#include "commands/interrupt.h"
#include "commands/limits.h"
#include "commands/message.h"
#include "commands/shard.h"
#include "harness/host.h"
#include "harness/runner.h"
#include "report/gates.h"
#include "report/table.h"
#include "result/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEXT_CAP_BYTES ((size_t)1 << 28)
#define SKETCH_COLUMNS 80U /* narrower ones show nothing */
#define SKETCHES_MAX 3U    /* workloads; more would push the table off the screen */

static int load(struct fb_execution *run, struct fb_error *err)
{
    const struct fb_run_options *options = run->options;
    const struct fb_plan_request request = {options->workloads, options->workload_count,
                                            &options->params, options->seeds, options->scale};
    struct fb_buf faults;
    fb_buf_init(&faults, TEXT_CAP_BYTES);
    int status = fb_plan_load(&request, &run->plan, &faults, err);
    if (faults.length > 0)
        fb_message_text(faults.text);
    fb_buf_deinit(&faults);
    return status;
}

/* An allocator that purges from a thread of its own would sleep through the whole of a virtual run.
 */
static int check_clock(const struct fb_execution *run, struct fb_error *err)
{
    for (size_t i = 0; i < run->contenders.count; i++) {
        const struct fb_contender *contender = &run->contenders.items[i];
        if (run->options->clock == FB_CLOCK_VIRTUAL && contender->needs_real_clock)
            return fb_fail(err, FB_ERROR_INPUT,
                           "%s works from a thread of its own, which the virtual clock does not "
                           "move; add --clock real (a run then takes as long as its pauses say)",
                           contender->spec);
    }
    return 0;
}

/* A limit for an allocator that is not there would never be held against anything. */
static int check_limits(const struct fb_execution *run, struct fb_error *err)
{
    struct fb_buf faults;
    fb_buf_init(&faults, TEXT_CAP_BYTES);
    int status = fb_limits_check(&run->plan, &run->contenders, &faults, err);
    if (faults.length > 0)
        fb_message_text(faults.text);
    fb_buf_deinit(&faults);
    return status;
}

static int resolve(struct fb_execution *run, struct fb_error *err)
{
    static const char *const null_spec[] = {"null"};
    const struct fb_run_options *options = run->options;
    if (fb_contenders_resolve((const char *const *)options->allocators, options->allocator_count,
                              &run->contenders, err) != 0 ||
        fb_contenders_resolve(null_spec, 1, &run->null, err) != 0)
        return -1;
    if (check_clock(run, err) != 0 || fb_limits_check_given(options, &run->contenders, err) != 0)
        return -1;
    return check_limits(run, err);
}

static int prepare(struct fb_execution *run, struct fb_error *err)
{
    if (load(run, err) != 0 || resolve(run, err) != 0)
        return -1;
    fb_shard_mark(&run->options->shard, &run->plan, run->contenders.count);
    run->folder = fb_folder_choose(run->options, &run->plan);
    if (fb_plan_count(&run->plan, run->folder, err) != 0)
        return -1;
    fb_cells_build(&run->plan, &run->contenders, run->options, &run->result);
    return 0;
}

/* A job array may well have more jobs than there are cells. */
static void note_shard(const struct fb_result *result)
{
    const struct fb_shard *shard = &result->shard;
    if (shard->count > 1 && result->cell_count == 0)
        fb_message_note("shard %u/%u: none of the %zu cells is in it, nothing to run", shard->index,
                        shard->count, (size_t)shard->cells_total);
    else if (shard->count > 1)
        fb_message_note("shard %u/%u: %zu of %zu cells", shard->index, shard->count,
                        result->cell_count, (size_t)shard->cells_total);
}

static void print_ids(const struct fb_result *result)
{
    for (size_t i = 0; i < result->cell_count; i++)
        (void)printf("%s\n", result->cells[i].id);
}

void fb_execute_argv(struct fb_result *result, int argc, char **argv)
{
    result->argc = (size_t)argc + 1;
    result->argv = fb_alloc(result->argc, sizeof *result->argv);
    result->argv[0] = fb_strdup("fragbench");
    result->argv[1] = fb_strdup(strrchr(argv[0], ' ') + 1);
    for (int i = 1; i < argc; i++)
        result->argv[i + 1] = fb_strdup(argv[i]);
}

static int keep_workloads(const struct fb_execution *run, struct fb_error *err)
{
    for (size_t i = 0; i < run->plan.count; i++) {
        const struct fb_workload *workload = run->plan.units[i].workload;
        if (workload->text == NULL)
            continue; /* a recording has none */
        if (fb_store_keep_workload(run->folder, workload->name, workload->text,
                                   workload->text_bytes, err) != 0)
            return -1;
    }
    return 0;
}

/* Everything that can fail for want of a file fails here, before the first cell. */
int fb_execute_open(struct fb_execution *run, int argc, char **argv, struct fb_error *err)
{
    char worker[4096], clock_library[4096];
    struct fb_result *result = &run->result;
    if (fb_runner_locate(worker, clock_library, sizeof worker, err) != 0 ||
        fb_store_create(run->folder, run->options->force, err) != 0 ||
        keep_workloads(run, err) != 0)
        return -1;
    result->version = fb_strdup(FRAGBENCH_VERSION);
    result->started = fb_folder_now(false);
    fb_execute_argv(result, argc, argv);
    fb_host_read(&result->host);
    if (fb_execute_save(run, false, err) != 0)
        return -1;
    char *reason = run->options->output == NULL ? fb_folder_link_latest(run->folder) : NULL;
    if (reason != NULL)
        fb_message_note("%s", reason);
    free(reason);
    return 0;
}

static int execute(struct fb_execution *run, struct fb_error *err)
{
    fb_progress_init(&run->progress, run->options->progress, fb_execute_total(run));
    int status = 0;
    for (size_t unit = 0; status == 0 && unit < run->plan.count; unit++)
        status = fb_execute_unit(run, unit, err);
    fb_progress_end(&run->progress);
    return status;
}

int fb_execute_close(struct fb_execution *run, size_t expected, struct fb_error *err)
{
    for (size_t i = 0; i < run->result.cell_count; i++)
        fb_cells_close(&run->result.cells[i], expected);
    run->result.interrupted = fb_interrupt_signal() != 0;
    run->result.finished = fb_folder_now(false);
    return fb_execute_save(run, true, err);
}

static bool want_sketch(const struct fb_execution *run, unsigned columns)
{
    if (run->options->sketch != FB_WHEN_AUTO)
        return run->options->sketch == FB_WHEN_ALWAYS;
    return columns >= SKETCH_COLUMNS && run->plan.count <= SKETCHES_MAX;
}

/* The curves before the table, so that the verdict stays the last thing on the screen. A sketch
 * that cannot be drawn is no failure of the run. */
static void print_sketch(const struct fb_execution *run)
{
    unsigned columns = fb_progress_terminal_width(STDOUT_FILENO);
    struct fb_error err = {0};
    struct fb_buf text;
    if (!want_sketch(run, columns))
        return;
    if (fb_draw_sketch(run->folder, &run->result,
                       columns >= SKETCH_COLUMNS ? columns : SKETCH_COLUMNS, &text, &err) != 0) {
        fb_message_note("no sketch of the curves: %s", err.text);
        return;
    }
    if (text.length > 0)
        (void)printf("%s\n", text.text);
    fb_buf_deinit(&text);
}

static void draw_pictures(const struct fb_execution *run)
{
    struct fb_error err = {0};
    size_t count = 0;
    if (!run->options->plot)
        return;
    if (fb_draw_result(run->folder, &run->result, &count, &err) != 0)
        fb_message_note("not all pictures were drawn: %s", err.text);
    else if (count == 0)
        fb_message_note("no pictures: no cell has a curve");
    else
        fb_message_note("%zu picture%s in %s/plots", count, count == 1 ? " is" : "s are",
                        run->folder);
}

/* The table is the document, unless --export gave stdout to another one. */
void fb_execute_print(const struct fb_execution *run)
{
    const struct fb_export *export =
        fb_folder_stdout_export(run->options->exports, run->options->export_count);
    const struct fb_table_options table = {
        .color = export == NULL && fb_options_want_color(run->options->color),
        .width = export == NULL ? fb_progress_terminal_width(STDOUT_FILENO) : 0,
    };
    struct fb_buf text;
    if (export == NULL)
        print_sketch(run);
    fb_buf_init(&text, TEXT_CAP_BYTES);
    fb_table_render(&run->result, &table, &text);
    fb_gates_render(&run->findings, table.color, &text);
    if (export != NULL) {
        fb_message_text(text.text);
        fb_buf_deinit(&text);
        fb_buf_init(&text, TEXT_CAP_BYTES);
        const struct fb_document_set set = {"", run->folder, &run->result};
        const struct fb_document document = {&set, 1, false, &run->findings};
        export->render(&document, &text);
    }
    (void)fwrite(text.text, 1, text.length, stdout);
    fb_buf_deinit(&text);
    draw_pictures(run);
    fb_message_note("results are in %s", run->folder);
}

/* Returns what happened, for the exit code. */
static unsigned work(struct fb_execution *run, int argc, char **argv, struct fb_error *err)
{
    if (prepare(run, err) != 0)
        return 0;
    note_shard(&run->result);
    if (run->options->dry_run) {
        print_ids(&run->result);
        return 0;
    }
    if (fb_execute_open(run, argc, argv, err) != 0)
        return 0;
    if (execute(run, err) != 0) {
        fb_message_note("stopped; the runs before this are in %s", run->folder);
        return 0;
    }
    if (fb_execute_close(run, fb_execute_expected(run->options), err) != 0)
        return 0;
    fb_execute_print(run);
    return fb_exit_of_result(&run->result) | fb_exit_of_findings(&run->findings);
}

static void run_deinit(struct fb_execution *run)
{
    fb_plan_deinit(&run->plan);
    fb_contenders_deinit(&run->contenders);
    fb_contenders_deinit(&run->null);
    fb_findings_deinit(&run->findings);
    fb_result_deinit(&run->result);
    free(run->folder);
}

int cmd_run(int argc, char **argv)
{
    struct fb_run_options options;
    struct fb_error err = {0};
    fb_options_parse(argc, argv, &options);
    fb_interrupt_install();
    struct fb_execution run = {.options = &options};
    unsigned happened = work(&run, argc, argv, &err);
    if (err.kind != FB_ERROR_NONE)
        fb_message_error(&err);
    happened |= fb_exit_of_error(&err);
    int signal = fb_interrupt_signal();
    if (signal != 0)
        happened |= FB_HAPPENED_SIGNAL;
    run_deinit(&run);
    fb_options_deinit(&options);
    return fb_exit_code(happened, signal);
}
