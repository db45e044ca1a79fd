/* Aligned columns of text for people (`list`, `check`, `doctor`). UTF-8 aware. */
#ifndef FB_COMMANDS_COLUMNS_H
#define FB_COMMANDS_COLUMNS_H

#include <stddef.h>
#include <stdio.h>

#define FB_COLUMNS_MAX 12

struct fb_columns {
    const char *align; /* one letter a column: 'l' or 'r'; caller's, at most FB_COLUMNS_MAX */
    size_t width;      /* number of columns */
    char **cells;      /* rows × width, owned */
    size_t rows;
};

void fb_columns_init(struct fb_columns *columns, const char *align);
/* Adds a row of `width` strings, copied. */
void fb_columns_add(struct fb_columns *columns, const char *const *cells);
/* Prints all rows, two spaces between columns, each line after indent; no trailing blanks. */
void fb_columns_print(const struct fb_columns *columns, const char *indent, FILE *stream);
void fb_columns_deinit(struct fb_columns *columns);

#endif
