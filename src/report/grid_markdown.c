#include "report/grid.h"

#include <string.h>

void fb_markdown_add(struct fb_buf *out, const char *text)
{
    for (; *text != '\0'; text++) {
        if ((unsigned char)*text < 0x20 || *text == 0x7f) {
            fb_buf_adds(out, " ");
            continue;
        }
        if (strchr("\\|`*<>[]~#", *text) != NULL)
            fb_buf_adds(out, "\\");
        fb_buf_add(out, text, 1);
    }
}

static bool is_empty(const struct fb_grid *grid, size_t column)
{
    for (size_t row = 0; row < grid->row_count; row++)
        if (grid->texts[row * grid->column_count + column] != NULL)
            return false;
    return column > 0;
}

static void add_head(const struct fb_grid *grid, struct fb_buf *out)
{
    for (size_t column = 0; column < grid->column_count; column++) {
        const struct fb_grid_column *head = &grid->columns[column];
        bool joined = head->unit[0] != '\0' && head->title[0] != '\0';
        if (!is_empty(grid, column))
            fb_buf_addf(out, "| %s%s%s ", head->title, joined ? ", " : "", head->unit);
    }
    fb_buf_adds(out, "|\n");
    for (size_t column = 0; column < grid->column_count; column++)
        if (!is_empty(grid, column))
            fb_buf_adds(out, grid->columns[column].left ? "| :-- " : "| --: ");
    fb_buf_adds(out, "|\n");
}

/* GitHub tables cannot span: the text stands in the second column, the rest is empty. */
static void add_row(const struct fb_grid *grid, size_t row, struct fb_buf *out)
{
    bool spanned = false;
    for (size_t column = 0; column < grid->column_count; column++) {
        const char *text = grid->texts[row * grid->column_count + column];
        if (is_empty(grid, column))
            continue;
        if (column > 0 && grid->spans[row] != NULL) {
            text = spanned ? "" : grid->spans[row];
            spanned = true;
        }
        fb_buf_adds(out, "| ");
        fb_markdown_add(out, text == NULL ? "" : text);
        fb_buf_adds(out, " ");
    }
    fb_buf_adds(out, "|\n");
}

void fb_grid_markdown(const struct fb_grid *grid, struct fb_buf *out)
{
    add_head(grid, out);
    for (size_t row = 0; row < grid->row_count; row++)
        add_row(grid, row, out);
}
