#include "workload/text.h"

#include "base/alloc.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const char byte_order_mark[] = "\xEF\xBB\xBF";

bool fb_text_is_continuation(char byte)
{
    return ((unsigned char)byte & 0xC0U) == 0x80U;
}

/* Decodes one code point; returns its length in bytes, 0 when it is no UTF-8: overlong forms,
 * surrogates and values above U+10FFFF included. */
static size_t decode(const unsigned char *at, size_t left, uint32_t *out)
{
    size_t length = at[0] < 0x80 ? 1 : at[0] < 0xC2 ? 0 : at[0] < 0xE0 ? 2 : at[0] < 0xF0 ? 3 : 4;
    if (length == 0 || at[0] > 0xF4 || length > left)
        return 0;
    uint32_t point = length == 1 ? at[0] : at[0] & (0x7FU >> length);
    for (size_t i = 1; i < length; i++) {
        if ((at[i] & 0xC0U) != 0x80U)
            return 0;
        point = point << 6 | (at[i] & 0x3FU);
    }
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    if (point < smallest[length] || point > 0x10FFFF || (point >= 0xD800 && point <= 0xDFFF))
        return 0;
    *out = point;
    return length;
}

/* YAML 1.1's printable set, as libyaml's reader has it. */
static bool printable(uint32_t point)
{
    if (point < 0xA0)
        return (point >= 0x20 && point <= 0x7E) || point == '\t' || point == '\n' ||
               point == '\r' || point == 0x85;
    return point != 0xFEFF && point != 0xFFFE && point != 0xFFFF;
}

/* Length in bytes of the line end at `at`, 0 when none begins there. */
static size_t line_end(const char *text, size_t left)
{
    if (text[0] == '\r')
        return left > 1 && text[1] == '\n' ? 2 : 1;
    if (text[0] == '\n')
        return 1;
    if (left > 1 && memcmp(text, "\xC2\x85", 2) == 0)
        return 2;
    if (left > 2 && (memcmp(text, "\xE2\x80\xA8", 3) == 0 || memcmp(text, "\xE2\x80\xA9", 3) == 0))
        return 3;
    return 0;
}

const char *fb_text_line(const char *text, size_t size, size_t line, size_t *length_bytes)
{
    size_t number = 1, begin = 0;
    for (size_t at = 0; at < size;) {
        size_t end = line_end(text + at, size - at);
        if (end > 0 && number == line) {
            *length_bytes = at - begin;
            return text + begin;
        }
        number += end > 0;
        at += end > 0 ? end : 1;
        begin = end > 0 ? at : begin;
    }
    if (number != line)
        return NULL;
    *length_bytes = size - begin;
    return text + begin;
}

size_t fb_text_characters(const char *text, size_t size)
{
    size_t count = 0;
    for (size_t i = 0; i < size; i++)
        count += !fb_text_is_continuation(text[i]);
    return count;
}

size_t fb_text_offset(const char *text, size_t size, size_t character)
{
    size_t count = 0;
    for (size_t i = 0; i < size; i++) {
        if (fb_text_is_continuation(text[i]))
            continue;
        if (count++ == character)
            return i;
    }
    return size;
}

/* The first character that no workload may hold; NULL when all is text. */
static const char *find_fault(const char *text, size_t size, bool *utf8)
{
    for (size_t at = 0; at < size;) {
        uint32_t point = 0;
        size_t length = decode((const unsigned char *)text + at, size - at, &point);
        *utf8 = length > 0;
        if (length == 0 || !printable(point))
            return text + at;
        at += length;
    }
    return NULL;
}

static void report(struct fb_diagnostics *diagnostics, const char *text, const char *at, bool utf8)
{
    size_t line = 1, begin = 0, offset = (size_t)(at - text);
    for (size_t i = 0; i < offset;) {
        size_t end = line_end(text + i, offset - i);
        line += end > 0;
        i += end > 0 ? end : 1;
        begin = end > 0 ? i : begin;
    }
    size_t column = fb_text_characters(text + begin, offset - begin) + 1;
    unsigned value = (unsigned char)*at;
    if (utf8)
        fb_diagnostics_add(diagnostics, line, column, 1, "binary",
                           "a control character (byte 0x%02x): this is no text file; give a "
                           "workload in YAML",
                           value);
    else
        fb_diagnostics_add(diagnostics, line, column, 1, "not-utf8",
                           "byte 0x%02x is not UTF-8; save the file as UTF-8", value);
}

bool fb_text_accept(const char *text, size_t size, struct fb_diagnostics *diagnostics)
{
    if (size > FB_TEXT_MAX_BYTES) {
        fb_diagnostics_add(diagnostics, 0, 0, 1, "too-large",
                           "the file is larger than 1 MiB; put long patterns into distributions "
                           "and iterations");
        return false;
    }
    if (size >= 3 && memcmp(text, byte_order_mark, 3) == 0) {
        text += 3;
        size -= 3;
    }
    bool utf8 = true;
    const char *fault = find_fault(text, size, &utf8);
    if (fault != NULL) {
        report(diagnostics, text, fault, utf8);
        return false;
    }
    char *copy = fb_alloc(size + 1, 1);
    if (size > 0)
        memcpy(copy, text, size);
    free(diagnostics->source);
    diagnostics->source = copy;
    diagnostics->source_size = size;
    return true;
}
