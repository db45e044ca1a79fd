/* The life of one run: start, stop, watch, reap. */
#include "harness/run.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/units.h"
#include "harness/environment.h"
#include "harness/proc.h"
#include "harness/spawn.h"
#include "harness/spec.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { OUTPUT_KEPT = 4096 };

static void close_all(int *const *descriptors, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (*descriptors[i] >= 0)
            (void)close(*descriptors[i]);
        *descriptors[i] = -1;
    }
}

/* The worker's ends; ours are in the run. */
struct ends {
    int trace, doorbell, output;
};

static int open_ends(struct fb_run *run, struct ends *ends, struct fb_error *err)
{
    char path[64];
    int pair[2], pipe_ends[2];
    /* Opened anew: a duplicate would share its offset with every other worker. */
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", run->request->trace_fd);
    ends->trace = open(path, O_RDONLY | O_CLOEXEC);
    if (ends->trace < 0)
        return fb_fail_errno(err, "cannot open the trace for reading");
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
        return fb_fail_errno(err, "cannot make a socket pair");
    run->doorbell = pair[0];
    ends->doorbell = pair[1];
    if (pipe2(pipe_ends, O_CLOEXEC) != 0)
        return fb_fail_errno(err, "cannot make a pipe");
    run->output = pipe_ends[0];
    ends->output = pipe_ends[1];
    if (fcntl(run->output, F_SETFL, O_NONBLOCK) != 0 ||
        fcntl(run->doorbell, F_SETFL, O_NONBLOCK) != 0)
        return fb_fail_errno(err, "cannot prepare a pipe");
    return 0;
}

static int spawn_worker(struct fb_run *run, const struct ends *ends, const struct fb_bench *bench,
                        struct fb_error *err)
{
    const struct fb_run_request *request = run->request;
    char **environment = fb_environment_new(request->contender, bench->clock_library);
    struct fb_spawn spawn = {.program = bench->worker,
                             .environment = environment,
                             .shared_fd = run->control.fd,
                             .trace_fd = ends->trace,
                             .doorbell_fd = ends->doorbell,
                             .output_fd = ends->output,
                             .layout = request->layout,
                             .thp = fb_thp_plan_of(request->thp, bench->thp_enabled)};
    struct fb_spawned spawned = {.pid = -1};
    run->oom_known = fb_proc_oom_kills(&run->oom_kills, NULL) == 0;
    run->started_ns = fb_clock_now_ns();
    int result = fb_spawn(&spawn, &spawned, err);
    fb_environment_free(environment);
    if (result != 0)
        return -1;
    run->pid = spawned.pid;
    run->pidfd = (int)syscall(SYS_pidfd_open, spawned.pid, 0);
    run->layout_fixed = spawned.layout_fixed;
    run->thp_used = fb_thp_used(spawn.thp, spawned.thp_fell_back, bench->thp_enabled);
    return 0;
}

static void release(struct fb_run *run)
{
    int *const ours[] = {&run->pidfd, &run->doorbell, &run->output, &run->timer};
    close_all(ours, sizeof ours / sizeof ours[0]);
    fb_control_close(&run->control);
    fb_buf_deinit(&run->text);
    free(run->verdict_detail);
    free(run->malloc_owner);
    fb_settings_free(run->effective, run->effective_count);
    for (size_t i = 0; i < run->checkpoint_count; i++)
        fb_checkpoint_deinit(&run->checkpoints[i]);
    free(run->checkpoints);
    free(run->startup_pages.items);
    fb_sight_free(run->sight);
    free(run->outside);
    *run = (struct fb_run){0};
}

int fb_run_start(struct fb_run *run, const struct fb_run_request *request,
                 const struct fb_bench *bench, struct fb_error *err)
{
    struct ends ends = {-1, -1, -1};
    int *const theirs[] = {&ends.trace, &ends.doorbell, &ends.output};
    *run = (struct fb_run){.request = request,
                           .hooks = bench->hooks,
                           .pidfd = -1,
                           .doorbell = -1,
                           .output = -1,
                           .timer = -1,
                           .control.fd = -1};
    fb_buf_init(&run->text, OUTPUT_KEPT);
    int result = fb_control_open(&run->control, request, err);
    if (result == 0 && request->trace->thread_peak > 1 && request->order == FB_ORDER_LOCKSTEP)
        run->control.shared->pin_cpu = bench->pin_cpu;
    if (result == 0)
        result = open_ends(run, &ends, err);
    if (result == 0)
        result = spawn_worker(run, &ends, bench, err);
    close_all(theirs, sizeof theirs / sizeof theirs[0]);
    if (result != 0)
        release(run);
    return result;
}

/* The group, so that what a preloaded library may have started goes too. */
static void kill_group(const struct fb_run *run)
{
    (void)kill(-run->pid, SIGKILL);
    (void)kill(run->pid, SIGKILL);
}

void fb_run_stop(struct fb_run *run, enum fb_status verdict, char *detail)
{
    if (run->stopped_by_us || run->ended) {
        free(detail);
        return;
    }
    run->stopped_by_us = true;
    run->verdict = verdict;
    run->verdict_detail = detail;
    kill_group(run);
}

void fb_run_discard(struct fb_run *run)
{
    if (!run->ended) {
        kill_group(run);
        while (waitpid(run->pid, NULL, 0) < 0 && errno == EINTR) {
        }
    }
    release(run);
}

void fb_run_drain_output(struct fb_run *run)
{
    char piece[4096];
    ssize_t got;
    while ((got = read(run->output, piece, sizeof piece)) > 0) {
        size_t room = OUTPUT_KEPT - 1 - run->text.length;
        fb_buf_add(&run->text, piece, (size_t)got < room ? (size_t)got : room);
    }
    /* End of file would make poll return at once, for ever. */
    if (got == 0) {
        (void)close(run->output);
        run->output = -1;
    }
}

void fb_run_reap(struct fb_run *run)
{
    siginfo_t info = {0};
    if (waitid(P_PID, (id_t)run->pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
        info.si_pid != run->pid)
        return;
    run->ended_ns = fb_clock_now_ns();
    kill_group(run); /* while the zombie still holds the group's number */
    while (waitpid(run->pid, &run->wait_status, 0) < 0 && errno == EINTR) {
    }
    if (run->output >= 0)
        fb_run_drain_output(run);
    run->ended = true;
}

static char *over_limit_detail(uint64_t held, uint64_t limit)
{
    char a[32], b[32];
    return fb_format("the worker held %s, over the limit of %s (--memory-limit)",
                     fb_units_bytes(held, a, sizeof a), fb_units_bytes(limit, b, sizeof b));
}

void fb_run_watch(struct fb_run *run)
{
    const struct fb_run_request *request = run->request;
    uint64_t held;
    char text[64];
    if (run->ended || run->stopped_by_us)
        return;
    if (request->timeout_ns != 0 && fb_clock_now_ns() - run->started_ns > request->timeout_ns)
        fb_run_stop(run, FB_STATUS_TIMEOUT,
                    fb_format("not done after %s (--timeout)",
                              fb_units_time(request->timeout_ns, text, sizeof text)));
    else if (request->memory_limit_bytes != 0 && fb_proc_held(run->pid, &held, NULL) == 0 &&
             held > request->memory_limit_bytes)
        fb_run_stop(run, FB_STATUS_OVER_MEMORY_LIMIT,
                    over_limit_detail(held, request->memory_limit_bytes));
}

void fb_run_progress(const struct fb_run *run, struct fb_run_progress *out)
{
    struct fb_shared *shared = run->control.shared;
    *out = (struct fb_run_progress){
        .request = run->request,
        .ops_done = atomic_load_explicit(&shared->op_index, memory_order_relaxed),
        .ops_total = run->request->trace->op_count,
        .live_bytes = fb_shared_live_bytes(shared),
        .footprint_bytes =
            atomic_load_explicit(&shared->last_footprint_bytes, memory_order_relaxed),
        .phase = atomic_load_explicit(&shared->phase, memory_order_relaxed),
        .elapsed_s = (double)(fb_clock_now_ns() - run->started_ns) / 1e9,
    };
}
