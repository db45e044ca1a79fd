#include "report/html_text.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Bytes of the UTF-8 character at text; 0 = it is none (overlong, surrogate, cut off …). */
static size_t character(const unsigned char *text)
{
    static const struct {
        unsigned char from, to, low, high; /* first byte; range of the second */
        size_t length;
    } forms[] = {
        {0x00, 0x7f, 0x00, 0x00, 1}, {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
        {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
        {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
    };
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        if (text[0] < forms[i].from || text[0] > forms[i].to)
            continue;
        size_t length = forms[i].length;
        if (length > 1 && (text[1] < forms[i].low || text[1] > forms[i].high))
            return 0;
        for (size_t at = 2; at < length; at++)
            if ((text[at] & 0xc0U) != 0x80U)
                return 0;
        return length;
    }
    return 0;
}

static const char *entity(char byte)
{
    switch (byte) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

void fb_html_text(struct fb_buf *out, const char *text)
{
    while (*text != '\0') {
        size_t length = character((const unsigned char *)text);
        unsigned char first = (unsigned char)*text;
        if (length == 0)
            fb_buf_adds(out, "\xef\xbf\xbd");
        else if ((first < 0x20 && first != '\n') || first == 0x7f)
            fb_buf_adds(out, " ");
        else if (entity(*text) != NULL)
            fb_buf_adds(out, entity(*text));
        else
            fb_buf_add(out, text, length);
        text += length == 0 ? 1 : length;
    }
}

void fb_html_prose(struct fb_buf *out, const char *text)
{
    while (*text != '\0') {
        size_t length = strcspn(text, "\n");
        bool command = strncmp(text, FB_HTML_COMMAND, strlen(FB_HTML_COMMAND)) == 0;
        struct fb_buf line;
        fb_buf_init(&line, length + 2);
        fb_buf_add(&line, text, length);
        if (length > 0) {
            fb_buf_adds(out, command ? "<pre>" : "<p>");
            fb_html_text(out, line.text + (command ? strlen(FB_HTML_COMMAND) : 0));
            fb_buf_adds(out, command ? "</pre>\n" : "</p>\n");
        }
        fb_buf_deinit(&line);
        text += length + (text[length] == '\n');
    }
}

/* What an id or a reference to one follows in gnuplot's SVG. Only inside tags: a text node's quotes
 * may say the same. */
static size_t reference_mark(const char *at)
{
    static const char *const marks[] = {" id=\"", " id='", "href='#", "href=\"#", "url(#"};
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++)
        if (strncmp(at, marks[i], strlen(marks[i])) == 0)
            return strlen(marks[i]);
    return 0;
}

void fb_html_svg(struct fb_buf *out, const char *svg, const char *prefix)
{
    const char *at = strstr(svg, "<svg");
    const char *from = at;
    bool tag = false;
    if (at == NULL)
        return;
    for (; *at != '\0'; at++) {
        tag = *at == '<' || (tag && *at != '>');
        size_t mark = tag ? reference_mark(at) : 0;
        if (mark == 0)
            continue;
        fb_buf_add(out, from, (size_t)(at - from) + mark);
        fb_buf_adds(out, prefix);
        from = at + mark;
        at = from - 1;
    }
    fb_buf_add(out, from, (size_t)(at - from));
}

void fb_html_base64(struct fb_buf *out, const void *data, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *bytes = data;
    for (size_t at = 0; at < size; at += 3) {
        size_t here = size - at < 3 ? size - at : 3;
        uint32_t word = (uint32_t)bytes[at] << 16;
        word |= here > 1 ? (uint32_t)bytes[at + 1] << 8 : 0;
        word |= here > 2 ? bytes[at + 2] : 0;
        for (size_t i = 0; i < 4; i++)
            fb_buf_add(out, i <= here ? &digits[(word >> (18 - 6 * i)) & 63U] : "=", 1);
    }
}
