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

static bool is_object_op(const struct fb_op *op)
{
    return op->kind == FB_OP_ALLOC || op->kind == FB_OP_FREE || op->kind == FB_OP_REALLOC;
}

size_t fb_trace_check_scratch_bytes(const struct fb_trace *trace)
{
    size_t slots = (trace->header->slot_count + 7U) & ~(size_t)7;
    return slots + trace->header->stream_count * sizeof(uint64_t);
}

/* Streams in lockstep order. A stream's position is its next op + 1, 0 before its start, ENDED
 * after its join. */
struct walk {
    const struct fb_trace *trace;
    uint64_t *positions;
    uint64_t current;
};
#define ENDED UINT64_MAX

static bool runs(const struct walk *walk, uint64_t stream)
{
    return walk->positions[stream] != 0 && walk->positions[stream] != ENDED;
}

static const char *follow_join(struct walk *walk, uint64_t stream)
{
    if (!runs(walk, stream) || stream == 0)
        return "a join of a thread that does not run";
    const struct fb_op *last =
        &walk->trace->ops[walk->trace->streams[stream].first_op + walk->positions[stream] - 1];
    if (last->kind != FB_OP_END)
        return "a join of a thread that has more to do";
    walk->positions[stream] = ENDED;
    return NULL;
}

static const char *follow(struct walk *walk, const struct fb_op *op)
{
    switch ((enum fb_op_kind)op->kind) {
    case FB_OP_TURN:
        if (!runs(walk, op->arg))
            return "a turn to a thread that does not run";
        walk->current = op->arg;
        return NULL;
    case FB_OP_THREAD_START:
        if (walk->current != 0 || walk->positions[op->arg] != 0)
            return "a start of a thread that was started, or not by main";
        walk->positions[op->arg] = 1;
        return NULL;
    case FB_OP_THREAD_JOIN:
        return walk->current == 0 ? follow_join(walk, op->arg) : "a join not by main";
    case FB_OP_END:
        return walk->current == 0 ? NULL : "a thread that ends outside its join";
    default:
        return NULL;
    }
}

static const char *check_op(struct walk *walk, const struct fb_op *op, unsigned char *filled)
{
    if (is_object_op(op))
        return check_object_op(walk->trace, op, filled);
    const char *fault = check_mark_op(walk->trace, op);
    return fault != NULL ? fault : follow(walk, op);
}

static const char *check_all_ended(const struct walk *walk)
{
    for (uint32_t i = 1; i < walk->trace->header->stream_count; i++)
        if (walk->positions[i] != ENDED)
            return "a thread that was not joined";
    return NULL;
}

const char *fb_trace_check_ops(const struct fb_trace *trace, void *scratch, uint64_t *op)
{
    size_t slots = (trace->header->slot_count + 7U) & ~(size_t)7;
    struct walk walk = {.trace = trace, .positions = (void *)((char *)scratch + slots)};
    walk.positions[0] = 1;
    for (;;) {
        uint64_t index = trace->streams[walk.current].first_op + walk.positions[walk.current] - 1;
        const struct fb_op *current = &trace->ops[index];
        walk.positions[walk.current]++;
        *op = index;
        const char *fault = check_op(&walk, current, scratch);
        if (fault != NULL)
            return fault;
        if (current->kind == FB_OP_END)
            return check_all_ended(&walk);
    }
}
