/* The event loop: starts requests in order, waits for whatever any worker does, reports. */
#include "harness/run.h"

#include "base/alloc.h"
#include "base/clock.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A worker can fill some 5 MB a ms: near its limit it is looked at ten times as often. */
enum { TICK_MS = 100, NEAR_LIMIT_TICK_MS = 10, DESCRIPTORS = 4 };

struct runner {
    const struct fb_run_request *requests;
    size_t count, next, done;
    unsigned parallel;
    const struct fb_runner_hooks *hooks;
    const volatile int *stop;
    struct fb_bench bench;
    struct fb_run *runs; /* the running ones, [0, running) */
    size_t running;
    struct pollfd *polled; /* DESCRIPTORS a run */
    uint64_t next_tick_ns;
};

static bool is_stopped(const struct runner *runner)
{
    return runner->stop != NULL && *runner->stop != 0;
}

/* Why a request cannot be run at all, told without a process; NULL when it can. */
static char *refusal(const struct fb_run_request *request, enum fb_status *status)
{
    const struct fb_contender *contender = request->contender;
    if (!contender->available) {
        *status = contender->backend != NULL ? FB_STATUS_NOT_INSTALLED : FB_STATUS_UNSUPPORTED;
        return fb_strdup(contender->unavailable);
    }
    *status = FB_STATUS_BAD_TUNABLE;
    if (contender->rejected != NULL)
        return fb_strdup(contender->rejected);
    if (contender->needs_real_clock && request->clock == FB_CLOCK_VIRTUAL)
        return fb_strdup("a tunable makes the allocator work from a thread of its own, which no "
                         "virtual clock can drive: use --clock real");
    return NULL;
}

static int report(struct runner *runner, const struct fb_run_request *request,
                  struct fb_run_outcome *outcome, struct fb_error *err)
{
    runner->done++;
    return runner->hooks->finished(runner->hooks->user, request, outcome, err);
}

static int report_refusal(struct runner *runner, const struct fb_run_request *request,
                          enum fb_status status, char *detail, struct fb_error *err)
{
    struct fb_run_outcome outcome = {.layout_fixed = true, .thp_used = "", .clock_proven = true};
    fb_repetition_init(&outcome.repetition);
    outcome.repetition.index = request->index;
    outcome.repetition.seed = request->seed;
    outcome.repetition.layout = request->layout;
    outcome.repetition.status = status;
    outcome.repetition.status_detail = detail;
    return report(runner, request, &outcome, err);
}

/* Threads that take turns run on one CPU each cell, three times as fast as on two: the one that
 * fewest of the running cells were given. */
static int least_pinned_cpu(const struct runner *runner)
{
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return -1;
    int best = -1;
    size_t best_count = SIZE_MAX;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET((size_t)cpu, &allowed))
            continue;
        size_t count = 0;
        for (size_t i = 0; i < runner->running; i++)
            count += runner->runs[i].control.shared->pin_cpu == cpu;
        if (count < best_count) {
            best = cpu;
            best_count = count;
        }
    }
    return best;
}

static int start_more(struct runner *runner, struct fb_error *err)
{
    while (runner->running < runner->parallel && runner->next < runner->count &&
           !is_stopped(runner)) {
        const struct fb_run_request *request = &runner->requests[runner->next++];
        enum fb_status status;
        char *detail = refusal(request, &status);
        if (detail != NULL) {
            if (report_refusal(runner, request, status, detail, err) != 0)
                return -1;
            continue;
        }
        runner->bench.pin_cpu = least_pinned_cpu(runner);
        if (fb_run_start(&runner->runs[runner->running], request, &runner->bench, err) != 0)
            return -1;
        runner->running++;
    }
    return 0;
}

static int tick_ms(const struct runner *runner)
{
    for (size_t i = 0; i < runner->running; i++) {
        const struct fb_run *run = &runner->runs[i];
        uint64_t limit = run->request->memory_limit_bytes;
        uint64_t held =
            atomic_load_explicit(&run->control.shared->last_footprint_bytes, memory_order_relaxed);
        if (run->pidfd < 0 || (limit != 0 && held > limit / 2))
            return NEAR_LIMIT_TICK_MS;
    }
    return TICK_MS;
}

/* poll() passes over negative descriptors, so unused ones may stay in the array. */
static int wait_for_events(struct runner *runner, struct fb_error *err)
{
    for (size_t i = 0; i < runner->running; i++) {
        const struct fb_run *run = &runner->runs[i];
        const int descriptors[DESCRIPTORS] = {run->doorbell, run->pidfd, run->output, run->timer};
        for (size_t j = 0; j < DESCRIPTORS; j++)
            runner->polled[i * DESCRIPTORS + j] =
                (struct pollfd){.fd = descriptors[j], .events = POLLIN};
    }
    int ready = poll(runner->polled, runner->running * DESCRIPTORS, tick_ms(runner));
    if (ready < 0 && errno != EINTR)
        return fb_fail_errno(err, "cannot wait for the workers");
    if (ready < 0) /* the results are not valid then */
        for (size_t i = 0; i < runner->running * DESCRIPTORS; i++)
            runner->polled[i].revents = 0;
    return 0;
}

static int serve(struct fb_run *run, const struct pollfd polled[DESCRIPTORS], struct fb_error *err)
{
    if (polled[2].revents != 0 && run->output >= 0)
        fb_run_drain_output(run);
    if (polled[3].revents != 0 && run->timer >= 0)
        fb_run_sample(run);
    if (polled[0].revents != 0 && fb_run_answer(run, err) != 0)
        return -1;
    if (polled[1].revents != 0 || run->pidfd < 0)
        fb_run_reap(run);
    return 0;
}

static void tick(struct runner *runner)
{
    uint64_t now_ns = fb_clock_now_ns();
    for (size_t i = 0; i < runner->running; i++)
        fb_run_watch(&runner->runs[i]);
    if (now_ns < runner->next_tick_ns || runner->hooks->progress == NULL || runner->running == 0)
        return;
    runner->next_tick_ns = now_ns + TICK_MS * UINT64_C(1000000);
    struct fb_run_progress *progress = fb_alloc(runner->running, sizeof *progress);
    for (size_t i = 0; i < runner->running; i++)
        fb_run_progress(&runner->runs[i], &progress[i]);
    runner->hooks->progress(runner->hooks->user, progress, runner->running, runner->done,
                            runner->count);
    free(progress);
}

/* Reports the ended ones; the last running one takes the place. */
static int report_ended(struct runner *runner, struct fb_error *err)
{
    for (size_t i = 0; i < runner->running;) {
        struct fb_run *run = &runner->runs[i];
        if (!run->ended) {
            i++;
            continue;
        }
        const struct fb_run_request *request = run->request;
        struct fb_run_outcome outcome;
        fb_run_collect(run, &outcome);
        *run = runner->runs[--runner->running];
        if (report(runner, request, &outcome, err) != 0)
            return -1;
    }
    return 0;
}

static void interrupt(struct runner *runner)
{
    for (size_t i = 0; i < runner->running; i++)
        fb_run_stop(&runner->runs[i], FB_STATUS_INTERRUPTED, fb_strdup("stopped by a signal"));
}

static int run_all(struct runner *runner, struct fb_error *err)
{
    for (;;) {
        if (start_more(runner, err) != 0)
            return -1;
        if (runner->running == 0)
            return 0;
        if (wait_for_events(runner, err) != 0)
            return -1;
        for (size_t i = 0; i < runner->running; i++)
            if (serve(&runner->runs[i], &runner->polled[i * DESCRIPTORS], err) != 0)
                return -1;
        if (is_stopped(runner))
            interrupt(runner);
        tick(runner);
        if (report_ended(runner, err) != 0)
            return -1;
    }
}

int fb_runner_run(const struct fb_run_request *requests, size_t count, unsigned parallel,
                  const struct fb_runner_hooks *hooks, const volatile int *stop,
                  struct fb_error *err)
{
    struct runner runner = {.requests = requests,
                            .count = count,
                            .parallel = parallel > 0 ? parallel : 1,
                            .hooks = hooks,
                            .stop = stop};
    if (fb_runner_locate(runner.bench.worker, runner.bench.clock_library,
                         sizeof runner.bench.worker, err) != 0)
        return -1;
    (void)fb_thp_enabled(runner.bench.thp_enabled, sizeof runner.bench.thp_enabled);
    runner.bench.hooks = hooks;
    runner.runs = fb_alloc(runner.parallel, sizeof *runner.runs);
    runner.polled = fb_alloc(runner.parallel, DESCRIPTORS * sizeof *runner.polled);
    int result = run_all(&runner, err);
    for (size_t i = 0; i < runner.running; i++)
        fb_run_discard(&runner.runs[i]);
    free(runner.runs);
    free(runner.polled);
    return result;
}
