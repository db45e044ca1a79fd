#include "replay.h"

#include "compiled.h"
#include "scenarios.h"

#include "base/alloc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

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

static void wait_until(struct replay *replay, uint64_t when)
{
    if (when > replay->now)
        replay->now = when;
}

/* The flag says whether another stream allocated the object, no more and no less. */
static void check_foreign(struct replay *replay, const struct step *step)
{
    bool foreign = replay->streams[step->op->slot] != step->stream;
    assert_int_equal(foreign, (step->op->flags & FB_OP_FLAG_FOREIGN) != 0);
    replay->foreign[step->op->class_index] |= foreign;
}

static void call(struct replay *replay, const struct step *step)
{
    const struct fb_op *op = step->op;
    if (op->kind == FB_OP_ALLOC) {
        assert_int_equal(replay->sizes[op->slot], 0);
        replay->objects++;
        replay->counted.alloc_calls++;
        replay->streams[op->slot] = step->stream;
        gain(replay, op, 0);
        return;
    }
    assert_true(replay->sizes[op->slot] > 0);
    check_foreign(replay, step);
    if (op->kind == FB_OP_FREE) {
        lose(replay, op);
        return;
    }
    replay->counted.realloc_calls++;
    replay->streams[op->slot] = step->stream;
    gain(replay, op, replay->sizes[op->slot]);
}

void replay_step(struct replay *replay, const struct step *step)
{
    const struct fb_op *op = step->op;
    switch ((enum fb_op_kind)op->kind) {
    case FB_OP_ALLOC:
    case FB_OP_REALLOC:
    case FB_OP_FREE:
        call(replay, step);
        break;
    case FB_OP_HOLD:
        replay->holds[step->stream] = replay->now;
        break;
    case FB_OP_SLEEP:
        if ((op->flags & FB_OP_FLAG_SINCE_HOLD) != 0)
            wait_until(replay, replay->holds[step->stream] + op->arg);
        else
            replay->now += op->arg;
        break;
    case FB_OP_PACE:
        wait_until(replay, replay->phase_begin + op->arg);
        break;
    case FB_OP_PHASE_BEGIN:
        replay->phase_begin = replay->now;
        break;
    case FB_OP_PHASE_END:
        end_phase(replay, op);
        break;
    case FB_OP_SAMPLE:
    case FB_OP_CHECKPOINT:
        replay->counted.sample_count++;
        replay->counted.checkpoint_count += op->kind == FB_OP_CHECKPOINT;
        break;
    default:
        break;
    }
}

struct replay replay_start(const struct fb_trace *trace)
{
    return (struct replay){
        .trace = trace,
        .sizes = fb_alloc(trace->header->slot_count, sizeof(uint64_t)),
        .streams = fb_alloc(trace->header->slot_count, sizeof(uint32_t)),
        .holds = fb_alloc(trace->header->stream_count, sizeof(uint64_t)),
        .foreign = fb_alloc(trace->header->class_count, sizeof(bool)),
    };
}

void replay_free(struct replay *replay)
{
    free(replay->foreign);
    free(replay->holds);
    free(replay->streams);
    free(replay->sizes);
}

void each_scenario(void (*check)(const struct compiled *))
{
    for (size_t i = 0; i < scenario_count; i++) {
        struct compiled compiled = compile(scenarios[i].workload, scenarios[i].seed);
        check(&compiled);
        compiled_free(&compiled);
    }
}
