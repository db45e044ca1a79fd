#include "worker/threads.h"

#include "worker/giveback.h"

#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Room for static TLS, which libraries make large (ThreadSanitizer wants 900 KiB). */
enum { STACK_BYTES = 1 << 20, BELLS = 64 };

/* Who waits for an object of a slot waits at the bell of its number. */
static struct bell {
    _Alignas(64) _Atomic uint32_t rung;
    _Atomic uint32_t waiters;
} bells[BELLS];

static void futex_wait(_Atomic uint32_t *word, uint32_t while_value)
{
    (void)syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, while_value, NULL, NULL, 0);
}

static void futex_wake(_Atomic uint32_t *word)
{
    (void)syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

static void set(_Atomic uint32_t *word, uint32_t value)
{
    atomic_store(word, value);
    futex_wake(word);
}

static void wait_while(_Atomic uint32_t *word, uint32_t value)
{
    while (atomic_load(word) == value)
        futex_wait(word, value);
}

static void *map_zeroed(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static void prepare(struct fb_replay *replay, struct fb_actor *actor, uint32_t stream)
{
    struct fb_shared *shared = replay->shared;
    uint32_t index = (uint32_t)(actor - replay->actors);
    bool publishes = index == 0 || !replay->variant.free_order;
    actor->replay = replay;
    actor->counters = &replay->counters[index];
    actor->op_index = publishes ? &shared->op_index : &actor->counters->op_index;
    actor->stream = stream;
    actor->taken = true;
    actor->stopped = false;
    actor->degraded = false;
    actor->countdown = FB_LATENCY_STRIDE;
    actor->stride_state = stream;
    actor->phase = replay->actors[0].phase;
    actor->iteration = 0;
    actor->turn_passed = false;
    atomic_store(&actor->turn, 0);
    atomic_store(&actor->state, FB_ACTOR_RUNNING);
    atomic_store(&actor->started, 0);
    replay->actor_of_stream[stream] = index;
}

int fb_threads_open(struct fb_replay *replay)
{
    size_t streams = replay->trace.header->stream_count;
    replay->actors = map_zeroed(replay->shared->counters_count * sizeof *replay->actors);
    replay->actor_of_stream = map_zeroed(streams * sizeof *replay->actor_of_stream);
    if (replay->actors == NULL || replay->actor_of_stream == NULL)
        return -1;
    prepare(replay, &replay->actors[0], 0);
    int cpu = replay->shared->pin_cpu;
    if (cpu < 0)
        return 0;
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET((size_t)cpu, &only);
    (void)sched_setaffinity(0, sizeof only, &only); /* slower without, not wrong */
    return 0;
}

static struct fb_actor *actor_of(const struct fb_actor *actor, const struct fb_op *op)
{
    return &actor->replay->actors[actor->replay->actor_of_stream[op->arg]];
}

/* Whether a stream waits for a turn before it goes on from op: always in lockstep; in free order
 * when the next hand-over is strict. */
static bool waits_for_turn(const struct fb_actor *actor, const struct fb_op *op)
{
    if (!actor->replay->variant.free_order)
        return true;
    for (; op->kind != FB_OP_END; op++)
        if (op->kind == FB_OP_TURN)
            return (op->flags & FB_OP_FLAG_STRICT) != 0;
    return false;
}

static const struct fb_op *first_op(const struct fb_actor *actor)
{
    const struct fb_trace *trace = &actor->replay->trace;
    return trace->ops + trace->streams[actor->stream].first_op;
}

static void wait_turn(struct fb_actor *actor)
{
    for (;;) {
        wait_while(&actor->turn, 0);
        atomic_store(&actor->turn, 0);
        if (atomic_load(&actor->errand) == 0)
            return;
        fb_giveback_own(actor->replay->purge);
        set(&actor->errand, 0);
    }
}

void fb_threads_empty_caches(struct fb_actor *actor)
{
    const struct fb_replay *replay = actor->replay;
    for (uint64_t i = 0; i < replay->shared->counters_count; i++) {
        struct fb_actor *other = &replay->actors[i];
        if (other == actor || !other->taken || atomic_load(&other->state) == FB_ACTOR_ENDED)
            continue;
        atomic_store(&other->errand, 1);
        set(&other->turn, 1);
        wait_while(&other->errand, 1);
    }
}

void fb_threads_turn(struct fb_actor *actor, const struct fb_op *op)
{
    if (actor->replay->variant.free_order && (op->flags & FB_OP_FLAG_STRICT) == 0)
        return;
    struct fb_actor *next = actor_of(actor, op);
    if (next == actor || actor->turn_passed) {
        actor->turn_passed = false;
        return;
    }
    set(&next->turn, 1);
    wait_turn(actor);
}

static void *thread_main(void *argument)
{
    struct fb_actor *actor = argument;
    set(&actor->started, 1);
    if (waits_for_turn(actor, first_op(actor)))
        wait_turn(actor);
    fb_replay_stream(actor);
    set(&actor->state, FB_ACTOR_ENDED);
    return NULL;
}

static struct fb_actor *spare_actor(struct fb_replay *replay)
{
    for (uint64_t i = 1; i < replay->shared->counters_count; i++)
        if (!replay->actors[i].taken)
            return &replay->actors[i];
    return NULL;
}

/* Stacks are shared mappings: a private one would be booked to the allocator. They are kept
 * for the next thread of the same place, as glibc keeps those it made itself. */
static int create(struct fb_actor *actor)
{
    pthread_attr_t attributes;
    if (actor->stack == NULL)
        actor->stack = map_zeroed(STACK_BYTES);
    if (actor->stack == NULL)
        return errno;
    int failed = pthread_attr_init(&attributes);
    if (failed == 0)
        failed = pthread_attr_setstack(&attributes, actor->stack, STACK_BYTES);
    if (failed == 0)
        failed = pthread_create(&actor->thread, &attributes, thread_main, actor);
    (void)pthread_attr_destroy(&attributes);
    return failed;
}

void fb_threads_start(struct fb_actor *actor, const struct fb_op *op)
{
    struct fb_actor *started = spare_actor(actor->replay);
    if (started == NULL) {
        fb_replay_fault(actor, FB_WORKER_BAD_TRACE, op, "more threads at once than announced");
        return;
    }
    prepare(actor->replay, started, (uint32_t)op->arg);
    int failed = create(started);
    if (failed != 0) {
        errno = failed;
        fb_replay_fault(actor, FB_WORKER_OS_ERROR, op, "cannot start a thread");
        return;
    }
    wait_while(&started->started, 0);
}

void fb_threads_join(struct fb_actor *actor, const struct fb_op *op)
{
    struct fb_actor *ending = actor_of(actor, op);
    set(&ending->turn, 1); /* in free order its last turn may have been a strict one */
    if (pthread_join(ending->thread, NULL) != 0)
        fb_replay_fault(actor, FB_WORKER_OS_ERROR, op, "cannot join a thread");
    ending->taken = false;
}

void fb_threads_park(struct fb_actor *actor, const struct fb_op *op)
{
    if (!actor->replay->variant.free_order)
        return;
    /* A strict turn that follows is passed on first: nobody else would get it while this sleeps. */
    const struct fb_op *next = op + 1;
    bool passes = next->kind == FB_OP_TURN && (next->flags & FB_OP_FLAG_STRICT) != 0;
    if (passes) {
        actor->turn_passed = true;
        set(&actor_of(actor, next)->turn, 1);
    }
    set(&actor->state, FB_ACTOR_PARKED);
    wait_while(&actor->state, FB_ACTOR_PARKED);
    actor->phase = actor->replay->actors[0].phase;
    if (waits_for_turn(actor, next->kind == FB_OP_TURN ? next + 1 : next))
        wait_turn(actor);
}

void fb_threads_await(struct fb_actor *actor, const struct fb_op *op)
{
    if (actor->replay->variant.free_order)
        wait_while(&actor_of(actor, op)->state, FB_ACTOR_RUNNING);
}

void fb_threads_resume(struct fb_actor *actor, const struct fb_op *op)
{
    if (!actor->replay->variant.free_order)
        return;
    struct fb_actor *resumed = actor_of(actor, op);
    wait_while(&resumed->state, FB_ACTOR_RUNNING);
    if (atomic_load(&resumed->state) == FB_ACTOR_PARKED)
        set(&resumed->state, FB_ACTOR_RUNNING);
}

/* The object was stored before this; whoever waits counts itself before it looks. One of the two
 * sees the other (both sides are sequentially consistent), so no wake-up is lost. */
void fb_threads_announce(uint32_t slot)
{
    struct bell *bell = &bells[slot % BELLS];
    atomic_thread_fence(memory_order_seq_cst);
    if (atomic_load(&bell->waiters) == 0)
        return;
    (void)atomic_fetch_add(&bell->rung, 1);
    futex_wake(&bell->rung);
}

void fb_threads_wait_object(const struct fb_object *object, uint32_t slot)
{
    void *const *address = &object->address;
    if (__atomic_load_n(address, __ATOMIC_ACQUIRE) != NULL)
        return;
    struct bell *bell = &bells[slot % BELLS];
    (void)atomic_fetch_add(&bell->waiters, 1);
    for (;;) {
        uint32_t rung = atomic_load(&bell->rung);
        atomic_thread_fence(memory_order_seq_cst);
        if (__atomic_load_n(address, __ATOMIC_SEQ_CST) != NULL)
            break;
        futex_wait(&bell->rung, rung);
    }
    (void)atomic_fetch_sub(&bell->waiters, 1);
}
