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

/* The end of "<g …>" white space "</g>"; NULL where the group has an id or content. */
static const char *skip_empty(const char *at)
{
    if (strncmp(at, "<g ", 3) != 0)
        return NULL;
    const char *close = strchr(at, '>');
    if (close == NULL || memmem(at, (size_t)(close - at), " id=", 4) != NULL)
        return NULL;
    close += 1 + strspn(close + 1, " \t\n");
    return strncmp(close, "</g>", 4) == 0 ? close + 4 : NULL;
}

static bool starts(const char *at, const char *word)
{
    return strncmp(at, word, strlen(word)) == 0;
}

void fb_svg_compact(const char *svg, struct fb_buf *out)
{
    bool tag = false;
    for (const char *at = svg; *at != '\0';) {
        const char *end = skip_empty(at);
        if (end != NULL) {
            at = end + strspn(end, " \t\n");
            continue;
        }
        tag = *at == '<' || (tag && *at != '>');
        if (tag && (starts(at, " d='M") || starts(at, " d=\"M"))) {
            fb_buf_add(out, at, 4);
            end = add_points(out, at + 4);
            at = end > at + 4 ? end + strspn(end, " \t\n") : end;
            continue;
        }
        fb_buf_add(out, at++, 1);
    }
}
