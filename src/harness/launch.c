#include "harness/launch.h"

#include "base/alloc.h"
#include "harness/runner.h"
#include "trace/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define RECORDER "libfragbench-recorder.so"
#define NOT_STARTED 127
/* In front of an allocator that a program is linked to, libc's own has to be asked for. */
#define LIBC "libc.so.6"

/* Beside the clock library. New string. */
static char *locate_recorder(struct fb_error *err)
{
    char worker[PATH_MAX], clock_library[PATH_MAX];
    if (fb_runner_locate(worker, clock_library, sizeof worker, err) != 0)
        return NULL;
    char *slash = strrchr(clock_library, '/');
    char *path = fb_format("%.*s/" RECORDER, (int)(slash - clock_library), clock_library);
    if (access(path, R_OK) == 0)
        return path;
    (void)fb_fail_errno(err, "cannot read %s", path);
    free(path);
    return NULL;
}

static char *preload_list(const char *recorder, const struct fb_contender *contender)
{
    const char *before = getenv("LD_PRELOAD");
    bool keeps = before != NULL && *before != '\0';
    const char *library = "", *inner = NULL;
    if (contender != NULL) {
        library = contender->path != NULL ? contender->path : LIBC;
        inner = contender->inner_path;
    }
    return fb_format("%s%s%s%s%s%s%s", recorder, *library != '\0' ? ":" : "", library,
                     inner != NULL ? ":" : "", inner != NULL ? inner : "", keeps ? ":" : "",
                     keeps ? before : "");
}

static int set(const char *name, const char *value, struct fb_error *err)
{
    if (setenv(name, value, 1) == 0)
        return 0;
    return fb_fail_errno(err, "cannot set %s", name);
}

/* In fragbench's own environment, which it has no use for any more. */
static int set_environment(const struct fb_launch *launch, struct fb_error *err)
{
    char *recorder = locate_recorder(err);
    if (recorder == NULL)
        return -1;
    char *list = preload_list(recorder, launch->contender);
    int status = set("LD_PRELOAD", list, err);
    if (status == 0)
        status = set(FB_SPOOL_VARIABLE, launch->spool_folder, err);
    char depth[24];
    (void)snprintf(depth, sizeof depth, "%u", launch->site_frames);
    if (status == 0)
        status = set(FB_SPOOL_SITES_VARIABLE, depth, err);
    if (status == 0)
        status = set(FB_SPOOL_FRESH_VARIABLE, launch->fresh_pages ? "1" : "0", err);
    for (size_t i = 0; launch->contender != NULL && i < launch->contender->env_count; i++)
        if (status == 0)
            status = set(launch->contender->env[i].key, launch->contender->env[i].value, err);
    free(list);
    free(recorder);
    return status;
}

/* What the child could not do comes as an errno through a pipe that exec closes. */
static void become(const struct fb_launch *launch, int report)
{
    execvp(launch->argv[0], launch->argv);
    int failed = errno;
    ssize_t written = write(report, &failed, sizeof failed);
    (void)written;
    _exit(NOT_STARTED);
}

static int refuse(const struct fb_launch *launch, int failed, struct fb_error *err)
{
    return fb_fail(err, FB_ERROR_INPUT, "cannot run \"%s\": %s; give a program that is there",
                   launch->argv[0], strerror(failed));
}

int fb_launch(const struct fb_launch *launch, pid_t *pid, struct fb_error *err)
{
    int pipe_ends[2], failed = 0;
    if (set_environment(launch, err) != 0)
        return -1;
    if (pipe2(pipe_ends, O_CLOEXEC) != 0)
        return fb_fail_errno(err, "cannot make a pipe");
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
    pid_t child = fork();
    if (child == 0)
        become(launch, pipe_ends[1]);
    int saved = errno;
    (void)close(pipe_ends[1]);
    ssize_t got = child > 0 ? read(pipe_ends[0], &failed, sizeof failed) : 0;
    (void)close(pipe_ends[0]);
    errno = saved;
    if (child < 0)
        return fb_fail_errno(err, "cannot start a process");
    if (got == (ssize_t)sizeof failed) {
        (void)waitpid(child, NULL, 0);
        return refuse(launch, failed, err);
    }
    *pid = child;
    return 0;
}
