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

/* Checks each op: kinds, slots, classes, phases within their tables; sizes; every stream ends with
 * END; a slot is filled before it is freed. NULL or a static text; *op gets the index. Needs
 * slot_count bytes of scratch, zeroed by the caller. */
const char *fb_trace_check_ops(const struct fb_trace *trace, unsigned char *scratch, uint64_t *op);

#endif
