/* The pictures of a report, drawn. */
#ifndef FB_COMMANDS_REPORT_PICTURES_H
#define FB_COMMANDS_REPORT_PICTURES_H

#include "report/html.h"

struct fb_report_pictures {
    struct fb_html_picture *items;
    size_t count;
    char **texts; /* owned; what the items point to */
    size_t text_count;
};

/* Draws of every set what there are data for: a workload's pictures, those of the whole set and,
 * `with_changes`, what changed against the first set. Whatever cannot be drawn is an item with its
 * reason: data that were not collected once a set and kind, a fault of drawing (no gnuplot) once a
 * page, with a note on stderr. Folders end in a slash. Never fails. */
void fb_report_pictures_draw(const struct fb_document_set *sets, size_t count, bool with_changes,
                             struct fb_report_pictures *out);
void fb_report_pictures_deinit(struct fb_report_pictures *pictures);

#endif
