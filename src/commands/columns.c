#include "commands/columns.h"

#include "base/alloc.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void fb_columns_init(struct fb_columns *columns, const char *align)
{
    *columns = (struct fb_columns){.align = align, .width = strlen(align)};
}

void fb_columns_add(struct fb_columns *columns, const char *const *cells)
{
    size_t width = columns->width;
    columns->cells =
        fb_realloc(columns->cells, (columns->rows + 1) * width, sizeof *columns->cells);
    char **row = columns->cells + columns->rows++ * width;
    for (size_t i = 0; i < width; i++)
        row[i] = fb_strdup(cells[i] != NULL ? cells[i] : "");
}

/* Characters, not bytes: continuation bytes of UTF-8 take no room. */
static size_t shown_width(const char *text)
{
    size_t width = 0;
    for (; *text != '\0'; text++)
        width += ((unsigned char)*text & 0xc0U) != 0x80U;
    return width;
}

static void measure(const struct fb_columns *columns, size_t widths[FB_COLUMNS_MAX])
{
    memset(widths, 0, FB_COLUMNS_MAX * sizeof *widths);
    for (size_t i = 0; i < columns->rows * columns->width; i++) {
        size_t width = shown_width(columns->cells[i]);
        if (width > widths[i % columns->width])
            widths[i % columns->width] = width;
    }
}

static void print_blanks(size_t count, FILE *stream)
{
    (void)fprintf(stream, "%*s", (int)count, "");
}

/* Blanks are owed until something follows them, so that no line ends in one. */
static void print_row(const struct fb_columns *columns, const size_t *widths, char *const *row,
                      FILE *stream)
{
    size_t owed = 0;
    for (size_t i = 0; i < columns->width; i++) {
        size_t width = shown_width(row[i]);
        size_t pad = widths[i] - width;
        bool right = columns->align[i] == 'r';
        if (width > 0) {
            print_blanks(owed + (right ? pad : 0), stream);
            (void)fputs(row[i], stream);
            owed = right ? 2 : pad + 2;
        } else {
            owed += pad + 2;
        }
    }
    (void)fputc('\n', stream);
}

void fb_columns_print(const struct fb_columns *columns, const char *indent, FILE *stream)
{
    size_t widths[FB_COLUMNS_MAX];
    measure(columns, widths);
    for (size_t i = 0; i < columns->rows; i++) {
        (void)fputs(indent, stream);
        print_row(columns, widths, columns->cells + i * columns->width, stream);
    }
}

void fb_columns_deinit(struct fb_columns *columns)
{
    for (size_t i = 0; i < columns->rows * columns->width; i++)
        free(columns->cells[i]);
    free(columns->cells);
    *columns = (struct fb_columns){0};
}
