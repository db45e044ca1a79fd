#include "workload/ledger.h"

#include "base/alloc.h"
#include "base/units.h"

#include <stdlib.h>

/* Half the range, so that a time plus a lifetime (at most 2^46 ns) cannot wrap. */
#define TIME_MAX_NS ((uint64_t)INT64_MAX)

static int refuse_length(const struct fb_ledger *ledger, uint64_t ahead, struct fb_error *err)
{
    char objects[32], allowed[32];
    return fb_fail(err, FB_ERROR_INPUT,
                   "this workload makes more than %s objects and its trace passes the %s allowed; "
                   "lower iterations or counts, or use --scale",
                   fb_units_count(ledger->header.alloc_calls + ahead, objects, sizeof objects),
                   fb_units_bytes(ledger->max_bytes, allowed, sizeof allowed));
}

/* How many ops fit into max_bytes beside the tables. */
static uint64_t room_for_ops(const struct fb_ledger *ledger)
{
    if (ledger->max_bytes == 0)
        return UINT64_MAX / sizeof(struct fb_op) / 2;
    struct fb_trace_header empty = ledger->header;
    empty.op_count = 0;
    uint64_t tables = fb_trace_layout(&empty);
    return ledger->max_bytes > tables ? (ledger->max_bytes - tables) / sizeof(struct fb_op) : 0;
}

/* One more stream that is alive. */
static uint32_t add_stream(struct fb_ledger *ledger)
{
    if (ledger->header.stream_count == ledger->stream_capacity) {
        ledger->stream_capacity = ledger->stream_capacity * 2 + 16;
        ledger->streams =
            fb_realloc(ledger->streams, ledger->stream_capacity, sizeof *ledger->streams);
    }
    uint32_t stream = ledger->header.stream_count++;
    ledger->streams[stream] = (struct fb_ledger_stream){0};
    if (++ledger->threads > ledger->header.thread_peak)
        ledger->header.thread_peak = ledger->threads;
    ledger->max_ops = room_for_ops(ledger);
    return stream;
}

void fb_ledger_init(struct fb_ledger *ledger)
{
    ledger->header.stream_count = 0;
    (void)add_stream(ledger);
}

void fb_ledger_deinit(struct fb_ledger *ledger)
{
    free(ledger->streams);
    ledger->streams = NULL;
}

int fb_ledger_require(const struct fb_ledger *ledger, uint64_t objects, struct fb_error *err)
{
    uint64_t used = ledger->header.op_count;
    uint64_t room = ledger->max_ops > used ? ledger->max_ops - used : 0;
    return objects <= room ? 0 : refuse_length(ledger, objects - 1, err);
}

static int put(struct fb_ledger *ledger, uint32_t stream, struct fb_op op, struct fb_error *err)
{
    if (ledger->header.op_count >= ledger->max_ops)
        return refuse_length(ledger, 0, err);
    ledger->header.op_count++;
    ledger->streams[stream].op_count++;
    if (ledger->writer != NULL)
        fb_trace_writer_op(ledger->writer, stream, op);
    return 0;
}

int fb_ledger_mark(struct fb_ledger *ledger, struct fb_op op, struct fb_error *err)
{
    return put(ledger, ledger->stream, op, err);
}

static int advance(struct fb_ledger *ledger, uint64_t ns, struct fb_error *err)
{
    if (ns > TIME_MAX_NS - ledger->now_ns)
        return fb_fail(err, FB_ERROR_INPUT,
                       "this workload would last longer than 292 years; lower every, for, hold or "
                       "the iterations");
    ledger->now_ns += ns;
    return 0;
}

/* What every sample resets: from here the next maximum and the next step count. */
static int put_sample(struct fb_ledger *ledger, struct fb_op op, struct fb_error *err)
{
    ledger->header.sample_count++;
    ledger->lowest_live_bytes = ledger->live_bytes;
    ledger->sampled_volume_bytes = ledger->header.allocated_bytes;
    return fb_ledger_mark(ledger, op, err);
}

int fb_ledger_sample(struct fb_ledger *ledger, enum fb_sample_reason reason, struct fb_error *err)
{
    if (!ledger->sampling.placed)
        return 0;
    return put_sample(ledger, (struct fb_op){.kind = FB_OP_SAMPLE, .flags = (uint8_t)reason}, err);
}

int fb_ledger_checkpoint(struct fb_ledger *ledger, enum fb_checkpoint_kind kind,
                         struct fb_error *err)
{
    ledger->header.checkpoint_count++;
    struct fb_op op = {.kind = FB_OP_CHECKPOINT, .flags = (uint8_t)kind, .arg = ledger->phase};
    return put_sample(ledger, op, err);
}

static void raise_to(uint64_t *maximum, uint64_t value)
{
    if (value > *maximum)
        *maximum = value;
}

/* The one checkpoint of the largest live bytes, or a sample when so much has been allocated. */
static int sample_after_call(struct fb_ledger *ledger, struct fb_error *err)
{
    if (!ledger->sampling.placed)
        return 0;
    if (ledger->allocating_calls == ledger->sampling.peak_call)
        return fb_ledger_checkpoint(ledger, FB_CHECKPOINT_PEAK_LIVE, err);
    uint64_t volume = ledger->header.allocated_bytes - ledger->sampled_volume_bytes;
    return volume >= ledger->sampling.step_bytes ? fb_ledger_sample(ledger, FB_SAMPLE_VOLUME, err)
                                                 : 0;
}

/* Books `size` bytes more, `touched` of them written, for the op just put. */
static int gain(struct fb_ledger *ledger, uint64_t size, uint64_t touched, struct fb_error *err)
{
    struct fb_trace_header *header = &ledger->header;
    struct fb_phase_totals *phase = &ledger->phases[ledger->phase];
    if (__builtin_add_overflow(header->allocated_bytes, size, &header->allocated_bytes))
        return fb_fail(err, FB_ERROR_INPUT,
                       "this workload would allocate more than 16 EiB in all; lower sizes, counts "
                       "or iterations");
    phase->allocated_bytes += size;
    ledger->live_bytes += size;
    ledger->touched_bytes += touched;
    ledger->allocating_calls++;
    if (ledger->live_bytes > header->peak_live_bytes)
        ledger->peak_call = ledger->allocating_calls;
    raise_to(&header->peak_live_bytes, ledger->live_bytes);
    raise_to(&header->peak_touched_bytes, ledger->touched_bytes);
    raise_to(&phase->peak_live_bytes, ledger->live_bytes);
    if (advance(ledger, fb_trace_cost_ns(header, touched), err) != 0)
        return -1;
    return sample_after_call(ledger, err);
}

/* An allocator call of the stream that has the turn. */
static int put_call(struct fb_ledger *ledger, struct fb_op op, enum fb_op_kind kind,
                    struct fb_error *err)
{
    op.kind = (uint8_t)kind;
    ledger->calls++;
    if ((op.flags & FB_OP_FLAG_FOREIGN) != 0)
        ledger->shared[op.class_index] = true;
    return fb_ledger_mark(ledger, op, err);
}

int fb_ledger_alloc(struct fb_ledger *ledger, struct fb_op op, struct fb_error *err)
{
    if (put_call(ledger, op, FB_OP_ALLOC, err) != 0)
        return -1;
    ledger->header.alloc_calls++;
    ledger->phases[ledger->phase].alloc_calls++;
    uint64_t touched = fb_trace_touched_bytes(&ledger->classes[op.class_index], op.arg);
    return gain(ledger, op.arg, touched, err);
}

/* A sample before the bytes fall, when they have risen enough to make a maximum. */
static int sample_peak(struct fb_ledger *ledger, struct fb_error *err)
{
    if (!ledger->sampling.placed ||
        ledger->live_bytes - ledger->lowest_live_bytes < ledger->sampling.threshold_bytes)
        return 0;
    return fb_ledger_sample(ledger, FB_SAMPLE_PEAK, err);
}

static void lose(struct fb_ledger *ledger, uint64_t size, uint64_t touched)
{
    ledger->live_bytes -= size;
    ledger->touched_bytes -= touched;
    if (ledger->live_bytes < ledger->lowest_live_bytes)
        ledger->lowest_live_bytes = ledger->live_bytes;
}

/* A realloc to less allocates no bytes, and cannot make a peak. */
static int shrink(struct fb_ledger *ledger, struct fb_op op, uint64_t old_size,
                  struct fb_error *err)
{
    const struct fb_trace_class *class = &ledger->classes[op.class_index];
    if (sample_peak(ledger, err) != 0 || put_call(ledger, op, FB_OP_REALLOC, err) != 0)
        return -1;
    ledger->header.realloc_calls++;
    ledger->phases[ledger->phase].realloc_calls++;
    ledger->allocating_calls++;
    lose(ledger, old_size - op.arg,
         fb_trace_touched_bytes(class, old_size) - fb_trace_touched_bytes(class, op.arg));
    return advance(ledger, fb_trace_cost_ns(&ledger->header, 0), err);
}

int fb_ledger_realloc(struct fb_ledger *ledger, struct fb_op op, uint64_t old_size,
                      struct fb_error *err)
{
    if (op.arg < old_size)
        return shrink(ledger, op, old_size, err);
    if (put_call(ledger, op, FB_OP_REALLOC, err) != 0)
        return -1;
    ledger->header.realloc_calls++;
    ledger->phases[ledger->phase].realloc_calls++;
    const struct fb_trace_class *class = &ledger->classes[op.class_index];
    uint64_t touched =
        fb_trace_touched_bytes(class, op.arg) - fb_trace_touched_bytes(class, old_size);
    return gain(ledger, op.arg - old_size, touched, err);
}

int fb_ledger_free(struct fb_ledger *ledger, struct fb_op op, uint64_t size, struct fb_error *err)
{
    if (sample_peak(ledger, err) != 0 || put_call(ledger, op, FB_OP_FREE, err) != 0)
        return -1;
    if (!ledger->teardown) {
        ledger->header.free_calls++;
        ledger->phases[ledger->phase].free_calls++;
    }
    lose(ledger, size, fb_trace_touched_bytes(&ledger->classes[op.class_index], size));
    return advance(ledger, fb_trace_cost_ns(&ledger->header, 0), err);
}

int fb_ledger_sleep(struct fb_ledger *ledger, uint64_t ns, struct fb_error *err)
{
    if (fb_ledger_mark(ledger, (struct fb_op){.kind = FB_OP_SLEEP, .arg = ns}, err) != 0)
        return -1;
    return advance(ledger, ns, err);
}

static int advance_until(struct fb_ledger *ledger, uint64_t from_ns, uint64_t ns,
                         struct fb_error *err)
{
    uint64_t passed_ns = ledger->now_ns - from_ns;
    return passed_ns < ns ? advance(ledger, ns - passed_ns, err) : 0;
}

int fb_ledger_hold(struct fb_ledger *ledger, struct fb_error *err)
{
    ledger->streams[ledger->stream].hold_ns = ledger->now_ns;
    return fb_ledger_mark(ledger, (struct fb_op){.kind = FB_OP_HOLD}, err);
}

int fb_ledger_sleep_since_hold(struct fb_ledger *ledger, uint64_t ns, struct fb_error *err)
{
    struct fb_op op = {.kind = FB_OP_SLEEP, .flags = FB_OP_FLAG_SINCE_HOLD, .arg = ns};
    if (fb_ledger_mark(ledger, op, err) != 0)
        return -1;
    return advance_until(ledger, ledger->streams[ledger->stream].hold_ns, ns, err);
}

int fb_ledger_pace(struct fb_ledger *ledger, uint64_t since_begin_ns, struct fb_error *err)
{
    if (fb_ledger_mark(ledger, (struct fb_op){.kind = FB_OP_PACE, .arg = since_begin_ns}, err) != 0)
        return -1;
    return advance_until(ledger, ledger->phase_begin_ns, since_begin_ns, err);
}

int fb_ledger_phase_begin(struct fb_ledger *ledger, uint32_t phase, struct fb_error *err)
{
    ledger->phase = phase;
    ledger->phase_begin_ns = ledger->now_ns;
    raise_to(&ledger->phases[phase].peak_live_bytes, ledger->live_bytes);
    return fb_ledger_mark(ledger, (struct fb_op){.kind = FB_OP_PHASE_BEGIN, .arg = phase}, err);
}

int fb_ledger_phase_end(struct fb_ledger *ledger, struct fb_error *err)
{
    struct fb_phase_totals *phase = &ledger->phases[ledger->phase];
    phase->end_live_bytes = ledger->live_bytes;
    phase->duration_ns = ledger->now_ns - ledger->phase_begin_ns;
    ledger->header.end_live_bytes = ledger->live_bytes;
    ledger->header.duration_ns = ledger->now_ns;
    if (fb_ledger_checkpoint(ledger, FB_CHECKPOINT_PHASE_END, err) != 0)
        return -1;
    return fb_ledger_mark(ledger, (struct fb_op){.kind = FB_OP_PHASE_END, .arg = ledger->phase},
                          err);
}

int fb_ledger_iteration(struct fb_ledger *ledger, uint64_t index, struct fb_error *err)
{
    if (fb_ledger_mark(ledger, (struct fb_op){.kind = FB_OP_ITERATION, .arg = index}, err) != 0)
        return -1;
    bool sampled =
        ledger->sampling.placed && ledger->iterations % ledger->sampling.iteration_stride == 0;
    ledger->iterations++;
    return sampled ? fb_ledger_sample(ledger, FB_SAMPLE_ITERATION, err) : 0;
}

int fb_ledger_turn(struct fb_ledger *ledger, uint32_t stream, bool strict, struct fb_error *err)
{
    if (stream == ledger->stream)
        return 0;
    struct fb_op op = {.kind = FB_OP_TURN, .flags = strict ? FB_OP_FLAG_STRICT : 0U, .arg = stream};
    if (fb_ledger_mark(ledger, op, err) != 0)
        return -1;
    ledger->stream = stream;
    return 0;
}

int fb_ledger_start(struct fb_ledger *ledger, uint32_t *stream, struct fb_error *err)
{
    struct fb_op op = {.kind = FB_OP_THREAD_START, .arg = ledger->header.stream_count};
    if (fb_ledger_mark(ledger, op, err) != 0)
        return -1;
    *stream = add_stream(ledger);
    return 0;
}

int fb_ledger_join(struct fb_ledger *ledger, uint32_t stream, struct fb_error *err)
{
    ledger->threads--;
    if (put(ledger, stream, (struct fb_op){.kind = FB_OP_END}, err) != 0)
        return -1;
    return fb_ledger_mark(ledger, (struct fb_op){.kind = FB_OP_THREAD_JOIN, .arg = stream}, err);
}
