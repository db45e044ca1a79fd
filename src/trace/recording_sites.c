#include "trace/recording_sites.h"

#include "base/alloc.h"
#include "trace/recording.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static void add_begin(struct fb_recording_sites *sites)
{
    if (sites->count == sites->begins_capacity) {
        sites->begins_capacity = sites->begins_capacity * 2 + 64;
        sites->begins = fb_realloc(sites->begins, sites->begins_capacity, sizeof *sites->begins);
    }
    sites->begins[sites->count++] = sites->length;
}

/* A paragraph's length with its empty line; 0: it has no end. */
static size_t paragraph(const unsigned char *content, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (content[i] == '\n' && (i == 0 || content[i - 1] == '\n'))
            return i + 1;
    return 0;
}

static bool is_text(const unsigned char *content, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (content[i] != '\n' && (content[i] < 0x20 || content[i] == 0x7f))
            return false;
    return true;
}

const char *fb_recording_sites_add(struct fb_recording_sites *sites, const unsigned char *content,
                                   size_t size, uint32_t count)
{
    if (!is_text(content, size))
        return "frames that are no text";
    if (count >= FB_RECORDING_SITES_MAX - sites->count)
        return "more call sites than there may be";
    if (size > sites->capacity - sites->length) {
        sites->capacity = sites->length + size;
        sites->text = fb_realloc(sites->text, sites->capacity, 1);
    }
    for (uint32_t i = 0; i < count; i++) {
        size_t taken = paragraph(content, size);
        if (taken == 0)
            return "fewer call sites than it says";
        add_begin(sites);
        memcpy(sites->text + sites->length, content, taken);
        sites->length += taken;
        /* "a\nb\n\n" → "a\nb", "\n" → "" */
        sites->text[sites->length - (taken > 1 ? 2 : 1)] = '\0';
        content += taken;
        size -= taken;
    }
    return size == 0 ? NULL : "more frames than it says";
}

const char *fb_recording_sites_get(const struct fb_recording_sites *sites, uint32_t site)
{
    return site > 0 && site <= sites->count ? sites->text + sites->begins[site - 1] : "";
}

void fb_recording_sites_deinit(struct fb_recording_sites *sites)
{
    free(sites->text);
    free(sites->begins);
    *sites = (struct fb_recording_sites){0};
}

/* What is left of a line of so many bytes: no part of a character at its end. */
static size_t cut_length(const char *line, size_t length)
{
    if (length <= FB_RECORDING_FRAME_MAX)
        return length;
    length = FB_RECORDING_FRAME_MAX;
    while (length > 0 && ((unsigned char)line[length] & 0xc0U) == 0x80U)
        length--;
    return length;
}

void fb_recording_sites_put(const char *frames, unsigned char **content, size_t *length,
                            size_t *capacity)
{
    size_t most = *length + strlen(frames) + 2;
    if (most > *capacity) {
        *capacity = most * 2;
        *content = fb_realloc(*content, *capacity, 1);
    }
    while (*frames != '\0') {
        size_t line = strcspn(frames, "\n");
        size_t kept = cut_length(frames, line);
        for (size_t i = 0; i < kept; i++) {
            unsigned char byte = (unsigned char)frames[i];
            (*content)[(*length)++] = byte < 0x20 || byte == 0x7f ? '?' : byte;
        }
        if (line > 0)
            (*content)[(*length)++] = '\n';
        frames += line + (frames[line] != '\0');
    }
    (*content)[(*length)++] = '\n';
}
