#include "base/buf.h"

#include "base/alloc.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 256 };

/* Room for size more bytes and the terminator; false (and overflow) when the cap forbids it. */
static bool reserve(struct fb_buf *buf, size_t size)
{
    if (buf->cap <= buf->length || size >= buf->cap - buf->length) {
        buf->overflow = true;
        return false;
    }
    size_t needed = buf->length + size + 1;
    if (needed <= buf->capacity)
        return true;
    size_t capacity = buf->capacity > 0 ? buf->capacity : FIRST_CAPACITY;
    while (capacity < needed)
        capacity = capacity > buf->cap / 2 ? buf->cap : capacity * 2;
    if (capacity > buf->cap)
        capacity = buf->cap;
    buf->text = fb_realloc(buf->text, capacity, 1);
    buf->capacity = capacity;
    return true;
}

void fb_buf_init(struct fb_buf *buf, size_t cap)
{
    /* One byte at least, so that text is terminated whatever the cap. */
    *buf = (struct fb_buf){.text = fb_alloc(1, 1), .capacity = 1, .cap = cap > 0 ? cap : 1};
}

void fb_buf_deinit(struct fb_buf *buf)
{
    free(buf->text);
    *buf = (struct fb_buf){0};
}

void fb_buf_add(struct fb_buf *buf, const void *data, size_t size)
{
    if (size == 0 || !reserve(buf, size))
        return;
    memcpy(buf->text + buf->length, data, size);
    buf->length += size;
    buf->text[buf->length] = '\0';
}

void fb_buf_adds(struct fb_buf *buf, const char *text)
{
    fb_buf_add(buf, text, strlen(text));
}

void fb_buf_addf(struct fb_buf *buf, const char *fmt, ...)
{
    char *text = NULL;
    va_list args;
    va_start(args, fmt);
    int length = vasprintf(&text, fmt, args);
    va_end(args);
    if (length < 0) {
        buf->overflow = true;
        return;
    }
    fb_buf_add(buf, text, (size_t)length);
    free(text);
}
