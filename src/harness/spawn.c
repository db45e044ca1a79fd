#include "harness/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef PR_THP_DISABLE_EXCEPT_ADVISED
#define PR_THP_DISABLE_EXCEPT_ADVISED (1UL << 1) /* Linux 6.18 */
#endif

/* Above this RLIMIT_STACK moves mmap_base; below, the kernel takes it as the gap's least. */
#define STACK_BASE_BYTES (UINT64_C(128) << 20)
enum { STACK_SHIFT_PAGES = 1237, HIGH_FD = 32, NOT_STARTED = 127 };

/* What the child tells over the error pipe: one message a step that did not go as planned. The
 * pipe closes at exec:
 *
 *     parent: fork ── close write end ── read … end of file ── worker runs
 *     child:    └─ steps ── write(step, errno)* ── exec (closes the pipe) │ write, _exit
 */
struct note {
    int step;
    int error;
};

struct child {
    const struct fb_spawn *spawn;
    pid_t parent;
    int report; /* the pipe's write end, ≥ HIGH_FD */
};

static int die_with_parent(struct child *child)
{
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
        return -1;
    /* The parent may have gone before the prctl. */
    if (getppid() != child->parent)
        _exit(NOT_STARTED);
    return 0;
}

/* Its own session, so that the terminal's Ctrl-C reaches fragbench alone. */
static int own_session(struct child *child)
{
    (void)child;
    return setsid() < 0 ? -1 : 0;
}

static int plain_signals(struct child *child)
{
    (void)child;
    struct sigaction plain = {.sa_handler = SIG_DFL};
    for (int number = 1; number < NSIG; number++)
        (void)sigaction(number, &plain, NULL); /* fails for SIGKILL, SIGSTOP and libc's own */
    sigset_t none;
    (void)sigemptyset(&none);
    return sigprocmask(SIG_SETMASK, &none, NULL);
}

static int put_at(int from, int to)
{
    return dup2(from, to) == to ? 0 : -1; /* dup2 also clears close-on-exec */
}

static int place_descriptors(struct child *child)
{
    const struct fb_spawn *spawn = child->spawn;
    /* First out of the way: the sources may themselves be 0 … 5. */
    int shared = fcntl(spawn->shared_fd, F_DUPFD, HIGH_FD);
    int trace = fcntl(spawn->trace_fd, F_DUPFD, HIGH_FD);
    int doorbell = fcntl(spawn->doorbell_fd, F_DUPFD, HIGH_FD);
    int output = fcntl(spawn->output_fd, F_DUPFD, HIGH_FD);
    int null = open("/dev/null", O_RDONLY);
    if (shared < 0 || trace < 0 || doorbell < 0 || output < 0 || null < 0)
        return -1;
    if (put_at(null, STDIN_FILENO) != 0 || put_at(output, STDOUT_FILENO) != 0 ||
        put_at(output, STDERR_FILENO) != 0 || put_at(shared, FB_FD_SHARED) != 0 ||
        put_at(trace, FB_FD_TRACE) != 0 || put_at(doorbell, FB_FD_DOORBELL) != 0)
        return -1;
    /* All the others but the error pipe; glibc 2.34 and Linux 5.9 have the call. */
    if (close_range(FB_FD_DOORBELL + 1, (unsigned)child->report - 1, 0) != 0)
        return -1;
    return close_range((unsigned)child->report + 1, UINT_MAX, 0);
}

static int offer_to_oom_killer(struct child *child)
{
    (void)child;
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    ssize_t written = write(fd, "1000", 4);
    (void)close(fd);
    return written == 4 ? 0 : -1;
}

static int fix_layout(struct child *child)
{
    (void)child;
    int now = personality(0xffffffff);
    return now < 0 ? -1 : (personality((unsigned long)now | ADDR_NO_RANDOMIZE) < 0 ? -1 : 0);
}

static int limit_stack(struct child *child)
{
    struct rlimit limit;
    uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
    if (getrlimit(RLIMIT_STACK, &limit) != 0)
        return -1;
    limit.rlim_cur = STACK_BASE_BYTES + page_bytes +
                     (uint64_t)child->spawn->layout * STACK_SHIFT_PAGES * page_bytes;
    return setrlimit(RLIMIT_STACK, &limit); /* EINVAL above the hard limit */
}

static int forbid_core(struct child *child)
{
    (void)child;
    return setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
}

/* Both settings survive exec. */
static int bring_down_thp(struct child *child)
{
    if (child->spawn->thp == FB_THP_LEAVE)
        return 0;
    if (child->spawn->thp == FB_THP_EXCEPT_ADVISED &&
        prctl(PR_SET_THP_DISABLE, 1UL, PR_THP_DISABLE_EXCEPT_ADVISED, 0UL, 0UL) == 0)
        return 0;
    if (prctl(PR_SET_THP_DISABLE, 1UL, 0UL, 0UL, 0UL) != 0)
        return -1;
    errno = ENOSYS; /* told to the parent: it fell back */
    return child->spawn->thp == FB_THP_EXCEPT_ADVISED ? -1 : 0;
}

static int start_worker(struct child *child)
{
    char name[] = "fragbench-worker";
    char *const argv[] = {name, NULL};
    return execve(child->spawn->program, argv, child->spawn->environment);
}

enum step_index { STEP_LAYOUT = 5, STEP_STACK, STEP_CORE, STEP_THP };
static const struct step {
    const char *name;
    int (*run)(struct child *child);
    bool needed;
} steps[] = {
    {"tie its life to fragbench's", die_with_parent, true},
    {"start a session", own_session, true},
    {"reset signals", plain_signals, true},
    {"place descriptors", place_descriptors, true},
    {"set oom_score_adj", offer_to_oom_killer, false},
    [STEP_LAYOUT] = {"switch address randomisation off", fix_layout, false},
    [STEP_STACK] = {"set the stack limit", limit_stack, false},
    [STEP_CORE] = {"forbid core dumps", forbid_core, false},
    [STEP_THP] = {"limit huge pages", bring_down_thp, false},
    {"start", start_worker, true},
};

static _Noreturn void be_child(struct child *child)
{
    for (int i = 0; i < (int)(sizeof steps / sizeof steps[0]); i++) {
        if (steps[i].run(child) == 0)
            continue;
        struct note note = {i, errno};
        ssize_t written = write(child->report, &note, sizeof note);
        if (steps[i].needed || written != (ssize_t)sizeof note)
            _exit(NOT_STARTED);
    }
    _exit(NOT_STARTED);
}

/* Signals stay blocked until the child has reset its handlers: the caller's must not run there. */
static pid_t fork_blocked(struct child *child)
{
    sigset_t all, before;
    (void)sigfillset(&all);
    (void)sigprocmask(SIG_SETMASK, &all, &before);
    pid_t pid = fork();
    if (pid == 0)
        be_child(child);
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

static int read_notes(int report, const struct fb_spawn *spawn, struct fb_spawned *out,
                      struct fb_error *err)
{
    struct note note;
    for (;;) {
        ssize_t got = read(report, &note, sizeof note);
        if (got < 0 && errno == EINTR)
            continue;
        if (got != (ssize_t)sizeof note)
            return 0;
        if (note.step == STEP_LAYOUT || note.step == STEP_STACK)
            out->layout_fixed = false;
        if (note.step == STEP_THP)
            out->thp_fell_back = true;
        if (steps[note.step].needed) {
            errno = note.error;
            return fb_fail_errno(err, "cannot %s %s", steps[note.step].name, spawn->program);
        }
    }
}

int fb_spawn(const struct fb_spawn *spawn, struct fb_spawned *out, struct fb_error *err)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return fb_fail_errno(err, "cannot make a pipe");
    struct child child = {spawn, getpid(), fcntl(ends[1], F_DUPFD_CLOEXEC, HIGH_FD)};
    (void)close(ends[1]);
    struct fb_spawned spawned = {.pid = -1, .layout_fixed = true};
    int result = 0;
    if (child.report < 0 || (spawned.pid = fork_blocked(&child)) < 0)
        result = fb_fail_errno(err, "cannot start a process");
    if (child.report >= 0)
        (void)close(child.report);
    if (result == 0 && (result = read_notes(ends[0], spawn, &spawned, err)) != 0)
        reap(spawned.pid);
    (void)close(ends[0]);
    if (result == 0)
        *out = spawned;
    return result;
}
