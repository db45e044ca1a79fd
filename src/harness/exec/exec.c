#include "harness/exec/exec.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/units.h"
#include "harness/environment.h"
#include "harness/exec/environ.h"
#include "harness/exec/session.h"
#include "harness/proc.h"
#include "harness/run.h"
#include "trace/shared.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S UINT64_C(1000000000)
#define PROGRESS_EVERY_NS UINT64_C(100000000)
/* A program of a few ms would be gone before the first tick: at first it is looked at each ms. */
#define EARLY_NS UINT64_C(50000000)
enum { EARLY_TICK_MS = 1 };

static int make_log(const char *path, int *fd, struct fb_error *err)
{
    *fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
    return *fd >= 0 ? 0 : fb_fail_errno(err, "cannot make the log %s", path);
}

/* A file on stdin is read anew by every run; a terminal or a pipe can be read only once, so by
 * none.
 */
static int open_input(void)
{
    struct stat status;
    if (fstat(STDIN_FILENO, &status) == 0 && S_ISREG(status.st_mode)) {
        int fd = open("/proc/self/fd/0", O_RDONLY | O_CLOEXEC);
        if (fd >= 0)
            return fd;
    }
    return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static int start_program(struct fb_session *session, int input, struct fb_error *err)
{
    const struct fb_exec_request *request = session->request;
    const struct fb_keeper_command command = {.program = request->program,
                                              .argv = request->argv,
                                              .environment = session->environment,
                                              .input_fd = input,
                                              .output_fd = session->log_fd};
    session->oom_known = fb_proc_oom_kills(&session->oom_kills, NULL) == 0;
    if (fb_keeper_start(&session->keeper, &command, err) != 0)
        return -1;
    session->started_ns = fb_clock_now_ns();
    session->work_from_ns = session->started_ns;
    fb_family_init(&session->family, session->keeper.pid);
    return 0;
}

static int start_timer(struct fb_session *session, struct fb_error *err)
{
    uint64_t every = session->request->interval_ns, first = session->started_ns + every;
    const struct itimerspec when = {
        .it_interval = {(time_t)(every / NS_PER_S), (long)(every % NS_PER_S)},
        .it_value = {(time_t)(first / NS_PER_S), (long)(first % NS_PER_S)}};
    session->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    if (session->timer_fd < 0 ||
        timerfd_settime(session->timer_fd, TFD_TIMER_ABSTIME, &when, NULL) != 0)
        return fb_fail_errno(err, "cannot make a timer");
    return 0;
}

static bool has_condition(const struct fb_exec_request *request)
{
    return request->ready_port != 0 || request->ready_line != NULL;
}

static void name_phases(struct fb_session *session)
{
    if (has_condition(session->request))
        session->phase_names[session->phase_count++] = "start";
    session->phase_names[session->phase_count++] = "work";
    if (session->request->settle_ns > 0)
        session->phase_names[session->phase_count++] = "idle";
}

/* --- the loop ------------------------------------------------------------------------------- */

static void watch_timeout(struct fb_session *session)
{
    uint64_t limit = session->request->timeout_ns;
    bool working = session->stage == FB_FATE_STARTING || session->stage == FB_FATE_WORKING;
    char text[64];
    if (limit == 0 || !working || fb_clock_now_ns() - session->started_ns <= limit)
        return;
    fb_session_stop(session, FB_STATUS_TIMEOUT,
                    fb_format("%s after %s (--timeout)",
                              session->stage == FB_FATE_STARTING ? "not ready" : "not done",
                              fb_units_time(limit, text, sizeof text)));
}

static void show_progress(const struct fb_session *session, const struct fb_exec_hooks *hooks,
                          uint64_t *next_ns)
{
    uint64_t now_ns = fb_clock_now_ns();
    if (hooks->progress == NULL || now_ns < *next_ns || session->point_count == 0)
        return;
    *next_ns = now_ns + PROGRESS_EVERY_NS;
    const struct fb_point *last = &session->points[session->point_count - 1];
    const struct fb_exec_progress progress = {
        .request = session->request,
        .phase = session->phase_names[session->phase],
        .footprint_bytes = last->footprint_bytes,
        .live_bytes = last->live_bytes,
        .processes = fb_family_alive(&session->family),
        .elapsed_s = (double)(now_ns - session->started_ns) / 1e9,
    };
    hooks->progress(hooks->user, &progress);
}

/* Whether the timer has gone off; counts what was slept through. */
static bool take_tick(struct fb_session *session)
{
    uint64_t ticks;
    if (read(session->timer_fd, &ticks, sizeof ticks) != (ssize_t)sizeof ticks)
        return false;
    session->missed_ticks += ticks - 1;
    return true;
}

static bool is_early(const struct fb_session *session)
{
    return !session->leader_proven && fb_clock_now_ns() - session->started_ns < EARLY_NS;
}

static int wait_for_events(struct fb_session *session, bool early, struct fb_error *err)
{
    struct pollfd polled[] = {{.fd = session->timer_fd, .events = POLLIN},
                              {.fd = session->keeper.channel, .events = POLLIN},
                              {.fd = session->driver.channel, .events = POLLIN}};
    int timeout = early ? EARLY_TICK_MS : -1;
    if (poll(polled, sizeof polled / sizeof polled[0], timeout) < 0 && errno != EINTR)
        return fb_fail_errno(err, "cannot wait for the program");
    return 0;
}

static int run_to_end(struct fb_session *session, const struct fb_exec_hooks *hooks,
                      struct fb_error *err)
{
    uint64_t next_progress_ns = 0;
    while (!session->over) {
        bool early = is_early(session);
        if (wait_for_events(session, early, err) != 0)
            return -1;
        fb_keeper_listen(&session->keeper);
        if (session->driving)
            fb_keeper_listen(&session->driver);
        bool tick = take_tick(session);
        if (tick || early) {
            fb_session_sample(session, FB_SAMPLE_TIME);
            fb_session_look(session, false);
        }
        if (hooks->stop != NULL && *hooks->stop != 0)
            fb_session_stop(session, FB_STATUS_INTERRUPTED, fb_strdup("stopped by a signal"));
        watch_timeout(session);
        fb_session_step(session);
        show_progress(session, hooks, &next_progress_ns);
        if (session->keeper.done && !session->over)
            fb_session_stop(session, FB_STATUS_CRASHED,
                            fb_strdup("the keeper was killed, and the program with it"));
    }
    return 0;
}

/* --- the whole run -------------------------------------------------------------------------- */

void fb_session_note(struct fb_session *session, char *text)
{
    for (size_t i = 0; i < session->note_count; i++) {
        if (strcmp(session->notes[i], text) != 0)
            continue;
        free(text);
        return;
    }
    session->notes = fb_realloc(session->notes, session->note_count + 1, sizeof(char *));
    session->notes[session->note_count++] = text;
}

void fb_session_stop(struct fb_session *session, enum fb_status verdict, char *detail)
{
    session->over = true;
    if (session->stopped_by_us) {
        free(detail);
        return;
    }
    session->stopped_by_us = true;
    session->verdict = verdict;
    session->verdict_detail = detail;
}

static int prepare(struct fb_session *session, struct fb_error *err)
{
    const struct fb_exec_request *request = session->request;
    bool relinks = request->contender->path == NULL && request->relink->libc != NULL;
    if (make_log(request->log_file, &session->log_fd, err) != 0 ||
        (request->driver != NULL &&
         make_log(request->driver_log_file, &session->driver_log_fd, err) != 0) ||
        (request->live_library != NULL && fb_live_open(&session->live, err) != 0))
        return -1;
    if (relinks)
        fb_session_note(
            session, fb_format("%s is linked to %s; %s was preloaded, so that libc's malloc "
                               "answers",
                               request->name, request->relink->linked_to, request->relink->libc));
    const struct fb_environ_additions additions = {.contender = request->contender,
                                                   .libc = relinks ? request->relink->libc : NULL,
                                                   .live_library = request->live_library,
                                                   .live_block = session->live.path};
    session->environment = fb_environ_new(request->environment, &additions);
    session->ready_log.fd = session->log_fd;
    name_phases(session);
    return 0;
}

static void release(struct fb_session *session)
{
    int *const descriptors[] = {&session->log_fd, &session->driver_log_fd, &session->timer_fd};
    for (size_t i = 0; i < sizeof descriptors / sizeof descriptors[0]; i++)
        if (*descriptors[i] >= 0)
            (void)close(*descriptors[i]);
    fb_live_close(&session->live);
    fb_family_deinit(&session->family);
    if (session->environment != NULL)
        fb_environment_free(session->environment);
    for (size_t i = 0; i < session->program_count; i++) {
        free(session->programs[i].name);
        free(session->programs[i].answered_by);
        free(session->programs[i].why);
    }
    free(session->programs);
    for (size_t i = 0; i < session->note_count; i++)
        free(session->notes[i]);
    free(session->notes);
    for (size_t i = 0; i < session->phase_ended; i++)
        free(session->phases[i].name);
    free(session->phases);
    free(session->points);
    free(session->checkpoints);
    free(session->verdict_detail);
}

/* What speaks against a run before one is spent on it; true: the repetition is filled in. */
static bool foresee(struct fb_session *session, struct fb_repetition *out)
{
    const struct fb_exec_request *request = session->request;
    const struct fb_answer_question question = {
        .objects = request->objects, .contender = request->contender, .program = request->name};
    struct fb_exec_answer answer;
    fb_answer_foresee(request->program, &question, &answer);
    for (size_t i = 0; i < answer.note_count; i++)
        fb_session_note(session, fb_strdup(answer.notes[i]));
    bool refused = answer.kind == FB_ANSWER_OTHER;
    if (refused) {
        fb_repetition_init(out);
        out->index = request->index;
        out->status = FB_STATUS_NOT_PRELOADED;
        out->status_detail = fb_strdup(answer.why);
    }
    fb_answer_deinit(&answer);
    return refused;
}

static int execute(struct fb_session *session, const struct fb_exec_hooks *hooks,
                   struct fb_error *err)
{
    int input = open_input();
    int result = start_program(session, input, err);
    if (input >= 0)
        (void)close(input);
    if (result != 0)
        return -1;
    result = start_timer(session, err);
    if (result == 0 && !has_condition(session->request))
        fb_session_begin_work(session);
    if (result == 0)
        result = run_to_end(session, hooks, err);
    session->ended_ns = fb_clock_now_ns();
    session->driver_ended = session->driving && session->driver.leader_ended;
    if (session->driving)
        fb_keeper_finish(&session->driver);
    fb_keeper_finish(&session->keeper);
    return result;
}

int fb_exec_run(const struct fb_exec_request *request, const struct fb_exec_hooks *hooks,
                struct fb_repetition *out, struct fb_error *err)
{
    struct fb_session session = {.request = request,
                                 .keeper = {.channel = -1},
                                 .driver = {.channel = -1},
                                 .live = {.fd = -1},
                                 .log_fd = -1,
                                 .driver_log_fd = -1,
                                 .timer_fd = -1};
    int result = 0;
    if (!foresee(&session, out)) {
        result = prepare(&session, err);
        if (result == 0)
            result = execute(&session, hooks, err);
        if (result == 0)
            fb_session_collect(&session, out);
    }
    release(&session);
    return result;
}
