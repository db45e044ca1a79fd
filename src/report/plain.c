#include "report/plain.h"

#include "base/alloc.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define REPLACEMENT "\xEF\xBF\xBD" /* U+FFFD */

/* Bytes of the character that begins here, 0 where none does: neither too long a form nor a
 * surrogate nor beyond U+10FFFF is one. */
static size_t character(const unsigned char *at, uint32_t *code)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    if (at[0] < 0x80) {
        *code = at[0];
        return 1;
    }
    size_t size = at[0] >= 0xF0 ? 4 : at[0] >= 0xE0 ? 3 : 2;
    if (at[0] < 0xC0 || at[0] > 0xF7)
        return 0;
    *code = at[0] & (0x7FU >> size);
    for (size_t i = 1; i < size; i++) {
        if ((at[i] & 0xC0U) != 0x80U) /* a terminator is none either */
            return 0;
        *code = *code << 6 | (at[i] & 0x3FU);
    }
    bool surrogate = *code >= 0xD800 && *code <= 0xDFFF;
    return *code < least[size] || surrogate || *code > 0x10FFFF ? 0 : size;
}

/* U+0085, U+2028 and U+2029 end a line for some readers. */
static bool is_control(uint32_t code)
{
    bool separator = code == 0x2028 || code == 0x2029;
    return code < 0x20 || (code >= 0x7F && code <= 0x9F) || separator || (code & 0xFFFE) == 0xFFFE;
}

char *fb_plain_text(const char *text, enum fb_plain_lines lines)
{
    const unsigned char *at = (const unsigned char *)(text != NULL ? text : "");
    char *plain = fb_alloc(strlen((const char *)at) * 3 + 1, 1), *to = plain;
    while (*at != '\0') {
        uint32_t code = 0;
        size_t size = character(at, &code);
        if (size == 0) {
            memcpy(to, REPLACEMENT, 3);
            to += 3;
        } else if (is_control(code) && !(code == '\n' && lines == FB_PLAIN_KEEP_LINES)) {
            *to++ = ' ';
        } else {
            memcpy(to, at, size);
            to += size;
        }
        at += size == 0 ? 1 : size;
    }
    *to = '\0';
    return plain;
}

void fb_plain_add(struct fb_buf *out, const char *text, enum fb_plain_lines lines,
                  const struct fb_plain_escape *escapes)
{
    char *plain = fb_plain_text(text, lines);
    for (const char *at = plain; *at != '\0'; at++) {
        const struct fb_plain_escape *escape = escapes;
        while (escape->from != '\0' && escape->from != *at)
            escape++;
        if (escape->from != '\0')
            fb_buf_adds(out, escape->to);
        else
            fb_buf_add(out, at, 1);
    }
    free(plain);
}
