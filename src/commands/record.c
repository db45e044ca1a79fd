#include "base/alloc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/units.h"
#include "commands/columns.h"
#include "commands/commands.h"
#include "commands/exit_code.h"
#include "commands/interrupt.h"
#include "commands/message.h"
#include "commands/record_options.h"
#include "commands/record_workload.h"
#include "commands/recorded.h"
#include "commands/sites.h"
#include "harness/launch.h"
#include "harness/spool.h"
#include "report/recorded.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NUMBER_CHARS 48
#define TEXT_CAP_BYTES ((size_t)4096)
#define POLL_LEAST_NS 1000000L
#define POLL_MOST_NS 20000000L

struct session {
    const struct fb_record_options *options;
    struct fb_contenders contenders;
    struct fb_spool spool;
    pid_t leader;
    int leader_status; /* of waitpid */
    bool leader_ended, all_ended;
    bool broken; /* a recording could not be written; err says which */
    int forwarded;
    bool told_waiting;
    uint64_t begin_ns;
};

/* NULL: what the program has by itself. */
static int resolve(struct session *session, const struct fb_contender **contender,
                   struct fb_error *err)
{
    const char *spec = session->options->allocator;
    *contender = NULL;
    if (spec == NULL)
        return 0;
    if (fb_contenders_resolve(&spec, 1, &session->contenders, err) != 0)
        return -1;
    const struct fb_contender *only = &session->contenders.items[0];
    if (session->contenders.count != 1)
        return fb_fail(err, FB_ERROR_INPUT, "-a %s: a program is recorded under one allocator",
                       spec);
    if (only->backend != NULL && (only->backend->flags & FB_BACKEND_NULL) != 0)
        return fb_fail(err, FB_ERROR_INPUT, "-a null: a program needs an allocator");
    if (!only->available)
        return fb_fail(err, FB_ERROR_NOTHING, "-a %s: %s", spec, only->unavailable);
    if (only->rejected != NULL)
        return fb_fail(err, FB_ERROR_INPUT, "-a %s: %s", spec, only->rejected);
    *contender = only;
    return 0;
}

static void reap(struct session *session)
{
    int status = 0;
    pid_t pid = 0;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        if (pid != session->leader)
            continue;
        session->leader_ended = true;
        session->leader_status = status;
    }
    session->all_ended = pid < 0 && errno == ECHILD;
}

/* A Ctrl-C at the terminal reaches the program by itself. */
static bool came_from_terminal(int signal)
{
    for (int fd = 0; fd <= 2 && signal == SIGINT; fd++)
        if (isatty(fd) && tcgetpgrp(fd) == getpgrp())
            return true;
    return false;
}

/* Whether the recording is to end now: its time is over, or a signal came after the program's end;
 * before, the signal is the program's. */
static bool must_end(struct session *session)
{
    int signal = fb_interrupt_signal();
    if (session->options->for_ns > 0 &&
        fb_clock_now_ns() - session->begin_ns >= session->options->for_ns)
        return true;
    if (signal == 0 || session->forwarded == signal)
        return signal != 0 && session->leader_ended;
    session->forwarded = signal;
    if (!session->leader_ended && !came_from_terminal(signal))
        (void)kill(session->leader, signal);
    return session->leader_ended;
}

static void tell_waiting(struct session *session)
{
    if (session->told_waiting || !session->leader_ended || session->all_ended)
        return;
    session->told_waiting = true;
    fb_message_note("the program has ended, processes that it started go on and are recorded; "
                    "Ctrl-C ends the recording and leaves them running");
}

static void pause_for(long *ns, bool progress)
{
    *ns = progress ? POLL_LEAST_NS : *ns * 2 < POLL_MOST_NS ? *ns * 2 : POLL_MOST_NS;
    (void)nanosleep(&(struct timespec){.tv_nsec = *ns}, NULL);
}

/* Until every process has ended, or the recording must. A failed write ends the recordings; the
 * program is waited for all the same. */
static bool watch(struct session *session, struct fb_error *err)
{
    long pause_ns = POLL_LEAST_NS;
    while (!session->all_ended) {
        bool progress = false;
        if (fb_spool_poll(&session->spool, &progress, err) != 0 && !session->broken) {
            session->broken = true;
            fb_message_note("recording stopped, the program goes on: %s", err->text);
        }
        reap(session);
        if (must_end(session))
            return true;
        if (!progress)
            tell_waiting(session);
        pause_for(&pause_ns, progress);
    }
    return false;
}

/* Says how the program ended, where that was not well. */
static void tell_end(const struct session *session)
{
    const char *name = session->options->command[0];
    int status = session->leader_status;
    if (!session->leader_ended)
        fb_message_note("%s goes on, without being recorded", name);
    else if (WIFSIGNALED(status))
        fb_message_note("%s was ended by signal %d (%s); what it did before is recorded", name,
                        WTERMSIG(status), strsignal(WTERMSIG(status)));
    else if (WEXITSTATUS(status) != 0)
        fb_message_note("%s exited with %d", name, WEXITSTATUS(status));
}

/* A recording as its reader sees it: what is shown is what is in the file. */
struct facts {
    uint64_t calls, objects, peak_bytes, duration_ns;
    uint32_t threads;
    struct fb_recording_totals totals;
    struct fb_recording_memories memories;
};

static int read_facts(const char *path, struct facts *facts, struct fb_error *err)
{
    struct fb_recording *recording = NULL;
    struct fb_recording_event event;
    uint64_t live = 0;
    int more = 0;
    if (fb_recording_open(&recording, path, err) != 0)
        return -1;
    *facts = (struct facts){0};
    (void)fb_recording_complete(recording, &facts->totals);
    while ((more = fb_recording_next(recording, &event, err)) > 0) {
        facts->duration_ns = event.time_ns;
        if (event.thread >= facts->threads)
            facts->threads = event.thread + 1;
        if (event.kind == FB_RECORDING_EXIT || event.kind == FB_RECORDING_SHARE)
            continue;
        facts->calls++;
        facts->objects += event.kind < FB_RECORDING_REALLOC;
        live += fb_recording_change(&event);
        if (live > facts->peak_bytes)
            facts->peak_bytes = live;
    }
    fb_recording_memories(recording, &facts->memories);
    fb_recording_close(recording);
    return more;
}

static int add_row(struct fb_columns *columns, const struct fb_spool_image *image,
                   struct facts *facts, struct fb_error *err)
{
    char text[8][NUMBER_CHARS], each[NUMBER_CHARS];
    if (read_facts(image->path, facts, err) != 0)
        return -1;
    (void)snprintf(each, sizeof each, "%.2f",
                   facts->calls > 0 ? (double)image->bytes / (double)facts->calls : 0.0);
    const struct fb_recorded recorded = fb_recorded_of(&facts->memories);
    bool measured = recorded.peak_bytes > 0;
    fb_columns_add(
        columns,
        (const char *const[]){
            image->path, image->program, image->allocator,
            fb_units_count(facts->calls, text[0], NUMBER_CHARS),
            fb_units_count(facts->threads, text[1], NUMBER_CHARS),
            fb_units_bytes(facts->peak_bytes, text[2], NUMBER_CHARS),
            measured ? fb_units_bytes(recorded.peak_bytes, text[6], NUMBER_CHARS) : "n/a",
            measured ? fb_units_bytes(fb_recorded_beside_bytes(&recorded), text[7], NUMBER_CHARS)
                     : "n/a",
            fb_units_time(facts->duration_ns, text[3], NUMBER_CHARS),
            fb_units_bytes(image->bytes, text[4], NUMBER_CHARS), each});
    return 0;
}

static void tell_gaps(const struct fb_spool_image *image, const struct facts *facts)
{
    static const char *const reasons[FB_RECORDING_REASON_COUNT] = {
        [FB_RECORDING_LIMIT] = "it reached --limit",
        [FB_RECORDING_TIME_OVER] = "--for was over",
        [FB_RECORDING_STOPPED] = "recording was stopped",
        [FB_RECORDING_NO_ROOM] = "the recorder had no more room, or its buffers were overwritten",
    };
    char count[NUMBER_CHARS];
    const char *reason = reasons[facts->totals.reason];
    if (reason != NULL)
        fb_message_note("%s ends before its program: %s", image->path, reason);
    if (facts->totals.foreign_frees > 0)
        fb_message_note("%s: %s frees of blocks from before the recording are left out",
                        image->path,
                        fb_units_count(facts->totals.foreign_frees, count, sizeof count));
    if (facts->totals.missed_frees > 0)
        fb_message_note("%s: %s frees were not seen, they are taken to be where the address came "
                        "again",
                        image->path,
                        fb_units_count(facts->totals.missed_frees, count, sizeof count));
}

/* What a replay of it will not have. */
static void tell_beside(const struct fb_spool_image *image, const struct facts *facts)
{
    const struct fb_recorded recorded = fb_recorded_of(&facts->memories);
    struct fb_buf text;
    if (recorded.peak_bytes == 0)
        return;
    fb_buf_init(&text, TEXT_CAP_BYTES);
    fb_recorded_beside(&recorded, &text);
    fb_message_note("%s: at its peak %s", image->path, text.text);
    fb_buf_deinit(&text);
}

static int describe(const struct session *session, struct fb_error *err)
{
    struct fb_columns columns;
    struct facts *facts = fb_alloc(session->spool.image_count, sizeof *facts);
    int status = 0;
    fb_columns_init(&columns, "lllrrrrrrrr");
    fb_columns_add(&columns, (const char *const[]){"recording", "program", "allocator", "calls",
                                                   "threads", "peak live", "peak RSS",
                                                   "beside heap", "time", "size", "bytes/call"});
    for (size_t i = 0; i < session->spool.image_count && status == 0; i++)
        status = add_row(&columns, session->spool.images[i], &facts[i], err);
    if (status == 0)
        fb_columns_print(&columns, "", stdout);
    for (size_t i = 0; i < session->spool.image_count && status == 0; i++) {
        tell_beside(session->spool.images[i], &facts[i]);
        tell_gaps(session->spool.images[i], &facts[i]);
    }
    fb_columns_deinit(&columns);
    free(facts);
    return status;
}

/* Of the recording that has the name asked for. */
static int show_sites(const struct session *session, struct fb_error *err)
{
    const char *file = session->spool.images[0]->path;
    const struct fb_sites_view view = {.file = file, .count = FB_SITES_SHOWN};
    struct fb_recording *recording = NULL;
    if (fb_recording_open(&recording, file, err) != 0)
        return -1;
    struct fb_site_uses uses;
    int status = fb_site_uses(recording, &uses, err);
    if (status == 0) {
        fb_sites_print(recording, &uses, &view);
        fb_site_uses_deinit(&uses);
    }
    fb_recording_close(recording);
    return status;
}

static void tell_held(const struct session *session)
{
    char held[NUMBER_CHARS], rate[NUMBER_CHARS];
    if (session->spool.held_ns > 0)
        fb_message_note("--rate: for %s nothing was written, to stay below %s a second; with its "
                        "buffers full the program waited",
                        fb_units_time(session->spool.held_ns, held, sizeof held),
                        fb_units_bytes(session->options->rate_bytes, rate, sizeof rate));
}

static int fail_unrecorded(const struct session *session, struct fb_error *err)
{
    return fb_fail(err, FB_ERROR_NOTHING,
                   "\"%s\" recorded nothing: it may be static or setuid, clear its environment, or "
                   "have an allocator of its own (`file` tells, or try `fragbench record -- "
                   "env LD_DEBUG=libs ...`)",
                   session->options->command[0]);
}

static int finish(struct session *session, bool cut, struct fb_error *err)
{
    enum fb_recording_reason reason =
        fb_interrupt_signal() != 0 ? FB_RECORDING_STOPPED : FB_RECORDING_TIME_OVER;
    struct fb_error first = {0};
    int status = fb_spool_finish(&session->spool, !cut, reason, &first);
    if (status != 0 && !session->broken)
        *err = first;
    tell_end(session);
    if (session->spool.image_count == 0)
        return fail_unrecorded(session, err);
    if (session->spool.dropped > 0)
        fb_message_note("%zu recording%s of small processes not kept; --all keeps them",
                        session->spool.dropped, session->spool.dropped == 1 ? "" : "s");
    tell_held(session);
    if ((describe(session, &first) != 0 || show_sites(session, &first) != 0) &&
        err->kind == FB_ERROR_NONE)
        *err = first;
    if (err->kind == FB_ERROR_NONE && session->options->workload != NULL)
        return fb_record_workload(session->spool.images[0]->path, session->options->workload, err);
    return err->kind == FB_ERROR_NONE ? 0 : -1;
}

static int record(struct session *session, struct fb_error *err)
{
    const struct fb_record_options *options = session->options;
    const struct fb_spool_options spool = {.folder = options->spool,
                                           .output = options->output,
                                           .force = options->force,
                                           .keep_small = options->all,
                                           .limit_bytes = options->limit_bytes,
                                           .rate_bytes = options->rate_bytes};
    struct fb_launch launch = {.argv = options->command};
    if (resolve(session, &launch.contender, err) != 0 ||
        fb_spool_open(&spool, &session->spool, err) != 0)
        return -1;
    launch.site_frames = options->site_frames;
    launch.fresh_pages = options->fresh_pages;
    launch.spool_folder = session->spool.folder;
    session->begin_ns = fb_clock_now_ns();
    if (fb_launch(&launch, &session->leader, err) != 0)
        return -1;
    bool cut = watch(session, err);
    return finish(session, cut, err);
}

int cmd_record(int argc, char **argv)
{
    struct fb_record_options options;
    struct fb_error err = {0};
    fb_record_options_parse(argc, argv, &options);
    fb_interrupt_install();
    struct session session = {.options = &options, .spool = {.alive_fd = -1}};
    int status = 0;
    if (options.workload != NULL)
        status = fb_record_workload_check(options.workload, options.force, &err);
    if (status == 0)
        status = options.from != NULL ? fb_record_workload(options.from, options.workload, &err)
                                      : record(&session, &err);
    if (status != 0 && err.kind != FB_ERROR_NONE)
        fb_message_error(&err);
    fb_spool_deinit(&session.spool);
    fb_contenders_deinit(&session.contenders);
    return fb_exit_code(fb_exit_of_error(&err), 0);
}
