#include "trace/reader.h"

#include "trace/shared.h"

#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

static bool section_fits(uint64_t offset, uint64_t count, uint64_t size, uint64_t total)
{
    return offset % 64 == 0 && offset <= total && count <= (total - offset) / size;
}

static bool name_ends(const char name[FB_NAME_MAX])
{
    return memchr(name, '\0', FB_NAME_MAX) != NULL;
}

static const char *check_classes(const struct fb_trace *trace)
{
    for (uint32_t i = 0; i < trace->header->class_count; i++) {
        const struct fb_trace_class *class = &trace->classes[i];
        if (!name_ends(class->name) || class->call > FB_CALL_ALIGNED ||
            class->touch > FB_TOUCH_SHARE || class->touch_share > UINT64_C(1) << 32)
            return "a damaged class table";
        if (class->call == FB_CALL_ALIGNED &&
            (class->align < sizeof(void *) || (class->align & (class->align - 1)) != 0))
            return "an alignment that is no power of two";
    }
    return NULL;
}

static const char *check_streams(const struct fb_trace *trace)
{
    uint64_t next = 0;
    for (uint32_t i = 0; i < trace->header->stream_count; i++) {
        const struct fb_trace_stream *stream = &trace->streams[i];
        if (stream->first_op != next || stream->op_count == 0 ||
            stream->op_count > trace->header->op_count - next)
            return "a damaged stream table";
        next += stream->op_count;
        if (trace->ops[next - 1].kind != FB_OP_END)
            return "a stream without an end";
    }
    return next == trace->header->op_count ? NULL : "ops that belong to no stream";
}

static const char *check_tables(const struct fb_trace *trace)
{
    const struct fb_trace_header *header = trace->header;
    if (header->class_count > UINT16_MAX || header->stream_count == 0 || header->phase_count == 0)
        return "impossible counts";
    if (header->slot_count > UINT32_MAX || header->cost_bytes_per_us == 0)
        return "impossible totals";
    for (uint32_t i = 0; i < header->phase_count; i++)
        if (!name_ends(trace->phases[i].name))
            return "a damaged phase table";
    const char *fault = check_classes(trace);
    return fault != NULL ? fault : check_streams(trace);
}

static const char *place_sections(struct fb_trace *trace)
{
    const struct fb_trace_header *header = trace->header;
    const char *base = (const char *)header;
    if (header->magic != FB_TRACE_MAGIC)
        return "not a fragbench trace";
    if (header->version != FB_TRACE_VERSION)
        return "a trace of another version";
    uint64_t total = trace->size_bytes;
    if (!section_fits(header->class_offset, header->class_count, sizeof *trace->classes, total) ||
        !section_fits(header->phase_offset, header->phase_count, sizeof *trace->phases, total) ||
        !section_fits(header->stream_offset, header->stream_count, sizeof *trace->streams, total) ||
        !section_fits(header->op_offset, header->op_count, sizeof *trace->ops, total))
        return "a section beyond the file's end";
    trace->classes = (const struct fb_trace_class *)(base + header->class_offset);
    trace->phases = (const struct fb_trace_phase *)(base + header->phase_offset);
    trace->streams = (const struct fb_trace_stream *)(base + header->stream_offset);
    trace->ops = (const struct fb_op *)(base + header->op_offset);
    return check_tables(trace);
}

const char *fb_trace_open(int fd, struct fb_trace *out)
{
    struct stat status;
    if (fstat(fd, &status) != 0)
        return "a file that cannot be examined";
    if ((uint64_t)status.st_size < sizeof(struct fb_trace_header))
        return "a file shorter than a trace's header";
    size_t size = (size_t)status.st_size;
    void *memory = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED)
        return "a file that cannot be mapped";
    struct fb_trace trace = {.header = memory, .size_bytes = size};
    const char *fault = place_sections(&trace);
    if (fault != NULL) {
        munmap(memory, size);
        return fault;
    }
    *out = trace;
    return NULL;
}

void fb_trace_close(struct fb_trace *trace)
{
    if (trace->header != NULL)
        munmap((void *)(uintptr_t)trace->header, trace->size_bytes);
    memset(trace, 0, sizeof *trace);
}

static const char *check_object_op(const struct fb_trace *trace, const struct fb_op *op,
                                   unsigned char *filled)
{
    if (op->slot >= trace->header->slot_count || op->class_index >= trace->header->class_count)
        return "a slot or class beyond its table";
    if (op->kind != FB_OP_FREE && (op->arg == 0 || op->arg > FB_OBJECT_SIZE_MAX))
        return "an impossible size";
    unsigned char *slot = &filled[op->slot];
    if (op->kind == FB_OP_ALLOC && *slot)
        return "an allocation into a slot that is in use";
    if (op->kind != FB_OP_ALLOC && !*slot)
        return "a free or realloc of an empty slot";
    *slot = op->kind != FB_OP_FREE;
    return NULL;
}

static const char *check_mark_op(const struct fb_trace *trace, const struct fb_op *op)
{
    switch ((enum fb_op_kind)op->kind) {
    case FB_OP_PHASE_BEGIN:
    case FB_OP_PHASE_END:
        return op->arg < trace->header->phase_count ? NULL : "a phase beyond its table";
    case FB_OP_CHECKPOINT:
        return op->flags < FB_CHECKPOINT_KIND_COUNT && op->arg < trace->header->phase_count
                   ? NULL
                   : "an unknown checkpoint";
    case FB_OP_TURN:
    case FB_OP_THREAD_START:
    case FB_OP_THREAD_JOIN:
        return op->arg < trace->header->stream_count ? NULL : "a stream beyond its table";
    default:
        return op->kind < FB_OP_KIND_COUNT ? NULL : "an unknown op";
    }
}

const char *fb_trace_check_ops(const struct fb_trace *trace, unsigned char *scratch, uint64_t *op)
{
    for (uint64_t i = 0; i < trace->header->op_count; i++) {
        const struct fb_op *current = &trace->ops[i];
        bool object = current->kind == FB_OP_ALLOC || current->kind == FB_OP_FREE ||
                      current->kind == FB_OP_REALLOC;
        const char *fault =
            object ? check_object_op(trace, current, scratch) : check_mark_op(trace, current);
        *op = i;
        if (fault != NULL)
            return fault;
    }
    return NULL;
}
