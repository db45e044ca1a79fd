/* Marks of a trace: phases, pauses, samples, checkpoints, the retained_* tail. */
#include "worker/giveback.h"
#include "worker/replay.h"

#include "worker/block.h"
#include "worker/clock.h"
#include "worker/doorbell.h"
#include "worker/owner.h"
#include "worker/statm.h"

#include <sys/resource.h>

static bool is_timing(const struct fb_actor *actor)
{
    return actor->replay->shared->mode == FB_MODE_TIMING;
}

static bool is_virtual(const struct fb_actor *actor)
{
    return actor->replay->shared->clock_mode == FB_CLOCK_VIRTUAL && !is_timing(actor);
}

static uint64_t elapsed_ns(const struct fb_actor *actor)
{
    if (is_virtual(actor))
        return atomic_load_explicit(&actor->replay->shared->now_ns, memory_order_relaxed);
    return fb_clock_raw_ns() - actor->replay->start_ns;
}

static void pause_until(struct fb_actor *actor, uint64_t until_ns)
{
    if (is_timing(actor))
        return;
    if (!is_virtual(actor))
        fb_clock_raw_sleep_until(actor->replay->start_ns + until_ns);
    else if (until_ns > elapsed_ns(actor))
        atomic_store_explicit(&actor->replay->shared->now_ns, until_ns, memory_order_relaxed);
}

static void sample(struct fb_actor *actor, uint32_t reason)
{
    struct fb_replay *replay = actor->replay;
    struct fb_shared *shared = replay->shared;
    uint32_t index = atomic_load_explicit(&shared->sample_used, memory_order_relaxed);
    if (is_timing(actor) || index >= shared->sample_capacity)
        return;
    uint64_t footprint = 0;
    if (fb_statm_footprint(replay->statm_fd, shared->page_bytes, &footprint) != 0) {
        fb_replay_fault(actor, FB_WORKER_OS_ERROR, actor->ops, "cannot read /proc/self/statm");
        return;
    }
    replay->samples[index] = (struct fb_sample){
        .t_ns = elapsed_ns(actor),
        .footprint_bytes = footprint,
        .live_bytes = actor->live_bytes,
        .touched_bytes = actor->touched_bytes,
        .volume_bytes = actor->volume_bytes,
        .iteration = actor->iteration,
        .phase = actor->phase,
        .reason = reason,
    };
    atomic_store_explicit(&shared->last_footprint_bytes, footprint, memory_order_relaxed);
    atomic_store_explicit(&shared->sample_used, index + 1, memory_order_release);
}

static void checkpoint(struct fb_actor *actor, const struct fb_op *op)
{
    if (is_timing(actor))
        return;
    struct fb_replay *replay = actor->replay;
    sample(actor, FB_SAMPLE_CHECKPOINT);
    uint64_t usable = 0;
    if (replay->usable_known)
        usable = fb_owner_usable_bytes(replay->objects, replay->shared->object_count);
    struct fb_bell bell = {.kind = FB_BELL_CHECKPOINT,
                           .checkpoint = op->flags,
                           .phase = (uint32_t)op->arg,
                           .sample = atomic_load(&replay->shared->sample_used) - 1,
                           .usable_bytes = usable};
    if (fb_doorbell_ring(&bell, true) != 0)
        fb_replay_fault(actor, FB_WORKER_OS_ERROR, op, "the harness is gone");
}

static uint64_t timeval_ns(struct timeval time)
{
    return (uint64_t)time.tv_sec * 1000000000U + (uint64_t)time.tv_usec * 1000U;
}

/* Takes the account at the start away and adds that at the end: the difference is the phases' own.
 */
static void account(struct fb_shared *shared, bool at_end)
{
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) != 0)
        return;
    uint64_t sign = at_end ? 1 : UINT64_MAX;
    shared->minor_faults += sign * (uint64_t)usage.ru_minflt;
    shared->major_faults += sign * (uint64_t)usage.ru_majflt;
    shared->user_ns += sign * timeval_ns(usage.ru_utime);
    shared->system_ns += sign * timeval_ns(usage.ru_stime);
    shared->wall_ticks += sign * fb_clock_ticks();
    shared->wall_ns += sign * fb_clock_raw_ns();
}

static void phase_begin(struct fb_actor *actor, const struct fb_op *op)
{
    if (op->arg == 0)
        account(actor->replay->shared, false);
    actor->phase = (uint32_t)op->arg;
    actor->iteration = 0;
    actor->degraded = false;
    actor->phase_begin_ns = elapsed_ns(actor);
    atomic_store_explicit(&actor->replay->shared->phase, actor->phase, memory_order_relaxed);
    atomic_store_explicit(&actor->replay->shared->iteration, 0, memory_order_relaxed);
}

static void finish(struct fb_actor *actor)
{
    struct fb_shared *shared = actor->replay->shared;
    actor->stopped = true;
    if (shared->end == FB_WORKER_RUNNING)
        shared->end = FB_WORKER_DONE;
}

static void phase_end(struct fb_actor *actor, const struct fb_op *op)
{
    struct fb_shared *shared = actor->replay->shared;
    actor->degraded = false;
    if (op->arg + 1 != actor->replay->trace.header->phase_count)
        return;
    account(shared, true);
    shared->ops_done = actor->ops_done;
    if (is_timing(actor))
        finish(actor); /* the tail measures memory, not speed */
}

static void iteration(struct fb_actor *actor, const struct fb_op *op)
{
    actor->iteration = op->arg;
    actor->degraded = false;
    atomic_store_explicit(&actor->replay->shared->iteration, op->arg, memory_order_relaxed);
}

/* What an idle service still does: a few cached small pairs and one 64 KiB pair. */
static void heartbeat(struct fb_actor *actor)
{
    if (is_timing(actor) || (actor->replay->shared->flags & FB_RUN_NULL) != 0)
        return;
    static const struct fb_trace_class plain = {.call = FB_CALL_MALLOC, .touch = FB_TOUCH_PAGES};
    static const size_t sizes[] = {64, 64, 64, 64, 65536};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        void *block = fb_block_call(&plain, sizes[i]);
        if (block != NULL)
            fb_block_touch_pages(block, 0, sizes[i]);
        free(block);
    }
}

void fb_replay_mark(struct fb_actor *actor, const struct fb_op *op)
{
    switch ((enum fb_op_kind)op->kind) {
    case FB_OP_END:
        finish(actor);
        break;
    case FB_OP_PACE:
        pause_until(actor, actor->phase_begin_ns + op->arg);
        break;
    case FB_OP_SLEEP:
        pause_until(actor, elapsed_ns(actor) + op->arg);
        break;
    case FB_OP_PHASE_BEGIN:
        phase_begin(actor, op);
        break;
    case FB_OP_PHASE_END:
        phase_end(actor, op);
        break;
    case FB_OP_ITERATION:
        iteration(actor, op);
        break;
    case FB_OP_SAMPLE:
        sample(actor, op->flags);
        break;
    case FB_OP_CHECKPOINT:
        checkpoint(actor, op);
        break;
    case FB_OP_PURGE:
        if (!is_timing(actor) && (actor->replay->shared->flags & FB_RUN_NULL) == 0)
            fb_giveback(actor->replay->purge);
        break;
    case FB_OP_HEARTBEAT:
        heartbeat(actor);
        break;
    default:
        fb_replay_fault(actor, FB_WORKER_BAD_TRACE, op, "an op that this worker does not know");
        break;
    }
}
