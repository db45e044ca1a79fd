/* Samples taken from outside, real clock only: on CLOCK_MONOTONIC deadlines that do not drift. */
#include "harness/run.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "harness/proc.h"

#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S UINT64_C(1000000000)

static struct timespec timespec_of(uint64_t ns)
{
    return (struct timespec){(time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S)};
}

void fb_run_start_timer(struct fb_run *run)
{
    const struct fb_run_request *request = run->request;
    if (request->clock != FB_CLOCK_REAL || request->mode == FB_MODE_TIMING ||
        request->interval_ns == 0)
        return;
    struct itimerspec when = {.it_interval = timespec_of(request->interval_ns),
                              .it_value = timespec_of(run->ready_ns + request->interval_ns)};
    run->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    if (run->timer >= 0)
        (void)timerfd_settime(run->timer, TFD_TIMER_ABSTIME, &when, NULL);
}

/* Requested bytes so far: the worker publishes them with its samples only. */
static uint64_t last_volume(const struct fb_run *run)
{
    const struct fb_shared *shared = run->control.shared;
    uint32_t used = atomic_load_explicit(&shared->sample_used, memory_order_acquire);
    if (used == 0 || used > run->control.sample_capacity)
        return 0;
    const char *base = (const char *)shared + run->control.sample_offset;
    return ((const struct fb_sample *)(const void *)base)[used - 1].volume_bytes;
}

void fb_run_sample(struct fb_run *run)
{
    struct fb_shared *shared = run->control.shared;
    struct fb_statm statm;
    uint64_t ticks;
    if (read(run->timer, &ticks, sizeof ticks) != (ssize_t)sizeof ticks)
        return;
    run->missed_ticks += ticks - 1;
    uint64_t now_ns = fb_clock_now_ns();
    if (fb_proc_statm(run->pid, &statm, NULL) != 0 || statm.resident_bytes == 0)
        return; /* it has just ended */
    if (run->outside_count == run->outside_capacity) {
        run->outside_capacity = run->outside_capacity == 0 ? 256 : run->outside_capacity * 2;
        run->outside = fb_realloc(run->outside, run->outside_capacity, sizeof *run->outside);
    }
    run->outside[run->outside_count++] = (struct fb_point){
        .t_ns = now_ns - run->ready_ns,
        .footprint_bytes = statm.resident_bytes - statm.shared_bytes,
        .live_bytes = fb_shared_live_bytes(shared),
        .touched_bytes = fb_shared_touched_bytes(shared),
        .volume_bytes = last_volume(run),
        .iteration = atomic_load_explicit(&shared->iteration, memory_order_relaxed),
        .phase = atomic_load_explicit(&shared->phase, memory_order_relaxed),
        .reason = FB_SAMPLE_TIME,
    };
}
