#include "report/svg.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A path's last point, in tenths of a pixel; none before the first. */
struct pen {
    bool down;
    long x, y;
};

/* Tenths without a zero before or behind the point: "12", ".5", "-3.4". */
static void add_number(struct fb_buf *out, long tenths)
{
    long size = labs(tenths);
    fb_buf_adds(out, tenths < 0 ? "-" : "");
    if (size >= 10 || size == 0)
        fb_buf_addf(out, "%ld", size / 10);
    if (size % 10 != 0)
        fb_buf_addf(out, ".%ld", size % 10);
}

static void add_point(struct fb_buf *out, struct pen *pen, char command, long x, long y)
{
    bool line = command == 'L' && pen->down;
    if (line && x == pen->x && y == pen->y)
        return;
    if (line && y == pen->y) {
        fb_buf_adds(out, "H");
        add_number(out, x);
    } else if (line && x == pen->x) {
        fb_buf_adds(out, "V");
        add_number(out, y);
    } else {
        fb_buf_addf(out, "%c", command);
        add_number(out, x);
        fb_buf_adds(out, ",");
        add_number(out, y);
    }
    *pen = (struct pen){true, x, y};
}

/* "M76.00,371.00 L775.99,371.00": as gnuplot writes them, in absolute points. Returns the end of
 * what was understood, which may be in the middle of the path. */
static const char *add_points(struct fb_buf *out, const char *at)
{
    struct pen pen = {0};
    for (;;) {
        const char *command = at + strspn(at, " \t\n");
        if (*command != 'M' && *command != 'L')
            return at;
        char *comma, *end;
        double x = strtod(command + 1, &comma);
        if (comma == command + 1 || *comma != ',')
            return at;
        double y = strtod(comma + 1, &end);
        if (end == comma + 1 || !(fabs(x) < 1e6) || !(fabs(y) < 1e6))
            return at;
        add_point(out, &pen, *command, lround(x * 10), lround(y * 10));
        at = end;
    }
}

static bool starts(const char *at, const char *word)
{
    return strncmp(at, word, strlen(word)) == 0;
}

/* "rgb(214, 230, 244)" as 0xd6e6f4. Returns its end, or `at` where there is none. */
static const char *read_color(const char *at, unsigned long *rgb)
{
    const char *from = at + strlen("rgb(");
    unsigned long value = 0;
    if (!starts(at, "rgb("))
        return at;
    for (int i = 0; i < 3; i++) {
        char *end;
        unsigned long part = strtoul(from, &end, 10);
        if (end == from || *end != (i < 2 ? ',' : ')') || part > 255)
            return at;
        value = value << 8 | part;
        from = end + 1;
    }
    *rgb = value;
    return from;
}

static const char *add_color(struct fb_buf *out, const char *at)
{
    unsigned long rgb = 0;
    const char *end = read_color(at, &rgb);
    if (end != at)
        fb_buf_addf(out, "#%06lx", rgb);
    return end;
}

static void add_corners(struct fb_buf *out, const char *at, const char *end)
{
    struct pen pen = {0};
    while (at < end) {
        char *next;
        double x = strtod(at, &next);
        double y = strtod(next + 1, &next);
        add_point(out, &pen, pen.down ? 'L' : 'M', lround(x * 10), lround(y * 10));
        at = next + strspn(next, " \t\n");
    }
}

/* Whether the text up to `end` is "16.00,93.12 18.82,93.12 …" and no more. */
static bool is_corners(const char *at, const char *end)
{
    while (at < end) {
        char *next;
        double x = strtod(at, &next);
        if (next == at || *next != ',' || !(fabs(x) < 1e6))
            return false;
        at = next + 1;
        double y = strtod(at, &next);
        if (next == at || !(fabs(y) < 1e6))
            return false;
        at = next + strspn(next, " \t\n");
    }
    return at == end;
}

/* "<polygon fill = 'rgb(…)' points = '16.00,93.12 …'/>", of which a map has thousands, as a path.
 * Returns its end, or `at` where it is not quite that. */
static const char *add_polygon(struct fb_buf *out, const char *at)
{
    static const char head[] = "<polygon fill = '", middle[] = "' points = '", tail[] = "'/>";
    unsigned long rgb = 0;
    if (!starts(at, head))
        return at;
    const char *corners = read_color(at + strlen(head), &rgb);
    if (!starts(corners, middle))
        return at;
    corners += strlen(middle);
    const char *end = strchr(corners, '\'');
    if (end == NULL || !starts(end, tail) || !is_corners(corners, end))
        return at;
    fb_buf_addf(out, "<path fill='#%06lx' d='", rgb);
    add_corners(out, corners, end);
    fb_buf_addf(out, "z%s", tail);
    return end + strlen(tail);
}

static const char *skip_space(const char *at)
{
    return at + strspn(at, " \t\n");
}

/* The end of "<g …>" white space or a text of no characters "</g>"; NULL where the group has an id
 * or content. */
static const char *skip_empty(const char *at)
{
    static const char nothing[] = "<text></text>";
    if (!starts(at, "<g "))
        return NULL;
    const char *close = strchr(at, '>');
    if (close == NULL || memmem(at, (size_t)(close - at), " id=", 4) != NULL)
        return NULL;
    close = skip_space(close + 1);
    if (starts(close, nothing))
        close = skip_space(close + strlen(nothing));
    return starts(close, "</g>") ? skip_space(close + 4) : NULL;
}

/* What a renderer takes for given anyway. */
static const char *skip_default(const char *at)
{
    static const char *const defaults[] = {
        " stroke-linecap=\"butt\"", " stroke-linejoin=\"miter\"",  " stroke-width=\"1.00\"",
        " color=\"black\"",         " font-family=\"sans-serif\"", /* the root has these two */
    };
    for (size_t i = 0; i < sizeof defaults / sizeof defaults[0]; i++)
        if (starts(at, defaults[i]))
            return at + strlen(defaults[i]);
    return at;
}

/* What is written shorter inside of a tag. Returns its end, or `at` where nothing is. */
static const char *add_shorter(struct fb_buf *out, const char *at)
{
    static const char root[] = "<svg";
    if (starts(at, root)) {
        fb_buf_addf(out, "%s style=\"color:#000;font-family:sans-serif\"", root);
        return at + strlen(root);
    }
    if (!starts(at, " d='M") && !starts(at, " d=\"M")) {
        const char *end = skip_default(at);
        return end != at ? end : add_color(out, at);
    }
    fb_buf_add(out, at, 4);
    return skip_space(add_points(out, at + 4));
}

/* Shapes of points, which most pictures do not have, and white space between tags. */
static const char *skip_needless(const char *at)
{
    if ((*at == '\n' || *at == '\t') && *skip_space(at) == '<')
        return skip_space(at);
    if (!starts(at, "<defs>"))
        return at;
    const char *end = strstr(at, "</defs>");
    bool used = end == NULL || strstr(end, "#gpPt") != NULL || strstr(end, "url(#") != NULL;
    return used ? at : end + strlen("</defs>");
}

void fb_svg_compact(const char *svg, struct fb_buf *out)
{
    bool tag = false;
    for (const char *at = svg; *at != '\0';) {
        const char *end = skip_empty(at);
        if (end == NULL)
            end = skip_needless(at);
        if (end == at)
            end = add_polygon(out, at);
        if (end == at) {
            tag = *at == '<' || (tag && *at != '>');
            end = tag ? add_shorter(out, at) : at;
        }
        if (end == at)
            fb_buf_add(out, end++, 1);
        at = end;
    }
}
