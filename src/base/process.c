#include "base/process.h"
#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ERRORS_CAP_BYTES 8192U
#define NS_PER_S UINT64_C(1000000000)
#define NS_PER_MS UINT64_C(1000000)
#define INPUT_FD 3

/* The caller's ends and the child's ends; −1 = closed. */
struct pipes {
    int input;
    int out[2], errs[2];
};

static void close_fd(int *fd)
{
    if (*fd >= 0)
        (void)close(*fd);
    *fd = -1;
}

static void close_pipes(struct pipes *pipes)
{
    close_fd(&pipes->input);
    for (int i = 0; i < 2; i++) {
        close_fd(&pipes->out[i]);
        close_fd(&pipes->errs[i]);
    }
}

static int write_all(int fd, const char *data, size_t size)
{
    while (size > 0) {
        ssize_t written = write(fd, data, size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return -1;
        data += written;
        size -= (size_t)written;
    }
    return 0;
}

static int open_pipes(const struct fb_process_request *request, struct pipes *pipes,
                      struct fb_error *err)
{
    *pipes = (struct pipes){-1, {-1, -1}, {-1, -1}};
    pipes->input = memfd_create("input", MFD_CLOEXEC);
    if (pipes->input < 0 || write_all(pipes->input, request->input, request->input_size) != 0 ||
        pipe2(pipes->out, O_CLOEXEC) != 0 || pipe2(pipes->errs, O_CLOEXEC) != 0) {
        (void)fb_fail_errno(err, "cannot pass data to %s", request->argv[0]);
        close_pipes(pipes);
        return -1;
    }
    return 0;
}

/* The order matters: the pipes may have got number 3, which the input takes at last. */
static int start(const struct fb_process_request *request, const struct pipes *pipes, pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    int status = posix_spawn_file_actions_init(&actions);
    if (status != 0)
        return status;
    status = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (status == 0)
        status = posix_spawn_file_actions_adddup2(&actions, pipes->out[1], STDOUT_FILENO);
    if (status == 0)
        status = posix_spawn_file_actions_adddup2(&actions, pipes->errs[1], STDERR_FILENO);
    if (status == 0)
        status = posix_spawn_file_actions_adddup2(&actions, pipes->input, INPUT_FD);
    if (status == 0)
        status = posix_spawnp(pid, request->argv[0], &actions, NULL,
                              (char *const *)(const void *)request->argv,
                              (char *const *)(const void *)request->env);
    (void)posix_spawn_file_actions_destroy(&actions);
    return status;
}

/* One read; closes the end of a pipe that has no more. What does not fit is dropped. */
static void drain(int *fd, struct fb_buf *buf)
{
    char block[16384];
    ssize_t got = read(*fd, block, sizeof block);
    size_t room = buf->cap - buf->length - 1;
    if (got > 0)
        fb_buf_add(buf, block, (size_t)got < room ? (size_t)got : room);
    if (got > 0 && (size_t)got > room)
        buf->overflow = true;
    else if (got > 0)
        return;
    else if (got == 0 || errno != EINTR)
        close_fd(fd);
}

/* Until both pipes are closed; false when the time is up or the output too long. */
static bool collect(struct pipes *pipes, struct fb_process_outcome *outcome, uint64_t deadline_ns)
{
    while (pipes->out[0] >= 0 || pipes->errs[0] >= 0) {
        uint64_t now = fb_clock_now_ns();
        if (now >= deadline_ns) {
            outcome->timed_out = true;
            return false;
        }
        struct pollfd fds[2] = {{pipes->out[0], POLLIN, 0}, {pipes->errs[0], POLLIN, 0}};
        uint64_t left_ms = (deadline_ns - now) / NS_PER_MS + 1;
        if (poll(fds, 2, left_ms > 1000 ? 1000 : (int)left_ms) < 0 && errno != EINTR)
            return false;
        if (fds[0].revents != 0)
            drain(&pipes->out[0], &outcome->out);
        if (fds[1].revents != 0)
            drain(&pipes->errs[0], &outcome->errs);
        if (outcome->out.overflow)
            return false;
    }
    return true;
}

/* A program that closed its output and stays is waited for no longer than the deadline. */
static int reap(pid_t pid, struct fb_process_outcome *outcome, uint64_t deadline_ns)
{
    int status = 0;
    const struct timespec nap = {0, 5000000};
    for (;;) {
        pid_t got = waitpid(pid, &status, WNOHANG);
        if (got == pid)
            return status;
        if (got < 0 && errno != EINTR)
            return -1;
        if (fb_clock_now_ns() >= deadline_ns) {
            outcome->timed_out = true;
            (void)kill(pid, SIGKILL);
        }
        (void)nanosleep(&nap, NULL);
    }
}

static void watch(pid_t pid, struct pipes *pipes, uint64_t timeout_ns,
                  struct fb_process_outcome *outcome)
{
    uint64_t deadline_ns = fb_clock_now_ns() + timeout_ns;
    if (!collect(pipes, outcome, deadline_ns))
        (void)kill(pid, SIGKILL);
    int status = reap(pid, outcome, deadline_ns);
    outcome->exit_code = status < 0            ? 127
                         : WIFSIGNALED(status) ? 128 + WTERMSIG(status)
                                               : WEXITSTATUS(status);
}

int fb_process_run(const struct fb_process_request *request, size_t out_cap_bytes,
                   struct fb_process_outcome *outcome, struct fb_error *err)
{
    struct pipes pipes;
    pid_t pid = -1;
    if (open_pipes(request, &pipes, err) != 0)
        return -1;
    *outcome = (struct fb_process_outcome){0};
    fb_buf_init(&outcome->out, out_cap_bytes);
    fb_buf_init(&outcome->errs, ERRORS_CAP_BYTES);
    int status = start(request, &pipes, &pid);
    close_fd(&pipes.input);
    close_fd(&pipes.out[1]);
    close_fd(&pipes.errs[1]);
    outcome->found = status == 0;
    if (status == 0)
        watch(pid, &pipes, request->timeout_ns, outcome);
    close_pipes(&pipes);
    if (status == 0 || status == ENOENT)
        return 0;
    errno = status;
    fb_process_outcome_deinit(outcome);
    return fb_fail_errno(err, "cannot start %s", request->argv[0]);
}

void fb_process_outcome_deinit(struct fb_process_outcome *outcome)
{
    fb_buf_deinit(&outcome->out);
    fb_buf_deinit(&outcome->errs);
}
