/* Inside the keeper: starts the program, reaps, obeys, and at the end leaves nothing. */
#include "harness/exec/keeper_process.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { NOT_STARTED = 127 };

struct state {
    const struct fb_keeper_command *command;
    int channel;
    int children; /* signalfd for SIGCHLD */
    pid_t leader;
    bool leader_reaped;
    int report; /* in the program-to-be: the pipe that exec closes */
};

/* --- the program-to-be ---------------------------------------------------------------------- */

static int die_with_keeper(const struct state *state)
{
    (void)state;
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
        return -1;
    return getppid() == 1 ? -1 : 0; /* the keeper may have gone before the prctl */
}

/* A session of its own: the terminal's Ctrl-C reaches fragbench alone, which then ends it. */
static int own_session(const struct state *state)
{
    (void)state;
    return setsid() < 0 ? -1 : 0;
}

static int plain_signals(const struct state *state)
{
    (void)state;
    struct sigaction plain = {.sa_handler = SIG_DFL};
    for (int number = 1; number < NSIG; number++)
        (void)sigaction(number, &plain, NULL); /* fails for SIGKILL, SIGSTOP and libc's own */
    sigset_t none;
    (void)sigemptyset(&none);
    return sigprocmask(SIG_SETMASK, &none, NULL);
}

/* dup2 onto itself would keep close-on-exec, hence the detour. */
static int place_descriptors(const struct state *state)
{
    int input = fcntl(state->command->input_fd, F_DUPFD_CLOEXEC, 3);
    int output = fcntl(state->command->output_fd, F_DUPFD_CLOEXEC, 3);
    if (input < 0 || output < 0)
        return -1;
    bool placed = dup2(input, STDIN_FILENO) >= 0 && dup2(output, STDOUT_FILENO) >= 0 &&
                  dup2(output, STDERR_FILENO) >= 0;
    return placed ? 0 : -1;
}

static int start_program(const struct state *state)
{
    return execve(state->command->program, state->command->argv, state->command->environment);
}

static const struct step {
    const char *name;
    int (*run)(const struct state *state);
} steps[] = {
    [FB_KEEPER_STEP_FORK] = {"start a process", NULL},
    [FB_KEEPER_STEP_SUBREAPER] = {"adopt orphans", NULL},
    {"tie its life to its keeper's", die_with_keeper},
    {"start a session", own_session},
    {"reset signals", plain_signals},
    {"place descriptors", place_descriptors},
    [FB_KEEPER_STEP_EXEC] = {"run", start_program},
};

const char *fb_keeper_step_name(int step)
{
    bool known = step >= 0 && step < (int)(sizeof steps / sizeof steps[0]);
    return known ? steps[step].name : "start a process";
}

struct note {
    int step, error;
};

static _Noreturn void be_program(const struct state *state)
{
    for (int i = 0; i < (int)(sizeof steps / sizeof steps[0]); i++) {
        if (steps[i].run == NULL || steps[i].run(state) == 0)
            continue;
        struct note note = {i, errno};
        ssize_t written = write(state->report, &note, sizeof note);
        (void)written;
        _exit(NOT_STARTED);
    }
    _exit(NOT_STARTED);
}

/* --- the keeper ------------------------------------------------------------------------------ */

static void tell(const struct state *state, const struct fb_keeper_report *report)
{
    (void)send(state->channel, report, sizeof *report, MSG_NOSIGNAL);
}

static _Noreturn void give_up(const struct state *state, int step, int error)
{
    const struct fb_keeper_report report = {.kind = FB_KEEPER_FAILED, .step = step, .error = error};
    tell(state, &report);
    _exit(NOT_STARTED);
}

/* What fragbench has open with close-on-exec is its own, above all its ends of other keepers'
 * sockets: a copy held here would hide its death from them. The rest goes to the program, as a
 * shell's "3<file" does. */
static void close_inherited(const struct state *state)
{
    DIR *folder = opendir("/proc/self/fd");
    if (folder == NULL)
        return;
    for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        int fd = (int)strtol(entry->d_name, NULL, 10);
        bool kept = fd <= STDERR_FILENO || fd == state->channel || fd == dirfd(folder) ||
                    fd == state->command->input_fd || fd == state->command->output_fd;
        if (!kept && (fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0)
            (void)close(fd);
    }
    (void)closedir(folder);
}

/* Returns when exec has happened, or reports why not. */
static void start_leader(struct state *state)
{
    int ends[2];
    struct note note;
    if (pipe2(ends, O_CLOEXEC) != 0 || (state->leader = fork()) < 0)
        give_up(state, FB_KEEPER_STEP_FORK, errno);
    if (state->leader == 0) {
        state->report = ends[1];
        be_program(state);
    }
    (void)close(ends[1]);
    ssize_t got;
    do {
        got = read(ends[0], &note, sizeof note);
    } while (got < 0 && errno == EINTR);
    (void)close(ends[0]);
    if (got == (ssize_t)sizeof note)
        give_up(state, note.step, note.error);
    const struct fb_keeper_report report = {.kind = FB_KEEPER_STARTED, .pid = state->leader};
    tell(state, &report);
}

static void report_end(struct state *state, pid_t pid, int status)
{
    const struct fb_keeper_report report = {.kind = FB_KEEPER_ENDED, .pid = pid, .status = status};
    if (pid == state->leader)
        state->leader_reaped = true;
    tell(state, &report);
}

/* false: there is no child at all. */
static bool reap(struct state *state, int flags)
{
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, flags)) != 0) {
        if (pid > 0)
            report_end(state, pid, status);
        else if (errno != EINTR)
            return errno != ECHILD;
        if ((flags & WNOHANG) == 0 && pid > 0)
            return true;
    }
    return true;
}

/* The parent's number stands after the state letter, behind the last ')' of the name. */
static pid_t parent_of(const char *number)
{
    char path[64], text[512];
    (void)snprintf(path, sizeof path, "/proc/%.20s/stat", number);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    if (fd >= 0)
        (void)close(fd);
    if (got <= 0)
        return -1;
    text[got] = '\0';
    const char *name_end = strrchr(text, ')');
    return name_end != NULL && strlen(name_end) > 4 ? (pid_t)strtol(name_end + 4, NULL, 10) : -1;
}

/* The kernel's list of children is an option of its configuration, hence the scan. */
static void signal_children(int number)
{
    DIR *folder = opendir("/proc");
    if (folder == NULL)
        return;
    for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder))
        if (isdigit((unsigned char)entry->d_name[0]) && parent_of(entry->d_name) == getpid())
            (void)kill((pid_t)strtol(entry->d_name, NULL, 10), number);
    (void)closedir(folder);
}

static uint64_t ns_of(struct timeval time)
{
    return (uint64_t)time.tv_sec * 1000000000U + (uint64_t)time.tv_usec * 1000U;
}

/* A killed parent's children come to the keeper, so a few rounds empty the whole tree. */
static _Noreturn void finish(struct state *state)
{
    const struct timespec moment = {.tv_nsec = 2000000};
    while (reap(state, WNOHANG)) {
        signal_children(SIGKILL);
        (void)nanosleep(&moment, NULL);
    }
    struct rusage used = {0};
    (void)getrusage(RUSAGE_CHILDREN, &used);
    const struct fb_keeper_report report = {.kind = FB_KEEPER_DONE,
                                            .user_ns = ns_of(used.ru_utime),
                                            .system_ns = ns_of(used.ru_stime),
                                            .minor_faults = (uint64_t)used.ru_minflt};
    tell(state, &report);
    _exit(0);
}

static void obey(struct state *state)
{
    struct fb_keeper_order order;
    ssize_t got = recv(state->channel, &order, sizeof order, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (got != (ssize_t)sizeof order || order.verb == FB_KEEPER_FINISH)
        finish(state); /* said so, or fragbench is gone */
    if (order.verb == FB_KEEPER_SIGNAL_ALL)
        signal_children(order.number);
    else if (!state->leader_reaped)
        (void)kill(state->leader, order.number);
}

static _Noreturn void serve(struct state *state)
{
    for (;;) {
        struct pollfd polled[] = {{.fd = state->channel, .events = POLLIN},
                                  {.fd = state->children, .events = POLLIN}};
        if (poll(polled, 2, -1) < 0 && errno != EINTR)
            finish(state);
        if (polled[1].revents != 0) {
            struct signalfd_siginfo info;
            ssize_t got = read(state->children, &info, sizeof info);
            (void)got;
            (void)reap(state, WNOHANG);
        }
        if (polled[0].revents != 0)
            obey(state);
    }
}

_Noreturn void fb_keeper_process(const struct fb_keeper_command *command, int channel)
{
    struct state state = {.command = command, .channel = channel};
    sigset_t child;
    (void)sigemptyset(&child);
    (void)sigaddset(&child, SIGCHLD);
    (void)prctl(PR_SET_NAME, "fragbench-keep");
    (void)setsid(); /* out of the terminal's reach */
    close_inherited(&state);
    if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0)
        give_up(&state, FB_KEEPER_STEP_SUBREAPER, errno);
    state.children = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
    if (state.children < 0)
        give_up(&state, FB_KEEPER_STEP_FORK, errno);
    start_leader(&state);
    serve(&state);
}
