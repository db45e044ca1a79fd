/* Writing a trace whose counts are known (the compiler's second pass).
 *
 * The header's counts fix where each section goes, so ops are written at their
 * final places through a buffer a stream. Caller's storage for header and tables;
 * the writer owns its buffers until close.
 */
#ifndef FB_TRACE_WRITER_H
#define FB_TRACE_WRITER_H

#include "base/error.h"
#include "trace/format.h"

struct fb_trace_writer;

/* Fills the offsets of header from its counts; returns the file's size in bytes. */
uint64_t fb_trace_layout(struct fb_trace_header *header);

/* Writes header and tables to fd (an empty regular file, read-write). streams[i].op_count is given,
 * first_op is filled in. Fails with IO when the disk is full. */
int fb_trace_writer_open(struct fb_trace_writer **out, int fd, struct fb_trace_header *header,
                         const struct fb_trace_class *classes, const struct fb_trace_phase *phases,
                         struct fb_trace_stream *streams, struct fb_error *err) FB_MUST_USE;
/* Appends to a stream. Errors are kept and reported by close. */
void fb_trace_writer_op(struct fb_trace_writer *writer, uint32_t stream, struct fb_op op);
/* Flushes and frees the writer; fails when a write failed or a stream's count was not met. */
int fb_trace_writer_close(struct fb_trace_writer *writer, struct fb_error *err) FB_MUST_USE;

#endif
