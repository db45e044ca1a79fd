/* fragbench's side of a keeper; the keeper's own is keeper_process.c. */
#include "harness/exec/keeper.h"

#include "harness/exec/keeper_process.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* Signals stay blocked until the child has reset its handlers: the caller's must not run there. */
static pid_t fork_keeper(const struct fb_keeper_command *command, int channel)
{
    sigset_t all, before;
    (void)sigfillset(&all);
    (void)sigprocmask(SIG_SETMASK, &all, &before);
    pid_t pid = fork();
    if (pid == 0)
        fb_keeper_process(command, channel);
    int saved = errno;
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
    errno = saved;
    return pid;
}

static void reap(pid_t pid)
{
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
    }
}

static int receive(int channel, struct fb_keeper_report *report, int flags)
{
    ssize_t got;
    do {
        got = recv(channel, report, sizeof *report, flags);
    } while (got < 0 && errno == EINTR);
    return got == (ssize_t)sizeof *report ? 0 : -1;
}

static int fail_start(const struct fb_keeper_command *command,
                      const struct fb_keeper_report *report, struct fb_error *err)
{
    if (report->step == FB_KEEPER_STEP_EXEC)
        return fb_fail(err, FB_ERROR_INPUT, "cannot run %s: %s", command->program,
                       strerror(report->error));
    errno = report->error;
    return fb_fail_errno(err, "cannot %s for %s", fb_keeper_step_name(report->step),
                         command->program);
}

int fb_keeper_start(struct fb_keeper *keeper, const struct fb_keeper_command *command,
                    struct fb_error *err)
{
    int pair[2];
    *keeper = (struct fb_keeper){.pid = -1, .channel = -1, .leader = -1, .done = true};
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
        return fb_fail_errno(err, "cannot make a socket pair");
    pid_t pid = fork_keeper(command, pair[1]);
    (void)close(pair[1]);
    if (pid < 0) {
        (void)close(pair[0]);
        return fb_fail_errno(err, "cannot start a process");
    }
    struct fb_keeper_report report = {.kind = FB_KEEPER_FAILED, .error = ECHILD};
    if (receive(pair[0], &report, 0) != 0 || report.kind != FB_KEEPER_STARTED) {
        (void)close(pair[0]);
        reap(pid);
        return fail_start(command, &report, err);
    }
    *keeper = (struct fb_keeper){.pid = pid, .channel = pair[0], .leader = report.pid};
    return 0;
}

/* The keeper has closed its end: it has ended, on its own account or not. */
static void close_channel(struct fb_keeper *keeper)
{
    (void)close(keeper->channel);
    keeper->channel = -1;
    keeper->done = true;
    reap(keeper->pid);
}

static void take(struct fb_keeper *keeper, const struct fb_keeper_report *report)
{
    if (report->kind == FB_KEEPER_ENDED && report->pid == keeper->leader) {
        keeper->leader_ended = true;
        keeper->leader_status = report->status;
    } else if (report->kind == FB_KEEPER_DONE) {
        keeper->account_known = true;
        keeper->user_ns = report->user_ns;
        keeper->system_ns = report->system_ns;
        keeper->minor_faults = report->minor_faults;
    }
}

void fb_keeper_listen(struct fb_keeper *keeper)
{
    struct fb_keeper_report report;
    while (keeper->channel >= 0 && receive(keeper->channel, &report, MSG_DONTWAIT) == 0)
        take(keeper, &report);
    if (keeper->channel >= 0 && errno != EAGAIN && errno != EWOULDBLOCK)
        close_channel(keeper);
}

static void ask(struct fb_keeper *keeper, enum fb_keeper_verb verb, int number)
{
    const struct fb_keeper_order order = {verb, number};
    if (keeper->channel >= 0)
        (void)send(keeper->channel, &order, sizeof order, MSG_NOSIGNAL);
}

void fb_keeper_signal(struct fb_keeper *keeper, int number)
{
    ask(keeper, FB_KEEPER_SIGNAL_LEADER, number);
}

void fb_keeper_signal_all(struct fb_keeper *keeper, int number)
{
    ask(keeper, FB_KEEPER_SIGNAL_ALL, number);
}

void fb_keeper_finish(struct fb_keeper *keeper)
{
    struct fb_keeper_report report;
    ask(keeper, FB_KEEPER_FINISH, 0);
    while (keeper->channel >= 0) {
        if (receive(keeper->channel, &report, 0) == 0)
            take(keeper, &report);
        else
            close_channel(keeper);
    }
}
