/* Mapping and validating a trace. No allocation, so the worker can use it. */
#ifndef FB_TRACE_READER_H
#define FB_TRACE_READER_H

#include "trace/format.h"

#include <stddef.h>

struct fb_trace {
    const struct fb_trace_header *header;
    const struct fb_trace_class *classes;
    const struct fb_trace_phase *phases;
    const struct fb_trace_stream *streams;
    const struct fb_op *ops;
    size_t size_bytes;
};

/* Maps fd read-only and checks every offset, count and table entry (not each op: see
 * fb_trace_check_ops). Returns NULL when well, else a static text saying what is wrong. */
const char *fb_trace_open(int fd, struct fb_trace *out);
void fb_trace_close(struct fb_trace *trace);

/* Checks each op, streams in lockstep order: kinds, slots, classes, phases within their tables;
 * sizes; a slot is filled before it is freed; threads run between their start and their join, which
 * all have. NULL or a static text; *op gets the index. scratch: fb_trace_check_scratch_bytes(),
 * zeroed, 8-byte aligned. */
const char *fb_trace_check_ops(const struct fb_trace *trace, void *scratch, uint64_t *op);
size_t fb_trace_check_scratch_bytes(const struct fb_trace *trace);

#endif
