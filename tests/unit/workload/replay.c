#include "replay.h"

#include "compiled.h"
#include "scenarios.h"

#include "base/alloc.h"

static void count_cost(struct replay *replay, uint64_t touched)
{
    replay->now += 100 + touched / 8;
}

static uint64_t touched_of(const struct replay *replay, const struct fb_op *op, uint64_t size)
{
    return fb_trace_touched_bytes(&replay->trace->classes[op->class_index], size);
}

static void gain(struct replay *replay, const struct fb_op *op, uint64_t old_size)
{
    uint64_t touched = touched_of(replay, op, op->arg) - touched_of(replay, op, old_size);
    struct fb_trace_header *counted = &replay->counted;
    replay->live += op->arg - old_size;
    replay->volume += op->arg - old_size;
    replay->touched += touched;
    replay->sizes[op->slot] = op->arg;
    count_cost(replay, touched);
    if (replay->live > counted->peak_live_bytes)
        counted->peak_live_bytes = replay->live;
    if (replay->touched > counted->peak_touched_bytes)
        counted->peak_touched_bytes = replay->touched;
    if (replay->objects > counted->peak_objects)
        counted->peak_objects = replay->objects;
}

static void lose(struct replay *replay, const struct fb_op *op)
{
    uint64_t size = replay->sizes[op->slot];
    replay->live -= size;
    replay->touched -= touched_of(replay, op, size);
    replay->sizes[op->slot] = 0;
    replay->objects--;
    replay->counted.free_calls += !replay->teardown;
    count_cost(replay, 0);
}

static void end_phase(struct replay *replay, const struct fb_op *op)
{
    replay->counted.end_live_bytes = replay->live;
    replay->counted.duration_ns = replay->now;
    replay->teardown = op->arg + 1 == replay->trace->header->phase_count;
}

void replay_step(struct replay *replay, const struct fb_op *op)
{
    struct fb_trace_header *counted = &replay->counted;
    switch ((enum fb_op_kind)op->kind) {
    case FB_OP_ALLOC:
        replay->objects++;
        counted->alloc_calls++;
        gain(replay, op, 0);
        break;
    case FB_OP_REALLOC:
        counted->realloc_calls++;
        gain(replay, op, replay->sizes[op->slot]);
        break;
    case FB_OP_FREE:
        lose(replay, op);
        break;
    case FB_OP_SLEEP:
        replay->now += op->arg;
        break;
    case FB_OP_PACE:
        if (replay->phase_begin + op->arg > replay->now)
            replay->now = replay->phase_begin + op->arg;
        break;
    case FB_OP_PHASE_BEGIN:
        replay->phase_begin = replay->now;
        break;
    case FB_OP_PHASE_END:
        end_phase(replay, op);
        break;
    default:
        counted->sample_count += op->kind == FB_OP_SAMPLE || op->kind == FB_OP_CHECKPOINT;
        counted->checkpoint_count += op->kind == FB_OP_CHECKPOINT;
        break;
    }
}

struct replay replay_start(const struct fb_trace *trace)
{
    return (struct replay){
        .trace = trace,
        .sizes = fb_alloc(trace->header->slot_count, sizeof(uint64_t)),
    };
}

void each_scenario(void (*check)(const struct compiled *))
{
    for (size_t i = 0; i < scenario_count; i++) {
        struct compiled compiled = compile(scenarios[i].workload, scenarios[i].seed);
        check(&compiled);
        compiled_free(&compiled);
    }
}
