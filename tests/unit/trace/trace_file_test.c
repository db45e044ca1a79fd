/* Trace files: written where the layout says, read back, and refused when damaged. */
#include "trace/reader.h"
#include "trace/shared.h"
#include "trace/writer.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const struct fb_trace_class class = {.name = "block", .touch = FB_TOUCH_PAGES};
static const struct fb_trace_phase phase = {.name = "work"};
static const struct fb_op ops[2][7] = {
    {{.kind = FB_OP_PHASE_BEGIN},
     {.kind = FB_OP_THREAD_START, .arg = 1},
     {.kind = FB_OP_ALLOC, .slot = 1, .arg = 100},
     {.kind = FB_OP_TURN, .arg = 1},
     {.kind = FB_OP_FREE, .slot = 1},
     {.kind = FB_OP_THREAD_JOIN, .arg = 1},
     {.kind = FB_OP_END}},
    {{.kind = FB_OP_ALLOC, .slot = 0, .arg = 7},
     {.kind = FB_OP_REALLOC, .slot = 0, .arg = 9},
     {.kind = FB_OP_SAMPLE},
     {.kind = FB_OP_SAMPLE},
     {.kind = FB_OP_FREE, .slot = 0},
     {.kind = FB_OP_TURN},
     {.kind = FB_OP_END}},
};
enum { STREAM_OPS = 7 };

static struct fb_trace_header good_header(void)
{
    return (struct fb_trace_header){.magic = FB_TRACE_MAGIC,
                                    .version = FB_TRACE_VERSION,
                                    .class_count = 1,
                                    .phase_count = 1,
                                    .stream_count = 2,
                                    .op_count = 2 * STREAM_OPS,
                                    .slot_count = 2,
                                    .cost_op_ns = 100,
                                    .cost_bytes_per_us = 8000};
}

/* A good trace of two streams, written interleaved as lockstep order would. */
static int write_good(void)
{
    struct fb_trace_header header = good_header();
    struct fb_trace_stream streams[2] = {{.op_count = STREAM_OPS}, {.op_count = STREAM_OPS}};
    struct fb_trace_writer *writer = NULL;
    struct fb_error err = {0};
    int fd = memfd_create("trace", MFD_CLOEXEC);
    assert_int_equal(fb_trace_writer_open(&writer, fd, &header, &class, &phase, streams, &err), 0);
    for (size_t i = 0; i < STREAM_OPS; i++)
        for (uint32_t stream = 0; stream < 2; stream++)
            fb_trace_writer_op(writer, stream, ops[stream][i]);
    assert_int_equal(fb_trace_writer_close(writer, &err), 0);
    return fd;
}

static void what_was_written_is_read_back(void **state)
{
    (void)state;
    int fd = write_good();
    struct fb_trace trace;
    assert_null(fb_trace_open(fd, &trace));
    assert_string_equal(trace.classes[0].name, "block");
    assert_string_equal(trace.phases[0].name, "work");
    assert_int_equal(trace.streams[1].first_op, STREAM_OPS);
    assert_memory_equal(trace.ops, ops, sizeof ops);
    uint64_t scratch[8] = {0};
    assert_true(fb_trace_check_scratch_bytes(&trace) <= sizeof scratch);
    uint64_t op = 0;
    assert_null(fb_trace_check_ops(&trace, scratch, &op));
    fb_trace_close(&trace);
    close(fd);
}

static void damaged_files_are_refused_with_the_reason(void **state)
{
    (void)state;
    static const struct {
        size_t offset;
        uint64_t value;
        size_t size;
        const char *reason;
    } damages[] = {
        {offsetof(struct fb_trace_header, magic), 1, 8, "not a fragbench trace"},
        {offsetof(struct fb_trace_header, version), 99, 4, "a trace of another version"},
        {offsetof(struct fb_trace_header, op_count), UINT64_MAX / 16, 8,
         "a section beyond the file's end"},
        {offsetof(struct fb_trace_header, op_offset), 1, 8, "a section beyond the file's end"},
        {offsetof(struct fb_trace_header, class_count), UINT32_MAX, 4,
         "a section beyond the file's end"},
        {offsetof(struct fb_trace_header, stream_count), 0, 4, "impossible counts"},
        {offsetof(struct fb_trace_header, slot_count), UINT64_C(1) << 40, 8, "impossible totals"},
        {offsetof(struct fb_trace_header, op_count), 13, 8, "a damaged stream table"},
    };
    for (size_t i = 0; i < COUNT(damages); i++) {
        int fd = write_good();
        assert_int_equal(pwrite(fd, &damages[i].value, damages[i].size, (off_t)damages[i].offset),
                         damages[i].size);
        struct fb_trace trace = {0};
        const char *fault = fb_trace_open(fd, &trace);
        assert_non_null(fault);
        assert_string_equal(fault, damages[i].reason);
        assert_null(trace.header);
        close(fd);
    }
}

static void every_truncation_is_refused(void **state)
{
    (void)state;
    int fd = write_good();
    off_t size = lseek(fd, 0, SEEK_END);
    for (off_t length = size - 1; length >= 0; length -= 8) {
        struct fb_trace trace = {0};
        assert_int_equal(ftruncate(fd, length), 0);
        assert_non_null(fb_trace_open(fd, &trace));
    }
    close(fd);
}

static void wrong_ops_are_named_with_their_index(void **state)
{
    (void)state;
    static const struct {
        size_t index;
        struct fb_op op;
        const char *reason;
    } faults[] = {
        {2, {.kind = FB_OP_ALLOC, .slot = 2, .arg = 1}, "a slot or class beyond its table"},
        {2, {.kind = FB_OP_ALLOC, .slot = 1, .arg = 0}, "an impossible size"},
        {2, {.kind = FB_OP_ALLOC, .class_index = 1, .arg = 1}, "a slot or class beyond its table"},
        {2, {.kind = FB_OP_FREE, .slot = 0}, "a free or realloc of an empty slot"},
        {9, {.kind = FB_OP_ALLOC, .slot = 1, .arg = 1}, "an allocation into a slot that is in use"},
        {2, {.kind = 200}, "an unknown op"},
        {0, {.kind = FB_OP_PHASE_END, .arg = 1}, "a phase beyond its table"},
        {0, {.kind = FB_OP_TURN, .arg = 2}, "a stream beyond its table"},
        {0, {.kind = FB_OP_CHECKPOINT, .flags = 99}, "an unknown checkpoint"},
        {0, {.kind = FB_OP_TURN, .arg = 1}, "a turn to a thread that does not run"},
        {0, {.kind = FB_OP_THREAD_JOIN, .arg = 1}, "a join of a thread that does not run"},
        {2, {.kind = FB_OP_THREAD_JOIN, .arg = 1}, "a join of a thread that has more to do"},
        {9,
         {.kind = FB_OP_THREAD_START, .arg = 1},
         "a start of a thread that was started, or not by main"},
        {9, {.kind = FB_OP_END}, "a thread that ends outside its join"},
        {5, {.kind = FB_OP_SAMPLE}, "a thread that was not joined"},
    };
    for (size_t i = 0; i < COUNT(faults); i++) {
        int fd = write_good();
        struct fb_trace trace;
        assert_null(fb_trace_open(fd, &trace));
        uint64_t op_offset = trace.header->op_offset;
        fb_trace_close(&trace);
        assert_int_equal(pwrite(fd, &faults[i].op, sizeof(struct fb_op),
                                (off_t)(op_offset + faults[i].index * sizeof(struct fb_op))),
                         sizeof(struct fb_op));
        assert_null(fb_trace_open(fd, &trace));
        uint64_t scratch[8] = {0};
        uint64_t op = 0;
        const char *fault = fb_trace_check_ops(&trace, scratch, &op);
        assert_non_null(fault);
        assert_string_equal(fault, faults[i].reason);
        /* A missing join shows at main's end only. */
        bool at_end = strcmp(fault, "a thread that was not joined") == 0;
        assert_int_equal(op, at_end ? STREAM_OPS - 1 : faults[i].index);
        fb_trace_close(&trace);
        close(fd);
    }
}

static void a_short_stream_and_a_full_disk_are_errors(void **state)
{
    (void)state;
    struct fb_trace_header header = good_header();
    struct fb_trace_stream streams[2] = {{.op_count = STREAM_OPS}, {.op_count = STREAM_OPS}};
    struct fb_trace_writer *writer = NULL;
    struct fb_error err = {0};
    int fd = memfd_create("trace", MFD_CLOEXEC);
    assert_int_equal(fb_trace_writer_open(&writer, fd, &header, &class, &phase, streams, &err), 0);
    assert_int_equal(fb_trace_writer_close(writer, &err), -1);
    close(fd);

    char path[] = "/tmp/fragbench-trace-XXXXXX";
    fd = mkstemp(path);
    assert_true(fd >= 0);
    unlink(path);
    struct rlimit before, small = {.rlim_cur = 512, .rlim_max = RLIM_INFINITY};
    getrlimit(RLIMIT_FSIZE, &before);
    small.rlim_max = before.rlim_max;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    memset(&err, 0, sizeof err);
    int result = fb_trace_writer_open(&writer, fd, &header, &class, &phase, streams, &err);
    setrlimit(RLIMIT_FSIZE, &before);
    assert_int_equal(result, -1);
    assert_int_equal(err.kind, FB_ERROR_IO);
    assert_non_null(strstr(err.text, "File too large"));
    close(fd);
}

static void touched_bytes_follow_the_class(void **state)
{
    (void)state;
    struct fb_trace_class half = {.touch = FB_TOUCH_SHARE, .touch_share = UINT64_C(1) << 31};
    struct fb_trace_class none = {.touch = FB_TOUCH_NONE};
    struct fb_trace_class all = {.touch = FB_TOUCH_ALL};
    assert_int_equal(fb_trace_touched_bytes(&class, 100), 100);
    assert_int_equal(fb_trace_touched_bytes(&all, 100), 100);
    assert_int_equal(fb_trace_touched_bytes(&none, 100), 0);
    assert_int_equal(fb_trace_touched_bytes(&half, 100), 100); /* a whole page, capped */
    assert_int_equal(fb_trace_touched_bytes(&half, 65536), 32768);
    assert_int_equal(fb_trace_touched_bytes(&half, 65538), 36864);
    assert_int_equal(fb_trace_touched_bytes(&half, UINT64_C(1) << 46), UINT64_C(1) << 45);
}

static void latency_buckets_are_ordered_and_three_percent_wide(void **state)
{
    (void)state;
    uint32_t last = 0;
    for (uint64_t ticks = 0; ticks < UINT64_C(1) << 50; ticks += 1 + ticks / 100) {
        uint32_t bucket = fb_latency_bucket(ticks);
        assert_true(bucket >= last && bucket < FB_LATENCY_BUCKETS);
        assert_true(fb_latency_ticks(bucket) <= ticks);
        assert_true(fb_latency_ticks(bucket + 1) > ticks);
        if (ticks >= 64)
            assert_true((double)(ticks - fb_latency_ticks(bucket)) <= 0.032 * (double)ticks);
        last = bucket;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_written_is_read_back),
        cmocka_unit_test(damaged_files_are_refused_with_the_reason),
        cmocka_unit_test(every_truncation_is_refused),
        cmocka_unit_test(wrong_ops_are_named_with_their_index),
        cmocka_unit_test(a_short_stream_and_a_full_disk_are_errors),
        cmocka_unit_test(touched_bytes_follow_the_class),
        cmocka_unit_test(latency_buckets_are_ordered_and_three_percent_wide),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
