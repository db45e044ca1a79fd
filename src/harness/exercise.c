#include "harness/exercise.h"

#include "base/alloc.h"
#include "harness/spec.h"
#include "trace/reader.h"
#include "trace/writer.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { OBJECTS = 4000, ROUNDS = 2, ALL = ROUNDS * OBJECTS, SIZE_STEP = 16, SIZES = 64 };
#define PAUSE_NS UINT64_C(2000000000)
#define TIMEOUT_NS UINT64_C(60000000000)

static uint64_t size_of(uint32_t slot)
{
    return (uint64_t)(slot % SIZES + 1) * SIZE_STEP;
}

static void count(struct fb_trace_header *header, struct fb_trace_stream *stream)
{
    stream->op_count = 2 + ROUNDS * (2 * OBJECTS + 1) + 2;
    *header = (struct fb_trace_header){.magic = FB_TRACE_MAGIC,
                                       .version = FB_TRACE_VERSION,
                                       .class_count = 1,
                                       .phase_count = 1,
                                       .stream_count = 1,
                                       .op_count = stream->op_count,
                                       .slot_count = OBJECTS,
                                       .sample_count = 1,
                                       .checkpoint_count = 1,
                                       .alloc_calls = ALL,
                                       .free_calls = ALL,
                                       .peak_objects = OBJECTS,
                                       .cost_op_ns = 100,
                                       .cost_bytes_per_us = 8000};
    for (uint32_t slot = 0; slot < OBJECTS; slot++)
        header->peak_live_bytes += size_of(slot);
    header->peak_touched_bytes = header->peak_live_bytes;
    header->allocated_bytes = ROUNDS * header->peak_live_bytes;
}

static void write_ops(struct fb_trace_writer *writer)
{
    fb_trace_writer_op(writer, 0, (struct fb_op){.kind = FB_OP_PHASE_BEGIN});
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (uint32_t slot = 0; slot < OBJECTS; slot++)
            fb_trace_writer_op(
                writer, 0, (struct fb_op){.kind = FB_OP_ALLOC, .slot = slot, .arg = size_of(slot)});
        for (uint32_t slot = 0; slot < OBJECTS; slot++)
            fb_trace_writer_op(writer, 0, (struct fb_op){.kind = FB_OP_FREE, .slot = slot});
        fb_trace_writer_op(writer, 0, (struct fb_op){.kind = FB_OP_SLEEP, .arg = PAUSE_NS});
    }
    fb_trace_writer_op(writer, 0,
                       (struct fb_op){.kind = FB_OP_CHECKPOINT, .flags = FB_CHECKPOINT_PHASE_END});
    fb_trace_writer_op(writer, 0, (struct fb_op){.kind = FB_OP_PHASE_END});
    fb_trace_writer_op(writer, 0, (struct fb_op){.kind = FB_OP_END});
}

static int write_trace(int fd, struct fb_error *err)
{
    struct fb_trace_class class = {.name = "small", .call = FB_CALL_MALLOC};
    struct fb_trace_phase phase = {.name = "exercise"};
    struct fb_trace_stream stream = {0};
    struct fb_trace_header header;
    struct fb_trace_writer *writer;
    count(&header, &stream);
    (void)fb_trace_layout(&header);
    if (fb_trace_writer_open(&writer, fd, &header, &class, &phase, &stream, err) != 0)
        return -1;
    write_ops(writer);
    return fb_trace_writer_close(writer, err);
}

static int keep(void *user, const struct fb_run_request *request, struct fb_run_outcome *outcome,
                struct fb_error *err)
{
    struct fb_exercise *seen = user;
    (void)request;
    (void)err;
    *seen = (struct fb_exercise){.status = outcome->repetition.status,
                                 .detail = outcome->repetition.status_detail,
                                 .owner = outcome->malloc_owner,
                                 .clock_calls = outcome->repetition.clock_calls,
                                 .clock_proven = outcome->clock_proven};
    outcome->repetition.status_detail = NULL;
    fb_repetition_deinit(&outcome->repetition);
    fb_settings_free(outcome->effective, outcome->effective_count);
    free(outcome->latency);
    return 0;
}

static int run(int fd, const struct fb_contender *contender, struct fb_exercise *out,
               struct fb_error *err)
{
    struct fb_trace trace;
    const char *fault = fb_trace_open(fd, &trace);
    if (fault != NULL)
        return fb_fail(err, FB_ERROR_IO, "the exercise's trace is %s", fault);
    struct fb_run_request request = {
        .trace_fd = fd, .trace = trace.header, .contender = contender, .timeout_ns = TIMEOUT_NS};
    struct fb_runner_hooks hooks = {.finished = keep, .user = out};
    int result = fb_runner_run(&request, 1, 1, &hooks, NULL, err);
    fb_trace_close(&trace);
    return result;
}

int fb_exercise_run(const struct fb_contender *contender, struct fb_exercise *out,
                    struct fb_error *err)
{
    int fd = memfd_create("fragbench-exercise", MFD_CLOEXEC);
    if (fd < 0)
        return fb_fail_errno(err, "cannot make a memfd");
    int result = write_trace(fd, err);
    if (result == 0)
        result = run(fd, contender, out, err);
    (void)close(fd);
    return result;
}

void fb_exercise_deinit(struct fb_exercise *exercise)
{
    free(exercise->detail);
    free(exercise->owner);
}
