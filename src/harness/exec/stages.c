/* From one stage of a run to the next: ready, work, idle, stop. */
#include "harness/exec/session.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "harness/environment.h"
#include "harness/exec/environ.h"
#include "harness/run.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

/* The driver runs in the person's environment as it is, being no part of what is measured, and is
 * told the program's number. */
static void start_driver(struct fb_session *session)
{
    const struct fb_exec_request *request = session->request;
    char shell[] = "/bin/sh", flag[] = "-c", *text = fb_strdup(request->driver);
    char **environment = fb_environ_with_pid(request->environment, session->keeper.leader);
    char *const argv[] = {shell, flag, text, NULL};
    struct fb_error err = {0};
    int input = open("/dev/null", O_RDONLY | O_CLOEXEC);
    const struct fb_keeper_command command = {.program = shell,
                                              .argv = argv,
                                              .environment = environment,
                                              .input_fd = input,
                                              .output_fd = session->driver_log_fd};
    session->driving = fb_keeper_start(&session->driver, &command, &err) == 0;
    if (!session->driving)
        fb_session_stop(session, FB_STATUS_CRASHED, fb_format("the driver: %s", err.text));
    if (input >= 0)
        (void)close(input);
    fb_environment_free(environment);
    free(text);
}

void fb_session_begin_work(struct fb_session *session)
{
    session->stage = FB_FATE_WORKING;
    session->work_from_ns = fb_clock_now_ns();
    if (session->request->driver != NULL)
        start_driver(session);
}

static void become_ready(struct fb_session *session)
{
    fb_session_look(session, true);
    fb_session_checkpoint(session, "start");
    fb_session_checkpoint(session, "phase_end");
    session->phase++;
    fb_session_begin_work(session);
}

static bool is_ready(struct fb_session *session)
{
    const struct fb_exec_request *request = session->request;
    bool stranger = false;
    if (request->ready_line != NULL && fb_ready_line(&session->ready_log, request->ready_line))
        return true;
    if (request->ready_port == 0)
        return false;
    if (fb_ready_port(&session->family, request->ready_port, &stranger))
        return true;
    if (stranger)
        fb_session_stop(session, FB_STATUS_CRASHED,
                        fb_format("port %u is taken: a process that is not %s listens there; end "
                                  "it, or use another port",
                                  request->ready_port, request->name));
    return false;
}

static void begin_stop(struct fb_session *session)
{
    session->stage = FB_FATE_STOPPING;
    session->deadline_ns = fb_clock_now_ns() + session->request->grace_ns;
    if (session->keeper.leader_ended)
        fb_keeper_signal_all(&session->keeper, SIGTERM); /* daemons: their starter has gone */
    else
        fb_keeper_signal(&session->keeper, SIGTERM);
}

/* A daemon may have appeared since the last scan, which its starter's end does not wait for. */
static bool all_gone(struct fb_session *session)
{
    if (!session->keeper.leader_ended)
        return false;
    fb_family_scan(&session->family, fb_clock_now_ns(), true);
    return fb_family_alive(&session->family) == 0;
}

static void close_phase(struct fb_session *session)
{
    fb_session_look(session, true);
    fb_session_checkpoint(session, "phase_end");
}

static void end_work(struct fb_session *session)
{
    session->work_to_ns = fb_clock_now_ns();
    close_phase(session);
    if (session->keeper.leader_ended && session->request->driver == NULL) {
        session->outlived = fb_family_alive(&session->family);
        session->over = true;
    } else if (session->request->settle_ns > 0) {
        session->phase++;
        session->stage = FB_FATE_SETTLING;
        session->deadline_ns = session->work_to_ns + session->request->settle_ns;
    } else {
        begin_stop(session);
    }
}

static void step_starting(struct fb_session *session)
{
    if (is_ready(session))
        become_ready(session);
    else if (all_gone(session))
        session->over = true;
}

/* The program has ended while its driver goes on, as when its last command is a shutdown. */
static void end_under_driver(struct fb_session *session)
{
    session->work_to_ns = fb_clock_now_ns();
    close_phase(session);
    fb_session_note(session, fb_format("%s ended before its driver did, which was then ended",
                                       session->request->name));
    session->over = true;
}

static void step_working(struct fb_session *session)
{
    bool done = session->driving ? session->driver.leader_ended : session->keeper.leader_ended;
    if (done)
        end_work(session);
    else if (session->driving && all_gone(session))
        end_under_driver(session);
}

static void step_settling(struct fb_session *session)
{
    if (!all_gone(session) && fb_clock_now_ns() < session->deadline_ns)
        return;
    close_phase(session);
    if (all_gone(session))
        session->over = true;
    else
        begin_stop(session);
}

static void step_stopping(struct fb_session *session)
{
    if (session->keeper.leader_ended && fb_family_alive(&session->family) > 0)
        fb_keeper_signal_all(&session->keeper, SIGTERM);
    bool gone = all_gone(session);
    session->killed_after_grace = !gone && fb_clock_now_ns() >= session->deadline_ns;
    session->over = gone || session->killed_after_grace;
}

void fb_session_step(struct fb_session *session)
{
    static void (*const steps[])(struct fb_session *) = {
        [FB_FATE_STARTING] = step_starting,
        [FB_FATE_WORKING] = step_working,
        [FB_FATE_SETTLING] = step_settling,
        [FB_FATE_STOPPING] = step_stopping,
    };
    if (!session->over)
        steps[session->stage](session);
}
