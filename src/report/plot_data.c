#include "report/plot_data.h"

#include "base/alloc.h"
#include "base/units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The length of the UTF-8 character at text, 0 where there is none or one that XML forbids. */
static size_t character(const unsigned char *text, uint32_t *code)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t length = text[0] < 0x80   ? 1
                    : text[0] < 0xc0 ? 0
                    : text[0] < 0xe0 ? 2
                    : text[0] < 0xf0 ? 3
                    : text[0] < 0xf8 ? 4
                                     : 0;
    *code = length == 1 ? text[0] : text[0] & (0x7fU >> length);
    for (size_t i = 1; i < length; i++) {
        if ((text[i] & 0xc0U) != 0x80U)
            return 0;
        *code = (*code << 6) | (text[i] & 0x3fU);
    }
    bool surrogate = *code >= 0xd800 && *code <= 0xdfff;
    bool none = *code == 0xfffe || *code == 0xffff || *code > 0x10ffff;
    return length == 0 || *code < least[length] || surrogate || none ? 0 : length;
}

static void add_character(struct fb_buf *data, const char *text, size_t length, uint32_t code)
{
    if (length == 0)
        fb_buf_adds(data, "?");
    else if (code < 0x20 || (code >= 0x7f && code < 0xa0))
        fb_buf_adds(data, " ");
    else if (code == '"')
        fb_buf_adds(data, "'");
    else if (code == '\\')
        fb_buf_adds(data, "\\\\");
    else if (code == '&' && text[1] == '#')
        fb_buf_adds(data, "& ");
    else
        fb_buf_add(data, text, length);
}

void fb_plot_field(struct fb_buf *data, const char *text)
{
    fb_buf_adds(data, "\"");
    while (*text != '\0') {
        uint32_t code = 0;
        size_t length = character((const unsigned char *)text, &code);
        add_character(data, text, length, code);
        text += length > 0 ? length : 1;
    }
    fb_buf_adds(data, "\"");
}

void fb_plot_dataset(struct fb_buf *data, const char *name)
{
    fb_buf_addf(data, "%s# %s\n", data->length > 0 ? "\n\n" : "", name);
}

void fb_plot_number(struct fb_buf *data, double value)
{
    char text[32];
    for (int digits = 6; digits <= 17; digits++) {
        (void)snprintf(text, sizeof text, "%.*g", digits, value);
        double back = strtod(text, NULL);
        if (isnan(value) || (back >= value && back <= value))
            break;
    }
    fb_buf_adds(data, isnan(value) ? "NaN" : text);
}

void fb_plot_point(struct fb_buf *data, double x, double y)
{
    if (!isnan(y)) {
        fb_plot_number(data, x);
        fb_buf_adds(data, "\t");
        fb_plot_number(data, y);
    }
    fb_buf_adds(data, "\n");
}

size_t fb_plot_length(const char *text)
{
    size_t length = 0;
    for (; *text != '\0'; text++)
        length += ((unsigned char)*text & 0xc0U) != 0x80U;
    return length;
}

/* Where character number `index` begins. */
static const char *at_character(const char *text, size_t index)
{
    for (; *text != '\0'; text++) {
        if (((unsigned char)*text & 0xc0U) == 0x80U)
            continue;
        if (index-- == 0)
            break;
    }
    return text;
}

char *fb_plot_cut(const char *text, size_t most)
{
    size_t length = fb_plot_length(text);
    if (length <= most || most < 3)
        return fb_strdup(text);
    size_t head = (most - 1) / 2;
    const char *head_end = at_character(text, head);
    return fb_format("%.*s…%s", (int)(head_end - text), text,
                     at_character(text, length - (most - 1 - head)));
}

/* What a character of the usual sans-serif fonts takes, with some room. */
size_t fb_plot_fit_small(double pixels)
{
    return pixels > 0 ? (size_t)(pixels / 6.6) : 0;
}

size_t fb_plot_fit(double pixels)
{
    return pixels > 0 ? (size_t)(pixels / 7.4) : 0;
}

struct fb_plot_unit fb_plot_unit_of_bytes(double largest_bytes)
{
    static const struct fb_plot_unit units[] = {
        {"B", 1}, {"KiB", 1024}, {"MiB", 1048576}, {"GiB", 1073741824}, {"TiB", 1099511627776.0}};
    size_t i = 0;
    while (i + 1 < sizeof units / sizeof units[0] && largest_bytes >= 4 * units[i + 1].base)
        i++;
    return units[i];
}

struct fb_plot_unit fb_plot_unit_of_time(double longest_s)
{
    static const struct fb_plot_unit units[] = {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3},
                                                {"s", 1},     {"min", 60},  {"h", 3600}};
    size_t i = 0;
    while (i + 1 < sizeof units / sizeof units[0] && longest_s >= 4 * units[i + 1].base)
        i++;
    return units[i];
}

const char *fb_plot_bytes(double bytes, char *buffer, size_t size)
{
    char text[32];
    if (isnan(bytes))
        (void)snprintf(buffer, size, "n/a");
    else
        (void)snprintf(buffer, size, "%s%s", bytes < 0 ? "−" : "",
                       fb_units_bytes((uint64_t)(fabs(bytes) + 0.5), text, sizeof text));
    return buffer;
}
