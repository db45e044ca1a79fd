#include "free_order.h"

#include "base/alloc.h"
#include "base/rng.h"

#include <stdbool.h>
#include <stdlib.h>

enum state { UNBORN = 0, RUNNING, PARKED, ENDED };

struct thread {
    enum state state;
    const struct fb_op *next;
    uint64_t priority;
};

struct world {
    const struct fb_trace *trace;
    struct thread *threads;
    uint32_t *alive; /* streams that run or are parked */
    uint32_t alive_count;
    uint64_t *meant;   /* by op: number of the object it is about, from 1 */
    bool *strict;      /* by op: in a phase whose turns are strict */
    uint64_t *slots;   /* number of the object in it, 0: empty */
    uint64_t has_turn; /* where turns are strict */
    const char *fault;
    struct fb_rng rng;
    enum policy policy;
    uint32_t last;
};

static uint64_t index_of(const struct world *world, const struct fb_op *op)
{
    return (uint64_t)(op - world->trace->ops);
}

/* Follows lockstep to learn which object each op is meant for. */
static void learn_objects(struct world *world, const struct lockstep *lockstep)
{
    uint64_t *slots = fb_alloc(world->trace->header->slot_count, sizeof *slots), objects = 0;
    for (uint64_t i = 0; i < lockstep->count; i++) {
        const struct fb_op *op = lockstep->steps[i].op;
        if (op->kind == FB_OP_ALLOC)
            slots[op->slot] = ++objects;
        if (op->kind == FB_OP_ALLOC || op->kind == FB_OP_FREE || op->kind == FB_OP_REALLOC)
            world->meant[index_of(world, op)] = slots[op->slot];
    }
    free(slots);
}

static void learn_strictness(struct world *world, const struct lockstep *lockstep)
{
    uint64_t begin = 0;
    bool strict = false;
    for (uint64_t i = 0; i < lockstep->count; i++) {
        const struct fb_op *op = lockstep->steps[i].op;
        if (op->kind == FB_OP_PHASE_BEGIN) {
            begin = i;
            strict = false;
        }
        strict = strict || (op->flags & FB_OP_FLAG_STRICT & (op->kind == FB_OP_TURN ? ~0U : 0U));
        for (uint64_t k = begin; op->kind == FB_OP_PHASE_END && k <= i; k++)
            world->strict[index_of(world, lockstep->steps[k].op)] = strict;
    }
}

static bool is_down(const struct world *world, uint64_t stream)
{
    return world->threads[stream].state != RUNNING;
}

/* Whether the thread has to wait before its next op. */
static bool is_blocked(const struct world *world, uint32_t stream)
{
    const struct thread *thread = &world->threads[stream];
    const struct fb_op *op = thread->next;
    if (thread->state != RUNNING)
        return true;
    /* A thread's end needs no turn: its join waits for it. */
    if (world->strict[index_of(world, op)] && world->has_turn != stream && op->kind != FB_OP_END)
        return true;
    switch ((enum fb_op_kind)op->kind) {
    case FB_OP_FREE:
    case FB_OP_REALLOC:
        return (op->flags & FB_OP_FLAG_FOREIGN) != 0 && world->slots[op->slot] == 0;
    case FB_OP_AWAIT:
    case FB_OP_RESUME:
        return !is_down(world, op->arg);
    case FB_OP_THREAD_JOIN:
        return world->threads[op->arg].state != ENDED;
    default:
        return false;
    }
}

static void fail(struct world *world, const char *fault)
{
    if (world->fault == NULL)
        world->fault = fault;
}

static void use_slot(struct world *world, const struct fb_op *op)
{
    uint64_t *slot = &world->slots[op->slot], meant = world->meant[index_of(world, op)];
    if (op->kind == FB_OP_ALLOC) {
        if (*slot != 0)
            fail(world, "an allocation into a slot that is in use");
        *slot = meant;
        return;
    }
    if (*slot == 0)
        fail(world, "an op on an object that is not there");
    else if (*slot != meant)
        fail(world, "an op on another object than was meant");
    if (op->kind == FB_OP_FREE)
        *slot = 0;
}

static void end(struct world *world, uint32_t stream)
{
    world->threads[stream].state = ENDED;
    for (uint32_t i = 0; i < world->alive_count; i++)
        if (world->alive[i] == stream)
            world->alive[i] = world->alive[--world->alive_count];
}

static void start(struct world *world, uint64_t stream)
{
    if (world->threads[stream].state != UNBORN)
        fail(world, "a thread is started twice");
    world->threads[stream].state = RUNNING;
    world->threads[stream].priority = fb_rng_next(&world->rng);
    world->alive[world->alive_count++] = (uint32_t)stream;
}

/* With a strict turn after it: passed on while the thread sleeps. */
static void park(struct world *world, struct thread *thread)
{
    thread->state = PARKED;
    if ((thread->next->flags & FB_OP_FLAG_STRICT) != 0)
        world->has_turn = thread->next++->arg;
}

static void check_all_down(struct world *world)
{
    for (uint32_t i = 0; i < world->alive_count; i++)
        if (world->alive[i] != 0 && !is_down(world, world->alive[i]))
            fail(world, "a thread runs on after its phase");
}

static void go(struct world *world, uint32_t stream)
{
    struct thread *thread = &world->threads[stream];
    const struct fb_op *op = thread->next++;
    switch ((enum fb_op_kind)op->kind) {
    case FB_OP_ALLOC:
    case FB_OP_FREE:
    case FB_OP_REALLOC:
        use_slot(world, op);
        break;
    case FB_OP_THREAD_START:
        start(world, op->arg);
        break;
    case FB_OP_PARK:
        park(world, thread);
        break;
    case FB_OP_RESUME:
        if (world->threads[op->arg].state == PARKED)
            world->threads[op->arg].state = RUNNING;
        break;
    case FB_OP_TURN:
        if ((op->flags & FB_OP_FLAG_STRICT) != 0)
            world->has_turn = op->arg;
        break;
    case FB_OP_PHASE_BEGIN:
        world->has_turn = 0;
        break;
    case FB_OP_PHASE_END:
        check_all_down(world);
        break;
    case FB_OP_END:
        end(world, stream);
        break;
    default:
        break;
    }
}

/* The stream that goes on next; UINT32_MAX: none can. */
static uint32_t choose(struct world *world)
{
    uint32_t chosen = UINT32_MAX, seen = 0;
    if (world->policy == POLICY_STICKY && !is_blocked(world, world->last) &&
        fb_rng_below(&world->rng, 100) != 0)
        return world->last;
    for (uint32_t i = 0; i < world->alive_count; i++) {
        uint32_t stream = world->alive[i];
        if (is_blocked(world, stream))
            continue;
        seen++;
        bool better = world->policy == POLICY_PRIORITY
                          ? chosen == UINT32_MAX ||
                                world->threads[stream].priority > world->threads[chosen].priority
                          : fb_rng_below(&world->rng, seen) == 0;
        if (better)
            chosen = stream;
    }
    return chosen;
}

static void run(struct world *world)
{
    start(world, 0);
    while (world->alive_count > 0 && world->fault == NULL) {
        uint32_t stream = choose(world);
        if (stream == UINT32_MAX) {
            fail(world, "all threads wait for one another");
            return;
        }
        world->last = stream;
        go(world, stream);
    }
}

const char *free_order_run(const struct fb_trace *trace, const struct lockstep *lockstep,
                           enum policy policy, uint64_t seed)
{
    const struct fb_trace_header *header = trace->header;
    struct world world = {
        .trace = trace,
        .threads = fb_alloc(header->stream_count, sizeof(struct thread)),
        .alive = fb_alloc(header->stream_count, sizeof(uint32_t)),
        .meant = fb_alloc(header->op_count, sizeof(uint64_t)),
        .strict = fb_alloc(header->op_count, sizeof(bool)),
        .slots = fb_alloc(header->slot_count, sizeof(uint64_t)),
        .policy = policy,
    };
    for (uint32_t i = 0; i < header->stream_count; i++)
        world.threads[i].next = trace->ops + trace->streams[i].first_op;
    fb_rng_seed(&world.rng, seed);
    learn_objects(&world, lockstep);
    learn_strictness(&world, lockstep);
    run(&world);
    free(world.slots);
    free(world.strict);
    free(world.meant);
    free(world.alive);
    free(world.threads);
    return world.fault;
}
