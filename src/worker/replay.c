#include "worker/replay.h"

#include "worker/block.h"
#include "worker/clock.h"
#include "worker/doorbell.h"
#include "worker/foreign.h"
#include "worker/threads.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define INLINE static inline __attribute__((always_inline))

/* Stands in the object table for a block under null: never dereferenced. */
#define NULL_BLOCK ((void *)(uintptr_t)64)

/* The process ends here and now: other threads may be waiting for a turn that never comes. */
void fb_replay_fault(struct fb_actor *actor, enum fb_worker_end end, const struct fb_op *op,
                     const char *text)
{
    struct fb_shared *shared = actor->replay->shared;
    int fault_errno = errno;
    if (__atomic_exchange_n(&shared->end, end, __ATOMIC_SEQ_CST) == FB_WORKER_RUNNING) {
        shared->fault_errno = fault_errno;
        shared->fault_op = (uint64_t)(op - actor->replay->trace.ops);
        shared->fault_slot = op->slot;
        strncpy(shared->fault_text, text, sizeof shared->fault_text - 1);
        const struct fb_bell bell = {.kind = FB_BELL_END};
        (void)fb_doorbell_ring(&bell, false);
    }
    _exit(0);
}

INLINE void advance(struct fb_actor *actor, uint64_t touched, struct fb_variant variant)
{
    if (!variant.virtual_clock)
        return;
    _Atomic uint64_t *now_ns = &actor->replay->shared->now_ns;
    uint64_t cost = fb_trace_cost_ns(actor->replay->trace.header, touched);
    if (variant.free_order) {
        (void)atomic_fetch_add_explicit(now_ns, cost, memory_order_relaxed);
        return;
    }
    /* Read and written back, not kept here: the allocator's own sleeps move the clock too. */
    uint64_t now = atomic_load_explicit(now_ns, memory_order_relaxed);
    atomic_store_explicit(now_ns, now + cost, memory_order_relaxed);
}

/* The rows have one writer each, so a load and a store do, without a locked add. */
INLINE void add(_Atomic int64_t *counter, int64_t amount)
{
    int64_t value = atomic_load_explicit(counter, memory_order_relaxed);
    atomic_store_explicit(counter, value + amount, memory_order_relaxed);
}

INLINE void add_up(_Atomic uint64_t *counter, uint64_t amount)
{
    uint64_t value = atomic_load_explicit(counter, memory_order_relaxed);
    atomic_store_explicit(counter, value + amount, memory_order_relaxed);
}

static void count_rarely(uint64_t *counter, uint64_t amount)
{
    (void)__atomic_fetch_add(counter, amount, __ATOMIC_RELAXED);
}

/* Uneven strides, so that a pattern's own period does not pick the same call each time. */
INLINE bool is_timed(struct fb_actor *actor, struct fb_variant variant)
{
    if (!variant.timing || variant.null || --actor->countdown != 0)
        return false;
    actor->stride_state = actor->stride_state * 1664525U + 1013904223U;
    actor->countdown = 1U + (actor->stride_state >> 8) % (2U * FB_LATENCY_STRIDE - 1U);
    return true;
}

/* NOLINTBEGIN(clang-analyzer-unix.Malloc): the trace frees what these return */
static __attribute__((noinline)) void *timed_call(struct fb_actor *actor,
                                                  const struct fb_trace_class *class, size_t size)
{
    uint64_t begin = fb_clock_ticks();
    void *block = fb_block_call(class, size);
    uint64_t end = fb_clock_ticks();
    count_rarely(&actor->replay->alloc_latency[fb_latency_bucket(end - begin)], 1);
    return block;
}

static __attribute__((noinline)) void *timed_realloc(struct fb_actor *actor, void *old, size_t size)
{
    uint64_t begin = fb_clock_ticks();
    void *block = fb_block_hide(realloc(old, size));
    uint64_t end = fb_clock_ticks();
    count_rarely(&actor->replay->alloc_latency[fb_latency_bucket(end - begin)], 1);
    return block;
}
/* A scope's allocation is a call like any other: its latency counts. */
static __attribute__((noinline)) void *
timed_scope_call(struct fb_actor *actor, const struct fb_trace_class *class, size_t size)
{
    uint64_t begin = fb_clock_ticks();
    void *block = fb_block_hide(fragbench_scope_alloc(size, class->align));
    uint64_t end = fb_clock_ticks();
    count_rarely(&actor->replay->alloc_latency[fb_latency_bucket(end - begin)], 1);
    return block;
}
/* NOLINTEND(clang-analyzer-unix.Malloc) */

static __attribute__((noinline)) void timed_free(struct fb_actor *actor, void *block)
{
    uint64_t begin = fb_clock_ticks();
    free(block);
    uint64_t end = fb_clock_ticks();
    count_rarely(&actor->replay->free_latency[fb_latency_bucket(end - begin)], 1);
}

/* Nobody may wait for an object that will not come. */
static void leave_refused(struct fb_actor *actor, const struct fb_op *op)
{
    if (!actor->replay->trace.classes[op->class_index].shared)
        return;
    __atomic_store_n(&actor->replay->objects[op->slot].address, FB_OBJECT_REFUSED,
                     __ATOMIC_SEQ_CST);
    if (actor->replay->variant.free_order)
        fb_threads_announce(op->slot);
}

/* An allocation that returned NULL: the rest of the iteration is skipped, or the run fails. */
static __attribute__((noinline)) void refuse(struct fb_actor *actor, const struct fb_op *op)
{
    struct fb_shared *shared = actor->replay->shared;
    count_rarely(&shared->refused_calls, 1);
    count_rarely(&shared->refused_bytes, op->arg);
    if (actor->replay->trace.phases[actor->phase].fail_on_refusal)
        fb_replay_fault(actor, FB_WORKER_REFUSED, op, "an allocation was refused");
    actor->degraded = true;
    count_rarely(&shared->degraded_iterations, 1);
}

static __attribute__((noinline)) void skip_alloc(struct fb_actor *actor, const struct fb_op *op)
{
    count_rarely(&actor->replay->shared->skipped_calls, 1);
    leave_refused(actor, op);
}

/* What each op needs, in registers: a store to memory lets the compiler keep no pointer that it
 * would have to follow again. */
struct hot {
    struct fb_actor *actor;
    const struct fb_trace_class *classes;
    struct fb_object *objects;
    struct fb_object_detail *details;
    struct fb_counters *counters;
};

INLINE void *call(const struct hot *hot, const struct fb_trace_class *class, const struct fb_op *op,
                  struct fb_variant variant)
{
    if (variant.null)
        return NULL_BLOCK;
    if (__builtin_expect((op->flags & FB_OP_FLAG_SCOPE) != 0 && hot->actor->replay->scopes, false))
        return is_timed(hot->actor, variant)
                   ? timed_scope_call(hot->actor, class, op->arg)
                   : fb_block_hide(fragbench_scope_alloc(op->arg, class->align));
    return is_timed(hot->actor, variant) ? timed_call(hot->actor, class, op->arg)
                                         : fb_block_call(class, op->arg);
}

INLINE void store(const struct hot *hot, const struct fb_op *op, void *block,
                  const struct fb_trace_class *class, struct fb_variant variant)
{
    struct fb_object *object = &hot->objects[op->slot];
    object->size_class = FB_OBJECT_PACK(op->arg, op->class_index);
    if (variant.explain)
        hot->details[op->slot].born_ns = fb_replay_elapsed_ns(hot->actor);
    if (variant.free_order && class->shared) {
        __atomic_store_n(&object->address, block, __ATOMIC_SEQ_CST);
        fb_threads_announce(op->slot);
    } else {
        object->address = block;
    }
}

INLINE void do_alloc(const struct hot *hot, const struct fb_op *op, struct fb_variant variant)
{
    if (__builtin_expect(hot->actor->degraded, false)) {
        skip_alloc(hot->actor, op);
        return;
    }
    const struct fb_trace_class *class = &hot->classes[op->class_index];
    void *block = call(hot, class, op, variant);
    add_up(&hot->counters->ops_done, 1);
    if (__builtin_expect(block == NULL, false)) {
        advance(hot->actor, 0, variant);
        refuse(hot->actor, op);
        leave_refused(hot->actor, op);
        return;
    }
    uint64_t touched = fb_trace_touched_bytes(class, op->arg);
    if (!variant.null) {
        fb_block_touch(class, block, 0, op->arg, touched);
        if (variant.verify)
            fb_block_stamp(block, op->slot, touched);
    }
    add(&hot->counters->live_bytes, (int64_t)op->arg);
    add(&hot->counters->touched_bytes, (int64_t)touched);
    add_up(&hot->counters->volume_bytes, op->arg);
    store(hot, op, block, class, variant);
    advance(hot->actor, touched, variant);
}

INLINE void check_stamp(const struct hot *hot, const struct fb_op *op, const void *block,
                        uint64_t touched, struct fb_variant variant)
{
    if (variant.verify && !variant.null && !fb_block_stamp_holds(block, op->slot, touched))
        fb_replay_fault(hot->actor, FB_WORKER_CORRUPTED, op,
                        "a block's content was changed by someone else");
}

INLINE void release(const struct hot *hot, const struct fb_op *op, void *block,
                    struct fb_variant variant)
{
    if (variant.null)
        return;
    if (__builtin_expect((op->flags & FB_OP_FLAG_SCOPE) != 0 && hot->actor->replay->scopes, false))
        return; /* its scope's end gives it back */
    if (is_timed(hot->actor, variant))
        timed_free(hot->actor, block);
    else
        free(fb_block_hide(block));
}

/* The object an op is about, or NULL when its allocation was refused or skipped. */
INLINE struct fb_object *object_of(const struct hot *hot, const struct fb_op *op,
                                   struct fb_variant variant)
{
    struct fb_object *object = &hot->objects[op->slot];
    if (variant.free_order && (op->flags & FB_OP_FLAG_FOREIGN) != 0)
        fb_threads_wait_object(object, op->slot);
    bool present = (uintptr_t)object->address > (uintptr_t)FB_OBJECT_REFUSED;
    return __builtin_expect(present, true) ? object : NULL;
}

INLINE void do_free(const struct hot *hot, const struct fb_op *op, struct fb_variant variant)
{
    struct fb_object *object = object_of(hot, op, variant);
    if (object == NULL) {
        hot->objects[op->slot].address = NULL;
        return;
    }
    const struct fb_trace_class *class = &hot->classes[op->class_index];
    uint64_t size = FB_OBJECT_SIZE(object->size_class);
    uint64_t touched = fb_trace_touched_bytes(class, size);
    check_stamp(hot, op, object->address, touched, variant);
    release(hot, op, object->address, variant);
    object->address = NULL;
    add_up(&hot->counters->ops_done, 1);
    add(&hot->counters->live_bytes, -(int64_t)size);
    add(&hot->counters->touched_bytes, -(int64_t)touched);
    advance(hot->actor, 0, variant);
}

INLINE void *call_realloc(const struct hot *hot, void *old, size_t size, struct fb_variant variant)
{
    if (variant.null)
        return NULL_BLOCK;
    return is_timed(hot->actor, variant) ? timed_realloc(hot->actor, old, size)
                                         : fb_block_hide(realloc(fb_block_hide(old), size));
}

INLINE void do_realloc(const struct hot *hot, const struct fb_op *op, struct fb_variant variant)
{
    struct fb_object *object = object_of(hot, op, variant);
    if (__builtin_expect(hot->actor->degraded || object == NULL, false)) {
        count_rarely(&hot->actor->replay->shared->skipped_calls, 1);
        return;
    }
    const struct fb_trace_class *class = &hot->classes[op->class_index];
    uint64_t old_size = FB_OBJECT_SIZE(object->size_class);
    uint64_t old_touched = fb_trace_touched_bytes(class, old_size);
    uint64_t touched = fb_trace_touched_bytes(class, op->arg);
    check_stamp(hot, op, object->address, old_touched, variant);
    void *block = call_realloc(hot, object->address, op->arg, variant);
    add_up(&hot->counters->ops_done, 1);
    if (__builtin_expect(block == NULL, false)) {
        advance(hot->actor, 0, variant);
        refuse(hot->actor, op);
        return;
    }
    uint64_t kept = old_touched < touched ? old_touched : touched;
    check_stamp(hot, op, block, kept, variant);
    if (!variant.null) {
        fb_block_touch(class, block, kept, op->arg, touched);
        if (variant.verify)
            fb_block_stamp(block, op->slot, touched);
    }
    object->address = block;
    object->size_class = FB_OBJECT_PACK(op->arg, op->class_index);
    add(&hot->counters->live_bytes, (int64_t)(op->arg - old_size));
    add(&hot->counters->touched_bytes, (int64_t)(touched - old_touched));
    add_up(&hot->counters->volume_bytes, op->arg > old_size ? op->arg - old_size : 0);
    advance(hot->actor, touched > old_touched ? touched - old_touched : 0, variant);
}

INLINE void run_stream(struct fb_actor *actor, const struct fb_op *op, struct fb_variant variant)
{
    const struct fb_op *ops = actor->replay->trace.ops;
    _Atomic uint64_t *op_index = actor->op_index;
    const struct hot tables = {.actor = actor,
                               .classes = actor->replay->trace.classes,
                               .objects = actor->replay->objects,
                               .details = actor->replay->details,
                               .counters = actor->counters};
    const struct hot *hot = &tables;
    for (; !actor->stopped; op++) {
        atomic_store_explicit(op_index, (uint64_t)(op - ops), memory_order_relaxed);
        switch (op->kind) {
        case FB_OP_ALLOC:
            do_alloc(hot, op, variant);
            break;
        case FB_OP_FREE:
            do_free(hot, op, variant);
            break;
        case FB_OP_REALLOC:
            do_realloc(hot, op, variant);
            break;
        default:
            fb_replay_mark(actor, op);
            break;
        }
    }
}

/* One loop a row; the last, which takes all as it comes, serves the rest. */
#define LOOPS(X)                              \
    X(.virtual_clock = true)                  \
    X(.virtual_clock = true, .explain = true) \
    X(.virtual_clock = true, .null = true)    \
    X(.timing = true, .free_order = true)     \
    X(.timing = true, .free_order = true, .null = true)

static bool same(struct fb_variant left, struct fb_variant right)
{
    return left.null == right.null && left.timing == right.timing && left.verify == right.verify &&
           left.virtual_clock == right.virtual_clock && left.free_order == right.free_order &&
           left.explain == right.explain;
}

void fb_replay_stream(struct fb_actor *actor)
{
    const struct fb_trace *trace = &actor->replay->trace;
    const struct fb_op *op = trace->ops + trace->streams[actor->stream].first_op;
    struct fb_variant wanted = actor->replay->variant;
#define TRY(...)                                                 \
    if (same(wanted, (struct fb_variant){__VA_ARGS__})) {        \
        run_stream(actor, op, (struct fb_variant){__VA_ARGS__}); \
        return;                                                  \
    }
    LOOPS(TRY)
#undef TRY
    run_stream(actor, op, wanted);
}

static struct fb_variant variant_of(const struct fb_shared *shared)
{
    bool timing = shared->mode == FB_MODE_TIMING;
    return (struct fb_variant){
        .null = (shared->flags & FB_RUN_NULL) != 0,
        .verify = (shared->flags & FB_RUN_VERIFY) != 0 && !timing,
        .timing = timing,
        .virtual_clock = shared->clock_mode == FB_CLOCK_VIRTUAL && !timing,
        .free_order = shared->order == FB_ORDER_FREE || timing,
        .explain = (shared->flags & FB_RUN_EXPLAIN) != 0 && !timing,
    };
}

void fb_replay_run(struct fb_replay *replay)
{
    replay->variant = variant_of(replay->shared);
    if (fb_threads_open(replay) != 0)
        _exit(0); /* END never rang: the harness calls it a crash */
    replay->start_ns = fb_clock_raw_ns();
    fb_replay_stream(&replay->actors[0]);
}
