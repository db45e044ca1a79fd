/* Marks of a trace: phases, pauses, samples, checkpoints, the retained_* tail. */
#include "worker/giveback.h"
#include "worker/replay.h"

#include "worker/block.h"
#include "worker/clock.h"
#include "worker/doorbell.h"
#include "worker/explain.h"
#include "worker/foreign.h"
#include "worker/owner.h"
#include "worker/statm.h"
#include "worker/threads.h"

#include <sys/resource.h>
#include <unistd.h>

static bool is_timing(const struct fb_actor *actor)
{
    return actor->replay->variant.timing;
}

uint64_t fb_replay_elapsed_ns(const struct fb_actor *actor)
{
    if (actor->replay->variant.virtual_clock)
        return atomic_load_explicit(&actor->replay->shared->now_ns, memory_order_relaxed);
    return fb_clock_raw_ns() - actor->replay->start_ns;
}

/* Threads that jump at once must not move the clock back. */
static void jump(_Atomic uint64_t *now_ns, uint64_t until_ns)
{
    uint64_t now = atomic_load_explicit(now_ns, memory_order_relaxed);
    while (until_ns > now && !atomic_compare_exchange_weak(now_ns, &now, until_ns)) {
    }
}

static void pause_until(struct fb_actor *actor, uint64_t until_ns)
{
    if (is_timing(actor))
        return;
    if (actor->replay->variant.virtual_clock)
        jump(&actor->replay->shared->now_ns, until_ns);
    else
        fb_clock_raw_sleep_until(actor->replay->start_ns + until_ns);
}

static void pause_for(struct fb_actor *actor, const struct fb_op *op)
{
    bool held = (op->flags & FB_OP_FLAG_SINCE_HOLD) != 0;
    pause_until(actor, (held ? actor->hold_ns : fb_replay_elapsed_ns(actor)) + op->arg);
}

/* -1: no sample was taken. */
static int64_t sample(struct fb_actor *actor, uint32_t reason)
{
    struct fb_replay *replay = actor->replay;
    struct fb_shared *shared = replay->shared;
    if (is_timing(actor))
        return -1;
    uint64_t footprint = 0;
    if (fb_statm_footprint(replay->statm_fd, shared->page_bytes, &footprint) != 0)
        fb_replay_fault(actor, FB_WORKER_OS_ERROR, replay->trace.ops,
                        "cannot read /proc/self/statm");
    uint32_t index = atomic_fetch_add(&shared->sample_used, 1);
    if (index >= shared->sample_capacity) {
        (void)atomic_fetch_sub(&shared->sample_used, 1);
        return -1;
    }
    replay->samples[index] = (struct fb_sample){
        .t_ns = fb_replay_elapsed_ns(actor),
        .footprint_bytes = footprint,
        .live_bytes = fb_shared_live_bytes(shared),
        .touched_bytes = fb_shared_touched_bytes(shared),
        .volume_bytes = fb_shared_volume_bytes(shared),
        .iteration = actor->iteration,
        .phase = actor->phase,
        .reason = reason,
    };
    atomic_store_explicit(&shared->last_footprint_bytes, footprint, memory_order_relaxed);
    return index;
}

static int ring_checkpoint(struct fb_actor *actor, const struct fb_op *op,
                           const struct fb_bell *bell)
{
    int answer = fb_doorbell_ring(bell, true);
    if (answer < 0)
        fb_replay_fault(actor, FB_WORKER_OS_ERROR, op, "the harness is gone");
    return answer;
}

/* The run is one for looking at what a purge leaves here; it has no rest. */
static void purge_and_end(struct fb_actor *actor, const struct fb_op *op, struct fb_bell *bell)
{
    struct fb_replay *replay = actor->replay;
    if (!replay->variant.null) {
        fb_explain_account(replay->shared, replay->purge);
        fb_threads_empty_caches(actor);
        fb_giveback_own(replay->purge);
        fb_giveback(replay->purge);
    }
    bell->purged = 1;
    (void)ring_checkpoint(actor, op, bell);
    __atomic_store_n(&replay->shared->end, FB_WORKER_DONE, __ATOMIC_SEQ_CST);
    const struct fb_bell end = {.kind = FB_BELL_END};
    (void)fb_doorbell_ring(&end, false);
    _exit(0);
}

static void checkpoint(struct fb_actor *actor, const struct fb_op *op)
{
    if (is_timing(actor))
        return;
    struct fb_replay *replay = actor->replay;
    int64_t index = sample(actor, FB_SAMPLE_CHECKPOINT);
    uint64_t usable = 0;
    /* Other threads may be freeing what is looked at where order is free. */
    if (replay->usable_known &&
        (!replay->variant.free_order || replay->shared->counters_count == 1))
        usable =
            fb_owner_usable_bytes(replay->objects, replay->details, replay->shared->object_count);
    if (!replay->variant.null)
        fb_owner_read_stats(replay->shared);
    struct fb_bell bell = {.kind = FB_BELL_CHECKPOINT,
                           .checkpoint = op->flags,
                           .phase = (uint32_t)op->arg,
                           .sample = (uint32_t)index,
                           .usable_bytes = usable};
    if (ring_checkpoint(actor, op, &bell) == FB_ANSWER_PURGE)
        purge_and_end(actor, op, &bell);
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
    actor->phase_begin_ns = fb_replay_elapsed_ns(actor);
    atomic_store_explicit(&actor->replay->shared->phase, actor->phase, memory_order_relaxed);
    atomic_store_explicit(&actor->replay->shared->iteration, 0, memory_order_relaxed);
}

static void finish(struct fb_actor *actor)
{
    struct fb_shared *shared = actor->replay->shared;
    actor->stopped = true;
    uint32_t running = FB_WORKER_RUNNING;
    if (actor == &actor->replay->actors[0])
        (void)__atomic_compare_exchange_n(&shared->end, &running, FB_WORKER_DONE, false,
                                          __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

static void phase_end(struct fb_actor *actor, const struct fb_op *op)
{
    struct fb_shared *shared = actor->replay->shared;
    actor->degraded = false;
    if (op->arg + 1 != actor->replay->trace.header->phase_count)
        return;
    account(shared, true);
    for (uint64_t i = 0; i < shared->counters_count; i++)
        shared->ops_done += atomic_load(&actor->replay->counters[i].ops_done);
    if (is_timing(actor))
        finish(actor); /* the tail measures memory, not speed */
}

static void iteration(struct fb_actor *actor, const struct fb_op *op)
{
    actor->iteration = op->arg;
    actor->phase = actor->replay->actors[0].phase;
    actor->degraded = false;
    atomic_store_explicit(&actor->replay->shared->iteration, op->arg, memory_order_relaxed);
}

/* What an idle service still does: a few cached small pairs and one 64 KiB pair. */
static void heartbeat(struct fb_actor *actor)
{
    if (is_timing(actor) || actor->replay->variant.null)
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

static void purge(struct fb_actor *actor, const struct fb_op *op)
{
    if (is_timing(actor) || actor->replay->variant.null)
        return;
    fb_giveback_own(actor->replay->purge);
    if ((op->flags & FB_OP_FLAG_OWN) == 0)
        fb_giveback(actor->replay->purge);
}

static void scope(struct fb_actor *actor, bool begins)
{
    if (!actor->replay->scopes)
        return;
    if (begins)
        fragbench_scope_begin();
    else
        fragbench_scope_end();
}

static void on_end(struct fb_actor *actor, const struct fb_op *op)
{
    (void)op;
    finish(actor);
}

static void on_pace(struct fb_actor *actor, const struct fb_op *op)
{
    pause_until(actor, actor->replay->actors[0].phase_begin_ns + op->arg);
}

static void on_hold(struct fb_actor *actor, const struct fb_op *op)
{
    (void)op;
    actor->hold_ns = fb_replay_elapsed_ns(actor);
}

static void on_sample(struct fb_actor *actor, const struct fb_op *op)
{
    (void)sample(actor, op->flags);
}

static void on_heartbeat(struct fb_actor *actor, const struct fb_op *op)
{
    (void)op;
    heartbeat(actor);
}

static void on_scope_begin(struct fb_actor *actor, const struct fb_op *op)
{
    (void)op;
    scope(actor, true);
}

static void on_scope_end(struct fb_actor *actor, const struct fb_op *op)
{
    (void)op;
    scope(actor, false);
}

typedef void mark_function(struct fb_actor *actor, const struct fb_op *op);

static mark_function *const marks[FB_OP_KIND_COUNT] = {
    [FB_OP_END] = on_end,
    [FB_OP_PACE] = on_pace,
    [FB_OP_SLEEP] = pause_for,
    [FB_OP_PHASE_BEGIN] = phase_begin,
    [FB_OP_PHASE_END] = phase_end,
    [FB_OP_ITERATION] = iteration,
    [FB_OP_SAMPLE] = on_sample,
    [FB_OP_CHECKPOINT] = checkpoint,
    [FB_OP_PURGE] = purge,
    [FB_OP_HEARTBEAT] = on_heartbeat,
    [FB_OP_TURN] = fb_threads_turn,
    [FB_OP_THREAD_START] = fb_threads_start,
    [FB_OP_THREAD_JOIN] = fb_threads_join,
    [FB_OP_PARK] = fb_threads_park,
    [FB_OP_RESUME] = fb_threads_resume,
    [FB_OP_AWAIT] = fb_threads_await,
    [FB_OP_HOLD] = on_hold,
    [FB_OP_SCOPE_BEGIN] = on_scope_begin,
    [FB_OP_SCOPE_END] = on_scope_end,
};

void fb_replay_mark(struct fb_actor *actor, const struct fb_op *op)
{
    if (op->kind >= FB_OP_KIND_COUNT || marks[op->kind] == NULL)
        fb_replay_fault(actor, FB_WORKER_BAD_TRACE, op, "an op that this worker does not know");
    marks[op->kind](actor, op);
}
