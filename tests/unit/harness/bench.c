#include "bench.h"

#include "base/alloc.h"
#include "trace/writer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void put(struct fb_trace_writer *writer, uint8_t kind, uint8_t flags, uint32_t slot,
                uint64_t arg)
{
    fb_trace_writer_op(writer, 0,
                       (struct fb_op){.kind = kind, .flags = flags, .slot = slot, .arg = arg});
}

static void put_round(struct fb_trace_writer *writer, const struct bench_shape *shape,
                      unsigned round)
{
    put(writer, FB_OP_ITERATION, 0, 0, round);
    for (uint32_t slot = 0; slot < shape->objects; slot++)
        put(writer, FB_OP_ALLOC, 0, slot, shape->size_bytes);
    put(writer, FB_OP_SAMPLE, FB_SAMPLE_PEAK, 0, 0);
    if (round == 0)
        put(writer, FB_OP_CHECKPOINT, FB_CHECKPOINT_PEAK_LIVE, 0, 0);
    for (uint32_t slot = 0; slot < shape->objects; slot++)
        put(writer, FB_OP_FREE, 0, slot, 0);
    put(writer, FB_OP_SLEEP, 0, 0, shape->pause_ns);
}

static void put_all(struct fb_trace_writer *writer, const struct bench_shape *shape)
{
    put(writer, FB_OP_CHECKPOINT, FB_CHECKPOINT_START, 0, 0);
    put(writer, FB_OP_PHASE_BEGIN, 0, 0, 0);
    for (unsigned round = 0; round < shape->rounds; round++)
        put_round(writer, shape, round);
    put(writer, FB_OP_CHECKPOINT, FB_CHECKPOINT_PHASE_END, 0, 0);
    put(writer, FB_OP_PHASE_END, 0, 0, 0);
    put(writer, FB_OP_END, 0, 0, 0);
}

static struct fb_trace_header header_of(const struct bench_shape *shape, uint64_t ops)
{
    uint64_t peak = shape->objects * shape->size_bytes;
    return (struct fb_trace_header){.magic = FB_TRACE_MAGIC,
                                    .version = FB_TRACE_VERSION,
                                    .class_count = 1,
                                    .phase_count = 1,
                                    .stream_count = 1,
                                    .op_count = ops,
                                    .slot_count = shape->objects,
                                    .sample_count = shape->rounds + 3,
                                    .checkpoint_count = 3,
                                    .alloc_calls = (uint64_t)shape->rounds * shape->objects,
                                    .free_calls = (uint64_t)shape->rounds * shape->objects,
                                    .allocated_bytes = shape->rounds * peak,
                                    .peak_live_bytes = peak,
                                    .peak_touched_bytes = peak,
                                    .peak_objects = shape->objects,
                                    .cost_op_ns = 100,
                                    .cost_bytes_per_us = 8000};
}

void bench_trace_open(struct bench_trace *out, const struct bench_shape *shape)
{
    struct fb_trace_class class = {.name = "block", .call = FB_CALL_MALLOC};
    struct fb_trace_phase phase = {
        .name = "serve", .iterations = shape->rounds, .fail_on_refusal = shape->fail_on_refusal};
    struct fb_trace_stream stream = {
        .op_count = (uint64_t)shape->rounds * (2 * (uint64_t)shape->objects + 3) + 1 + 5};
    struct fb_trace_header header = header_of(shape, stream.op_count);
    struct fb_trace_writer *writer;
    struct fb_error err = {0};
    out->fd = memfd_create("trace", MFD_CLOEXEC);
    assert_true(out->fd >= 0);
    (void)fb_trace_layout(&header);
    assert_int_equal(fb_trace_writer_open(&writer, out->fd, &header, &class, &phase, &stream, &err),
                     0);
    put_all(writer, shape);
    if (fb_trace_writer_close(writer, &err) != 0)
        fail_msg("%s", err.text);
    const char *fault = fb_trace_open(out->fd, &out->trace);
    if (fault != NULL)
        fail_msg("%s", fault);
}

void bench_trace_close(struct bench_trace *trace)
{
    fb_trace_close(&trace->trace);
    (void)close(trace->fd);
}

struct fb_run_request bench_request(const struct bench_trace *trace,
                                    const struct fb_contender *contender)
{
    return (struct fb_run_request){.trace_fd = trace->fd,
                                   .trace = trace->trace.header,
                                   .contender = contender,
                                   .timeout_ns = UINT64_C(60000000000)};
}

struct collector {
    const struct fb_run_request *requests;
    struct fb_run_outcome *outcomes;
    size_t count;
};

static int collect(void *user, const struct fb_run_request *request, struct fb_run_outcome *outcome,
                   struct fb_error *err)
{
    struct collector *collector = user;
    (void)err;
    collector->outcomes[request - collector->requests] = *outcome;
    collector->count++;
    return 0;
}

void bench_run(const struct fb_run_request *requests, size_t count, unsigned parallel,
               struct fb_run_outcome *outcomes)
{
    struct collector collector = {requests, outcomes, 0};
    struct fb_runner_hooks hooks = {.finished = collect, .user = &collector};
    struct fb_error err = {0};
    if (fb_runner_run(requests, count, parallel, &hooks, NULL, &err) != 0)
        fail_msg("%s", err.text);
    assert_int_equal(collector.count, count);
}

void bench_outcome_deinit(struct fb_run_outcome *outcome)
{
    fb_repetition_deinit(&outcome->repetition);
    free(outcome->malloc_owner);
    for (size_t i = 0; i < outcome->effective_count; i++) {
        free(outcome->effective[i].key);
        free(outcome->effective[i].value);
    }
    free(outcome->effective);
    free(outcome->latency);
}

struct fb_contenders bench_contender(const char *spec)
{
    struct fb_contenders contenders = {0};
    struct fb_error err = {0};
    if (fb_contenders_resolve(&spec, 1, &contenders, &err) != 0)
        fail_msg("%s: %s", spec, err.text);
    assert_int_equal(contenders.count, 1);
    return contenders;
}

int bench_setup(void **state)
{
    (void)state;
    return setenv("FRAGBENCH_LIBEXEC", FB_BIN_DIR, 1);
}
