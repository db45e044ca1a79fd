/* A table of texts: columns with two title lines, rows, and rows whose numbers are replaced by one
 * text. Laid out for a terminal or written as a GitHub table.
 *
 * Owns its texts. Columns that are empty in every row are left out. Width is counted in
 * characters of UTF-8, each taken as one cell wide.
 */
#ifndef FB_REPORT_GRID_H
#define FB_REPORT_GRID_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>

struct fb_grid_column {
    const char *title; /* first line */
    const char *unit;  /* second line */
    const char *label; /* in the note about columns left out, and in GitHub tables; "" = of the one
                          before */
    bool left;         /* aligned left; else right */
    unsigned drop;     /* a narrow terminal loses the largest first; 0 = never */
};

enum fb_grid_tone { FB_GRID_PLAIN = 0, FB_GRID_GOOD, FB_GRID_WARN, FB_GRID_BAD };

struct fb_grid {
    struct fb_grid_column *columns;
    size_t column_count;
    size_t row_count;
    char **texts;             /* row × column; NULL = empty */
    char **spans;             /* a row's text from the second column on; NULL = none */
    enum fb_grid_tone *tones; /* row × column; a span has its row's second */
};

void fb_grid_init(struct fb_grid *grid, const struct fb_grid_column *columns, size_t column_count,
                  size_t row_count);
void fb_grid_deinit(struct fb_grid *grid);
/* Takes the text. Control characters in it are made spaces. */
void fb_grid_set(struct fb_grid *grid, size_t row, size_t column, char *text);
void fb_grid_span(struct fb_grid *grid, size_t row, char *text, enum fb_grid_tone tone);
void fb_grid_tone(struct fb_grid *grid, size_t row, size_t column, enum fb_grid_tone tone);

/* width 0 = unlimited. Ends with a line that names the columns left out, where some are. */
void fb_grid_render(const struct fb_grid *grid, unsigned width, bool color, struct fb_buf *out);
void fb_grid_markdown(const struct fb_grid *grid, struct fb_buf *out);

/* Adds text with what GitHub would take for markup escaped, line breaks as spaces. */
void fb_markdown_add(struct fb_buf *out, const char *text);
/* Characters of UTF-8 text. */
size_t fb_text_width(const char *text);
/* In place: control characters (terminal escapes of a foreign program's message) to spaces. */
void fb_text_clean(char *text);

#endif
