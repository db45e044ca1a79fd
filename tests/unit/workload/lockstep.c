#include "lockstep.h"

#include "base/alloc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>

#include <cmocka.h>

struct follower {
    const struct fb_trace *trace;
    struct lockstep out;
    uint64_t *next; /* by stream: its next op */
    bool *runs;     /* by stream */
    uint32_t current, threads;
};

static const struct fb_op *take(struct follower *follower, uint32_t stream)
{
    const struct fb_trace_stream *row = &follower->trace->streams[stream];
    assert_true(follower->next[stream] < row->op_count);
    const struct fb_op *op = &follower->trace->ops[row->first_op + follower->next[stream]++];
    follower->out.steps[follower->out.count++] = (struct step){op, stream};
    return op;
}

static void start(struct follower *follower, uint64_t stream)
{
    assert_int_equal(follower->current, 0);
    assert_in_range(stream, 1, follower->trace->header->stream_count - 1);
    assert_int_equal(follower->next[stream], 0);
    follower->runs[stream] = true;
    if (++follower->threads > follower->out.thread_peak)
        follower->out.thread_peak = follower->threads;
}

static void join(struct follower *follower, uint64_t stream)
{
    assert_int_equal(follower->current, 0);
    assert_true(stream > 0 && follower->runs[stream]);
    assert_int_equal(take(follower, (uint32_t)stream)->kind, FB_OP_END);
    assert_int_equal(follower->next[stream], follower->trace->streams[stream].op_count);
    follower->runs[stream] = false;
    follower->threads--;
}

/* What only main may say about a thread that runs. */
static void check_told(const struct follower *follower, uint64_t stream)
{
    assert_int_equal(follower->current, 0);
    assert_true(stream > 0 && follower->runs[stream]);
}

static void follow(struct follower *follower, const struct fb_op *op)
{
    switch ((enum fb_op_kind)op->kind) {
    case FB_OP_TURN:
        assert_true(op->arg != follower->current);
        assert_true(follower->runs[op->arg]);
        follower->current = (uint32_t)op->arg;
        break;
    case FB_OP_THREAD_START:
        start(follower, op->arg);
        break;
    case FB_OP_THREAD_JOIN:
        join(follower, op->arg);
        break;
    case FB_OP_RESUME:
    case FB_OP_AWAIT:
        check_told(follower, op->arg);
        break;
    case FB_OP_PARK: /* and at once passes the turn on */
        assert_true(follower->current != 0);
        assert_int_equal(op[1].kind, FB_OP_TURN);
        break;
    case FB_OP_PHASE_BEGIN:
    case FB_OP_PHASE_END:
    case FB_OP_END:
        assert_int_equal(follower->current, 0);
        break;
    default:
        break;
    }
}

struct lockstep lockstep_of(const struct fb_trace *trace)
{
    const struct fb_trace_header *header = trace->header;
    struct follower follower = {
        .trace = trace,
        .out = {.steps = fb_alloc(header->op_count, sizeof(struct step)), .thread_peak = 1},
        .next = fb_alloc(header->stream_count, sizeof(uint64_t)),
        .runs = fb_alloc(header->stream_count, sizeof(bool)),
        .threads = 1,
    };
    follower.runs[0] = true;
    const struct fb_op *op = NULL;
    do {
        op = take(&follower, follower.current);
        follow(&follower, op);
    } while (op->kind != FB_OP_END);
    assert_int_equal(follower.threads, 1);
    assert_int_equal(follower.out.count, header->op_count);
    free(follower.runs);
    free(follower.next);
    return follower.out;
}

void lockstep_free(struct lockstep *lockstep)
{
    free(lockstep->steps);
}
