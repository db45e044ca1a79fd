#include "harness/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int start(char *const argv[], char *const env[], int output, pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    if (posix_spawn_file_actions_init(&actions) != 0)
        return ENOMEM;
    int error = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    if (error == 0)
        error = posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    if (error == 0)
        error = posix_spawn(pid, argv[0], &actions, NULL, argv, env);
    (void)posix_spawn_file_actions_destroy(&actions);
    return error;
}

static void drain(int fd, struct fb_buf *out)
{
    char piece[4096];
    for (;;) {
        ssize_t got = read(fd, piece, sizeof piece);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return;
        fb_buf_add(out, piece, (size_t)got);
    }
}

static int wait_for(pid_t pid, int *status)
{
    pid_t got;
    do {
        got = waitpid(pid, status, 0);
    } while (got < 0 && errno == EINTR);
    return got == pid ? 0 : -1;
}

int fb_capture(char *const argv[], char *const env[], struct fb_buf *out, struct fb_error *err)
{
    int ends[2], status = 0;
    pid_t pid = -1;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return fb_fail_errno(err, "cannot make a pipe");
    int error = start(argv, env, ends[1], &pid);
    (void)close(ends[1]);
    if (error != 0) {
        errno = error;
        (void)fb_fail_errno(err, "cannot run %s", argv[0]);
        (void)close(ends[0]);
        return -1;
    }
    drain(ends[0], out);
    (void)close(ends[0]);
    if (wait_for(pid, &status) != 0)
        return fb_fail_errno(err, "cannot wait for %s", argv[0]);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return fb_fail(err, FB_ERROR_IO, "%s failed", argv[0]);
    return 0;
}
