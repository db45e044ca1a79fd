#include "report/prose.h"

#include <limits.h>
#include <stdbool.h>
#include <string.h>

/* Bytes of text that fill at most `width` columns. */
static size_t bytes_of_width(const char *text, size_t length, unsigned width)
{
    size_t at = 0;
    for (unsigned columns = 0; at < length; at++)
        if (((unsigned char)text[at] & 0xC0U) != 0x80U && columns++ == width)
            break;
    return at;
}

/* One line, broken at spaces; a word longer than the terminal stays whole. */
static void add_wrapped(const char *line, size_t length, unsigned width, struct fb_buf *out)
{
    for (;;) {
        size_t fits = bytes_of_width(line, length, width);
        size_t cut = fits;
        while (fits < length && cut > 0 && line[cut] != ' ')
            cut--;
        if (fits < length && cut == 0)
            cut = (size_t)(strchrnul(line + fits, ' ') - line);
        if (fits >= length || cut >= length)
            break;
        fb_buf_add(out, line, cut);
        fb_buf_adds(out, "\n");
        line += cut + 1;
        length -= cut + 1;
    }
    fb_buf_add(out, line, length);
    fb_buf_adds(out, "\n");
}

void fb_prose_add(const char *text, unsigned width, struct fb_buf *out)
{
    while (*text != '\0') {
        size_t length = strcspn(text, "\n");
        bool command = text[0] == ' ';
        add_wrapped(text, length, width == 0 || command ? UINT_MAX : width, out);
        text += length + (text[length] == '\n');
    }
}
