#include "report/table.h"

#include "report/block.h"
#include "report/parts.h"
#include "report/verdict.h"

#include <limits.h>
#include <stdbool.h>
#include <string.h>

enum { PROSE_MAX = 1 << 20 };

static void add_title(const struct fb_group *group, bool color, struct fb_buf *out)
{
    fb_buf_adds(out, color ? "\033[1m" : "");
    fb_group_title(group, out);
    fb_buf_adds(out, color ? "\033[0m\n" : "\n");
}

static void add_heading(const struct fb_result *result, const struct fb_group *group,
                        struct fb_buf *out)
{
    fb_group_facts(group, out);
    fb_buf_adds(out, "\n");
    fb_group_setup(group, out);
    fb_buf_adds(out, "; ");
    fb_host_line(&result->host, out);
    fb_buf_adds(out, "\n\n");
}

/* Bytes of text that fill at most `width` columns. */
static size_t bytes_of_width(const char *text, size_t length, unsigned width)
{
    size_t at = 0;
    for (unsigned columns = 0; at < length; at++)
        if (((unsigned char)text[at] & 0xC0U) != 0x80U && columns++ == width)
            break;
    return at;
}

/* One line, broken at spaces; a word longer than the terminal stays whole. */
static void add_wrapped(const char *line, size_t length, unsigned width, struct fb_buf *out)
{
    for (;;) {
        size_t fits = bytes_of_width(line, length, width);
        size_t cut = fits;
        while (fits < length && cut > 0 && line[cut] != ' ')
            cut--;
        if (fits < length && cut == 0)
            cut = (size_t)(strchrnul(line + fits, ' ') - line);
        if (fits >= length || cut >= length)
            break;
        fb_buf_add(out, line, cut);
        fb_buf_adds(out, "\n");
        line += cut + 1;
        length -= cut + 1;
    }
    fb_buf_add(out, line, length);
    fb_buf_adds(out, "\n");
}

/* Prose is broken at the terminal's width; indented lines are commands to paste and stay whole. */
static void add_prose(const char *text, unsigned width, struct fb_buf *out)
{
    while (*text != '\0') {
        size_t length = strcspn(text, "\n");
        bool command = text[0] == ' ';
        add_wrapped(text, length, width == 0 || command ? UINT_MAX : width, out);
        text += length + (text[length] == '\n');
    }
}

/* Nothing where no cell was explained. */
static void add_parts(const struct fb_group *group, const struct fb_verdict_style *style,
                      const struct fb_table_options *options, struct fb_buf *out)
{
    struct fb_parts_grid grids[FB_PARTS_GRIDS_MAX];
    struct fb_buf prose;
    size_t count = fb_parts_grids(group, grids);
    if (count == 0)
        return;
    for (size_t i = 0; i < count; i++) {
        fb_buf_adds(out, "\n");
        add_prose(grids[i].title, options->width, out);
        fb_grid_render(&grids[i].grid, options->width, options->color, out);
        fb_parts_grid_deinit(&grids[i]);
    }
    fb_buf_adds(out, "\n");
    fb_buf_init(&prose, PROSE_MAX);
    fb_parts_sentences(group, style, &prose);
    add_prose(prose.text, options->width, out);
    fb_buf_deinit(&prose);
}

static void add_block(const struct fb_result *result, const struct fb_group *group,
                      const struct fb_table_options *options, struct fb_buf *out)
{
    static const struct fb_verdict_style style = {"", "  ", ""};
    struct fb_grid grid;
    struct fb_notes notes;
    fb_block_init(group, &grid, &notes);
    struct fb_buf prose;
    fb_buf_init(&prose, PROSE_MAX);
    add_heading(result, group, &prose);
    add_title(group, options->color, out);
    add_prose(prose.text, options->width, out);
    fb_grid_render(&grid, options->width, options->color, out);
    fb_buf_deinit(&prose);
    fb_buf_init(&prose, PROSE_MAX);
    fb_buf_adds(&prose, "\n");
    fb_block_notes(group, &result->host, &notes, "", &prose);
    fb_buf_adds(&prose, "\n");
    fb_verdict_render(group, &style, &prose);
    add_prose(prose.text, options->width, out);
    add_parts(group, &style, options, out);
    fb_buf_deinit(&prose);
    fb_grid_deinit(&grid);
}

void fb_table_render(const struct fb_result *result, const struct fb_table_options *options,
                     struct fb_buf *out)
{
    struct fb_groups groups;
    fb_groups_init(&groups, result);
    for (size_t i = 0; i < groups.count; i++) {
        fb_buf_adds(out, i == 0 ? "" : "\n\n");
        add_block(result, &groups.items[i], options, out);
    }
    if (result->interrupted)
        fb_buf_adds(out, "Interrupted: this is what was measured until then.\n");
    fb_groups_deinit(&groups);
}
