#include "trace/writer.h"

#include "base/alloc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BUFFERED_OPS = 4096 };

struct stream_buffer {
    struct fb_op *ops; /* allocated at the stream's first op */
    uint32_t used;
    uint64_t next_op; /* index in the ops section of ops[0] */
    uint64_t end_op;
};

struct fb_trace_writer {
    int fd;
    int failed_errno; /* the first write that failed */
    uint64_t op_offset;
    uint32_t stream_count;
    struct stream_buffer *streams;
};

static uint64_t align64(uint64_t offset)
{
    return (offset + 63U) & ~UINT64_C(63);
}

uint64_t fb_trace_layout(struct fb_trace_header *header)
{
    header->class_offset = align64(sizeof *header);
    header->phase_offset =
        align64(header->class_offset + header->class_count * sizeof(struct fb_trace_class));
    header->stream_offset =
        align64(header->phase_offset + header->phase_count * sizeof(struct fb_trace_phase));
    header->op_offset =
        align64(header->stream_offset + header->stream_count * sizeof(struct fb_trace_stream));
    return header->op_offset + header->op_count * sizeof(struct fb_op);
}

static void write_at(struct fb_trace_writer *writer, const void *data, size_t size, uint64_t offset)
{
    const char *bytes = data;
    while (size > 0 && writer->failed_errno == 0) {
        ssize_t written = pwrite(writer->fd, bytes, size, (off_t)offset);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0) {
            writer->failed_errno = written < 0 ? errno : ENOSPC;
            return;
        }
        bytes += written;
        size -= (size_t)written;
        offset += (uint64_t)written;
    }
}

static void flush(struct fb_trace_writer *writer, struct stream_buffer *stream)
{
    if (stream->used == 0)
        return;
    write_at(writer, stream->ops, stream->used * sizeof *stream->ops,
             writer->op_offset + stream->next_op * sizeof *stream->ops);
    stream->next_op += stream->used;
    stream->used = 0;
}

static int close_streams(struct fb_trace_writer *writer, bool *complete)
{
    *complete = true;
    for (uint32_t i = 0; i < writer->stream_count; i++) {
        struct stream_buffer *stream = &writer->streams[i];
        flush(writer, stream);
        *complete = *complete && stream->next_op == stream->end_op;
        free(stream->ops);
    }
    int failed_errno = writer->failed_errno;
    free(writer->streams);
    free(writer);
    return failed_errno;
}

int fb_trace_writer_open(struct fb_trace_writer **out, int fd, struct fb_trace_header *header,
                         const struct fb_trace_class *classes, const struct fb_trace_phase *phases,
                         struct fb_trace_stream *streams, struct fb_error *err)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < header->stream_count; i++) {
        streams[i].first_op = total;
        total += streams[i].op_count;
    }
    if (total != header->op_count)
        return fb_fail(err, FB_ERROR_IO, "trace: the streams hold %llu ops, the header says %llu",
                       (unsigned long long)total, (unsigned long long)header->op_count);
    uint64_t size = fb_trace_layout(header);

    struct fb_trace_writer *writer = fb_alloc(1, sizeof *writer);
    writer->fd = fd;
    writer->op_offset = header->op_offset;
    writer->stream_count = header->stream_count;
    writer->streams = fb_alloc(header->stream_count, sizeof *writer->streams);
    for (uint32_t i = 0; i < header->stream_count; i++) {
        writer->streams[i].next_op = streams[i].first_op;
        writer->streams[i].end_op = streams[i].first_op + streams[i].op_count;
    }
    if (ftruncate(fd, (off_t)size) != 0)
        writer->failed_errno = errno;
    write_at(writer, header, sizeof *header, 0);
    write_at(writer, classes, header->class_count * sizeof *classes, header->class_offset);
    write_at(writer, phases, header->phase_count * sizeof *phases, header->phase_offset);
    write_at(writer, streams, header->stream_count * sizeof *streams, header->stream_offset);
    if (writer->failed_errno != 0) {
        bool complete;
        errno = close_streams(writer, &complete);
        return fb_fail_errno(err, "cannot write the trace (%llu bytes)", (unsigned long long)size);
    }
    *out = writer;
    return 0;
}

void fb_trace_writer_op(struct fb_trace_writer *writer, uint32_t stream_index, struct fb_op op)
{
    struct stream_buffer *stream = &writer->streams[stream_index];
    if (stream->ops == NULL)
        stream->ops = fb_alloc(BUFFERED_OPS, sizeof *stream->ops);
    stream->ops[stream->used++] = op;
    bool last = stream->next_op + stream->used == stream->end_op;
    if (stream->used == BUFFERED_OPS || last)
        flush(writer, stream);
    if (last) { /* there may be tens of thousands of streams, of a few ops each */
        free(stream->ops);
        stream->ops = NULL;
    }
}

int fb_trace_writer_close(struct fb_trace_writer *writer, struct fb_error *err)
{
    bool complete = false;
    int failed_errno = close_streams(writer, &complete);
    if (failed_errno != 0) {
        errno = failed_errno;
        return fb_fail_errno(err, "cannot write the trace");
    }
    if (!complete)
        return fb_fail(err, FB_ERROR_IO,
                       "trace: a stream did not get the ops it was laid out for (please report)");
    return 0;
}
