/* A growable text buffer with a size cap.
 *
 * Invariants: text is always terminated; length < capacity ≤ cap. A write that
 * would pass the cap sets `overflow` and is dropped whole. The owner calls
 * fb_buf_deinit(). Not shared between threads.
 */
#ifndef FB_BASE_BUF_H
#define FB_BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>

struct fb_buf {
    char *text;
    size_t length;
    size_t capacity;
    size_t cap;
    bool overflow;
};

void fb_buf_init(struct fb_buf *buf, size_t cap);
void fb_buf_deinit(struct fb_buf *buf);
void fb_buf_add(struct fb_buf *buf, const void *data, size_t size);
void fb_buf_adds(struct fb_buf *buf, const char *text);
void fb_buf_addf(struct fb_buf *buf, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
