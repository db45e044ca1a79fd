#include "report/grid.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

#define GAP 2U
#define SPAN_FIRST 1U /* column that a span begins at */
#define RESET "\033[0m"
#define BOLD "\033[1m"

static const char *const tone_codes[] = {
    [FB_GRID_PLAIN] = "",
    [FB_GRID_GOOD] = "\033[32m",
    [FB_GRID_WARN] = "\033[33m",
    [FB_GRID_BAD] = "\033[31m",
};

/* What is shown of a grid at one width. */
struct layout {
    bool *shown;
    size_t *widths;
};

size_t fb_text_width(const char *text)
{
    size_t width = 0;
    for (; *text != '\0'; text++)
        width += ((unsigned char)*text & 0xC0U) != 0x80U;
    return width;
}

void fb_text_clean(char *text)
{
    for (; *text != '\0'; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            *text = ' ';
}

void fb_grid_init(struct fb_grid *grid, const struct fb_grid_column *columns, size_t column_count,
                  size_t row_count)
{
    *grid = (struct fb_grid){
        .columns = fb_alloc(column_count, sizeof *columns),
        .column_count = column_count,
        .row_count = row_count,
        .texts = fb_alloc(row_count * column_count, sizeof(char *)),
        .spans = fb_alloc(row_count, sizeof(char *)),
        .tones = fb_alloc(row_count * column_count, sizeof(enum fb_grid_tone)),
    };
    memcpy(grid->columns, columns, column_count * sizeof *columns);
}

void fb_grid_deinit(struct fb_grid *grid)
{
    for (size_t i = 0; i < grid->row_count * grid->column_count; i++)
        free(grid->texts[i]);
    for (size_t i = 0; i < grid->row_count; i++)
        free(grid->spans[i]);
    free(grid->columns);
    free(grid->texts);
    free(grid->spans);
    free(grid->tones);
    *grid = (struct fb_grid){0};
}

void fb_grid_set(struct fb_grid *grid, size_t row, size_t column, char *text)
{
    char **cell = &grid->texts[row * grid->column_count + column];
    if (text != NULL)
        fb_text_clean(text);
    free(*cell);
    *cell = text;
}

void fb_grid_span(struct fb_grid *grid, size_t row, char *text, enum fb_grid_tone tone)
{
    fb_text_clean(text);
    free(grid->spans[row]);
    grid->spans[row] = text;
    fb_grid_tone(grid, row, SPAN_FIRST, tone);
}

void fb_grid_tone(struct fb_grid *grid, size_t row, size_t column, enum fb_grid_tone tone)
{
    grid->tones[row * grid->column_count + column] = tone;
}

static const char *text_at(const struct fb_grid *grid, size_t row, size_t column)
{
    const char *text = grid->texts[row * grid->column_count + column];
    return text == NULL ? "" : text;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static void init_layout(struct layout *layout, const struct fb_grid *grid)
{
    layout->shown = fb_alloc(grid->column_count, sizeof *layout->shown);
    layout->widths = fb_alloc(grid->column_count, sizeof *layout->widths);
    for (size_t column = 0; column < grid->column_count; column++) {
        for (size_t row = 0; row < grid->row_count; row++)
            layout->widths[column] =
                larger(layout->widths[column], fb_text_width(text_at(grid, row, column)));
        layout->shown[column] = layout->widths[column] > 0;
        layout->widths[column] =
            larger(layout->widths[column], larger(fb_text_width(grid->columns[column].title),
                                                  fb_text_width(grid->columns[column].unit)));
    }
}

static void deinit_layout(struct layout *layout)
{
    free(layout->shown);
    free(layout->widths);
}

static size_t total_width(const struct layout *layout, const struct fb_grid *grid)
{
    size_t total = 0;
    for (size_t column = 0; column < grid->column_count; column++)
        if (layout->shown[column])
            total += layout->widths[column] + (total > 0 ? GAP : 0);
    return total;
}

/* Hides the shown column with the largest drop; false when none may go. */
static bool drop_one(struct layout *layout, const struct fb_grid *grid)
{
    size_t victim = grid->column_count;
    for (size_t column = 0; column < grid->column_count; column++)
        if (layout->shown[column] && grid->columns[column].drop > 0 &&
            (victim == grid->column_count ||
             grid->columns[column].drop > grid->columns[victim].drop))
            victim = column;
    if (victim == grid->column_count)
        return false;
    layout->shown[victim] = false;
    return true;
}

static void add_spaces(struct fb_buf *out, size_t count)
{
    for (size_t i = 0; i < count; i++)
        fb_buf_adds(out, " ");
}

static void add_toned(struct fb_buf *out, const char *text, const char *code)
{
    bool colored = code[0] != '\0' && text[0] != '\0';
    fb_buf_addf(out, "%s%s%s", colored ? code : "", text, colored ? RESET : "");
}

/* One padded cell; `pending` holds spaces back, so that no line ends in them. */
static void add_cell(struct fb_buf *out, const char *text, size_t width, bool left,
                     const char *code, size_t *pending)
{
    size_t used = fb_text_width(text), padding = width > used ? width - used : 0;
    size_t before = *pending + (left ? 0 : padding);
    if (used == 0) {
        *pending += width + GAP;
        return;
    }
    add_spaces(out, before);
    add_toned(out, text, code);
    *pending = GAP + (left ? padding : 0);
}

static void add_titles(const struct fb_grid *grid, const struct layout *layout, bool units,
                       bool color, struct fb_buf *out)
{
    size_t pending = 0;
    bool any = units; /* a first line without a word is left out */
    for (size_t column = 0; column < grid->column_count; column++)
        any |= layout->shown[column] && grid->columns[column].title[0] != '\0';
    for (size_t column = 0; any && column < grid->column_count; column++) {
        const struct fb_grid_column *head = &grid->columns[column];
        if (layout->shown[column])
            add_cell(out, units ? head->unit : head->title, layout->widths[column], head->left,
                     color ? BOLD : "", &pending);
    }
    fb_buf_adds(out, any ? "\n" : "");
}

/* Cuts at the terminal's edge: a wrapped message would break the table's shape. */
static void add_span(const char *text, size_t room, const char *code, struct fb_buf *out)
{
    char *cut = fb_strdup(text);
    if (room > 1 && fb_text_width(text) > room) {
        size_t width = 0, at = 0;
        for (; cut[at] != '\0' && width + ((cut[at] & 0xC0) != 0x80) <= room - 1; at++)
            width += (cut[at] & 0xC0) != 0x80;
        cut[at] = '\0';
    }
    add_toned(out, cut, code);
    fb_buf_adds(out, strlen(cut) < strlen(text) ? "…" : "");
    free(cut);
}

static void add_row(const struct fb_grid *grid, const struct layout *layout, size_t row,
                    unsigned width, bool color, struct fb_buf *out)
{
    const enum fb_grid_tone *tones = &grid->tones[row * grid->column_count];
    size_t pending = 0;
    size_t columns = grid->spans[row] == NULL ? grid->column_count : SPAN_FIRST;
    for (size_t column = 0; column < columns; column++)
        if (layout->shown[column])
            add_cell(out, text_at(grid, row, column), layout->widths[column],
                     grid->columns[column].left, color ? tone_codes[tones[column]] : "", &pending);
    if (grid->spans[row] != NULL) {
        size_t used = layout->widths[0] + GAP;
        add_spaces(out, pending);
        add_span(grid->spans[row], width > used ? width - used : 0,
                 color ? tone_codes[tones[SPAN_FIRST]] : "", out);
    }
    fb_buf_adds(out, "\n");
}

static void add_dropped(const struct fb_grid *grid, const struct layout *layout, const bool *before,
                        unsigned width, struct fb_buf *out)
{
    bool any = false;
    for (size_t column = 0; column < grid->column_count; column++) {
        if (!before[column] || layout->shown[column])
            continue;
        if (!any)
            fb_buf_addf(out, "Not shown in %u columns: ", width);
        fb_buf_addf(out, "%s%s", any ? ", " : "", grid->columns[column].label);
        any = true;
    }
    if (any)
        fb_buf_adds(out, ".\n");
}

void fb_grid_render(const struct fb_grid *grid, unsigned width, bool color, struct fb_buf *out)
{
    struct layout layout;
    init_layout(&layout, grid);
    bool *before = fb_alloc(grid->column_count, sizeof *before);
    memcpy(before, layout.shown, grid->column_count * sizeof *before);
    while (width > 0 && total_width(&layout, grid) > width && drop_one(&layout, grid))
        ;
    add_titles(grid, &layout, false, color, out);
    add_titles(grid, &layout, true, color, out);
    for (size_t row = 0; row < grid->row_count; row++)
        add_row(grid, &layout, row, width, color, out);
    add_dropped(grid, &layout, before, width, out);
    free(before);
    deinit_layout(&layout);
}
