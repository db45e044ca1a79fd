#include "worker/replay.h"

#include "worker/block.h"
#include "worker/clock.h"

#include <errno.h>
#include <string.h>

/* What one instance of the loop does. Constants at each call of run_stream(), so the
 * compiler makes a lean loop of each: a branch an op would cost as much as the bookkeeping. */
struct variant {
    bool null;   /* no allocator call, no touch */
    bool timing; /* real clock, latencies, no published progress */
    bool verify;
    bool virtual_clock;
};

#define INLINE static inline __attribute__((always_inline))

/* Stands in the object table for a block under null: never dereferenced. */
#define NULL_BLOCK ((void *)(uintptr_t)64)

void fb_replay_fault(struct fb_actor *actor, enum fb_worker_end end, const struct fb_op *op,
                     const char *text)
{
    struct fb_shared *shared = actor->replay->shared;
    actor->stopped = true;
    if (shared->end != FB_WORKER_RUNNING)
        return;
    shared->fault_errno = errno;
    shared->fault_op = (uint64_t)(op - actor->ops);
    shared->fault_slot = op->slot;
    strncpy(shared->fault_text, text, sizeof shared->fault_text - 1);
    shared->end = end;
}

INLINE void advance(struct fb_actor *actor, uint64_t touched, struct variant variant)
{
    if (!variant.virtual_clock)
        return;
    /* Read and written back, not kept here: the allocator's own sleeps move the clock too. */
    _Atomic uint64_t *now_ns = &actor->replay->shared->now_ns;
    uint64_t now = atomic_load_explicit(now_ns, memory_order_relaxed);
    now += fb_trace_cost_ns(actor->replay->trace.header, touched);
    atomic_store_explicit(now_ns, now, memory_order_relaxed);
}

/* Uneven strides, so that a pattern's own period does not pick the same call each time. */
INLINE bool is_timed(struct fb_actor *actor, struct variant variant)
{
    if (!variant.timing || variant.null || --actor->countdown != 0)
        return false;
    actor->stride_state = actor->stride_state * 1664525U + 1013904223U;
    actor->countdown = 1U + (actor->stride_state >> 8) % (2U * FB_LATENCY_STRIDE - 1U);
    return true;
}

static __attribute__((noinline)) void *timed_call(struct fb_actor *actor,
                                                  const struct fb_trace_class *class, size_t size)
{
    uint64_t begin = fb_clock_ticks();
    void *block = fb_block_call(class, size);
    uint64_t end = fb_clock_ticks();
    actor->replay->alloc_latency[fb_latency_bucket(end - begin)]++;
    return block;
}

static __attribute__((noinline)) void *timed_realloc(struct fb_actor *actor, void *old, size_t size)
{
    uint64_t begin = fb_clock_ticks();
    void *block = fb_block_hide(realloc(old, size));
    uint64_t end = fb_clock_ticks();
    actor->replay->alloc_latency[fb_latency_bucket(end - begin)]++;
    return block;
}

static __attribute__((noinline)) void timed_free(struct fb_actor *actor, void *block)
{
    uint64_t begin = fb_clock_ticks();
    free(block);
    uint64_t end = fb_clock_ticks();
    actor->replay->free_latency[fb_latency_bucket(end - begin)]++;
}

/* An allocation that returned NULL: the rest of the iteration is skipped, or the run fails. */
static __attribute__((noinline)) void refuse(struct fb_actor *actor, const struct fb_op *op)
{
    struct fb_shared *shared = actor->replay->shared;
    shared->refused_calls++;
    shared->refused_bytes += op->arg;
    if (actor->replay->trace.phases[actor->phase].fail_on_refusal) {
        fb_replay_fault(actor, FB_WORKER_REFUSED, op, "an allocation was refused");
        return;
    }
    actor->degraded = true;
    shared->degraded_iterations++;
}

INLINE void do_alloc(struct fb_actor *actor, const struct fb_op *op, struct variant variant)
{
    if (__builtin_expect(actor->degraded, false)) {
        actor->replay->shared->skipped_calls++;
        return;
    }
    const struct fb_trace_class *class = &actor->replay->trace.classes[op->class_index];
    void *block = NULL_BLOCK;
    if (!variant.null)
        block = is_timed(actor, variant) ? timed_call(actor, class, op->arg)
                                         : fb_block_call(class, op->arg);
    actor->ops_done++;
    if (__builtin_expect(block == NULL, false)) {
        advance(actor, 0, variant);
        refuse(actor, op);
        return;
    }
    uint64_t touched = fb_trace_touched_bytes(class, op->arg);
    if (!variant.null) {
        fb_block_touch(class, block, 0, op->arg, touched);
        if (variant.verify)
            fb_block_stamp(block, op->slot, touched);
    }
    struct fb_object *object = &actor->replay->objects[op->slot];
    object->address = block;
    object->size_class = FB_OBJECT_PACK(op->arg, op->class_index);
    actor->live_bytes += op->arg;
    actor->touched_bytes += touched;
    actor->volume_bytes += op->arg;
    advance(actor, touched, variant);
}

INLINE bool stamp_broken(struct fb_actor *actor, const struct fb_op *op, const void *block,
                         uint64_t touched, struct variant variant)
{
    if (!variant.verify || variant.null || fb_block_stamp_holds(block, op->slot, touched))
        return false;
    fb_replay_fault(actor, FB_WORKER_CORRUPTED, op,
                    "a block's content was changed by someone else");
    return true;
}

INLINE void do_free(struct fb_actor *actor, const struct fb_op *op, struct variant variant)
{
    struct fb_object *object = &actor->replay->objects[op->slot];
    if (__builtin_expect(object->address == NULL, false))
        return; /* its allocation was refused or skipped */
    const struct fb_trace_class *class = &actor->replay->trace.classes[op->class_index];
    uint64_t size = FB_OBJECT_SIZE(object->size_class);
    uint64_t touched = fb_trace_touched_bytes(class, size);
    if (stamp_broken(actor, op, object->address, touched, variant))
        return;
    if (!variant.null) {
        if (is_timed(actor, variant))
            timed_free(actor, object->address);
        else
            free(fb_block_hide(object->address));
    }
    object->address = NULL;
    actor->ops_done++;
    actor->live_bytes -= size;
    actor->touched_bytes -= touched;
    advance(actor, 0, variant);
}

INLINE void do_realloc(struct fb_actor *actor, const struct fb_op *op, struct variant variant)
{
    struct fb_object *object = &actor->replay->objects[op->slot];
    if (__builtin_expect(actor->degraded || object->address == NULL, false)) {
        actor->replay->shared->skipped_calls++;
        return;
    }
    const struct fb_trace_class *class = &actor->replay->trace.classes[op->class_index];
    uint64_t old_size = FB_OBJECT_SIZE(object->size_class);
    uint64_t old_touched = fb_trace_touched_bytes(class, old_size);
    uint64_t touched = fb_trace_touched_bytes(class, op->arg);
    if (stamp_broken(actor, op, object->address, old_touched, variant))
        return;
    void *block = NULL_BLOCK;
    if (!variant.null)
        block = is_timed(actor, variant)
                    ? timed_realloc(actor, object->address, op->arg)
                    : fb_block_hide(realloc(fb_block_hide(object->address), op->arg));
    actor->ops_done++;
    if (__builtin_expect(block == NULL, false)) {
        advance(actor, 0, variant);
        refuse(actor, op);
        return;
    }
    uint64_t kept = old_touched < touched ? old_touched : touched;
    if (stamp_broken(actor, op, block, kept, variant))
        return;
    if (!variant.null) {
        fb_block_touch(class, block, kept, op->arg, touched);
        if (variant.verify)
            fb_block_stamp(block, op->slot, touched);
    }
    object->address = block;
    object->size_class = FB_OBJECT_PACK(op->arg, op->class_index);
    actor->live_bytes += op->arg - old_size;
    actor->touched_bytes += touched - old_touched;
    actor->volume_bytes += op->arg > old_size ? op->arg - old_size : 0;
    advance(actor, touched > old_touched ? touched - old_touched : 0, variant);
}

INLINE void publish(struct fb_actor *actor, const struct fb_op *op, struct variant variant)
{
    struct fb_shared *shared = actor->replay->shared;
    atomic_store_explicit(&shared->op_index, (uint64_t)(op - actor->ops), memory_order_relaxed);
    if (variant.timing)
        return;
    atomic_store_explicit(&shared->live_bytes, actor->live_bytes, memory_order_relaxed);
    atomic_store_explicit(&shared->touched_bytes, actor->touched_bytes, memory_order_relaxed);
}

INLINE void run_stream(struct fb_actor *actor, const struct fb_op *op, struct variant variant)
{
    for (; !actor->stopped; op++) {
        publish(actor, op, variant);
        switch (op->kind) {
        case FB_OP_ALLOC:
            do_alloc(actor, op, variant);
            break;
        case FB_OP_FREE:
            do_free(actor, op, variant);
            break;
        case FB_OP_REALLOC:
            do_realloc(actor, op, variant);
            break;
        default:
            fb_replay_mark(actor, op);
            break;
        }
    }
}

static void run_memory(struct fb_actor *actor, const struct fb_op *op, struct variant wanted)
{
    if (wanted.virtual_clock && wanted.null)
        run_stream(actor, op, (struct variant){.virtual_clock = true, .null = true});
    else if (wanted.virtual_clock && wanted.verify)
        run_stream(actor, op, (struct variant){.virtual_clock = true, .verify = true});
    else if (wanted.virtual_clock)
        run_stream(actor, op, (struct variant){.virtual_clock = true});
    else if (wanted.null)
        run_stream(actor, op, (struct variant){.null = true});
    else if (wanted.verify)
        run_stream(actor, op, (struct variant){.verify = true});
    else
        run_stream(actor, op, (struct variant){0});
}

void fb_replay_run(struct fb_replay *replay)
{
    const struct fb_trace *trace = &replay->trace;
    const struct fb_shared *shared = replay->shared;
    struct fb_actor actor = {.replay = replay, .ops = trace->ops, .countdown = FB_LATENCY_STRIDE};
    const struct fb_op *op = trace->ops + trace->streams[0].first_op;
    struct variant wanted = {.null = (shared->flags & FB_RUN_NULL) != 0,
                             .verify = (shared->flags & FB_RUN_VERIFY) != 0,
                             .timing = shared->mode == FB_MODE_TIMING,
                             .virtual_clock = shared->clock_mode == FB_CLOCK_VIRTUAL};
    replay->start_ns = fb_clock_raw_ns();
    if (wanted.timing && wanted.null)
        run_stream(&actor, op, (struct variant){.timing = true, .null = true});
    else if (wanted.timing)
        run_stream(&actor, op, (struct variant){.timing = true});
    else
        run_memory(&actor, op, wanted);
}
