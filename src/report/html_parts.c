#include "report/html_parts.h"

#include "report/comparison.h"
#include "report/comparison_table.h"
#include "report/html_table.h"
#include "report/html_text.h"
#include "report/parts.h"
#include "report/ranking.h"

#include <string.h>

#define PROSE_MAX ((size_t)1 << 24)

static const struct fb_verdict_style style = {"", FB_HTML_COMMAND, "", "", false};

void fb_html_parts(struct fb_buf *out, const struct fb_group *group)
{
    struct fb_parts_grid grids[FB_PARTS_GRIDS_MAX];
    struct fb_buf prose;
    size_t count = fb_parts_grids(group, grids);
    if (count == 0)
        return;
    fb_buf_adds(out, "<h3>Where the memory is</h3>\n");
    fb_buf_init(&prose, PROSE_MAX);
    fb_parts_sentences(group, &style, &prose);
    fb_html_prose(out, prose.text);
    fb_buf_deinit(&prose);
    for (size_t i = 0; i < count; i++) {
        fb_html_grid(out, &grids[i].grid, grids[i].title);
        fb_parts_grid_deinit(&grids[i]);
    }
}

void fb_html_ranking(struct fb_buf *out, const struct fb_group *group)
{
    struct fb_grid grid;
    struct fb_buf prose;
    if (!fb_ranking_wanted(group))
        return;
    fb_buf_adds(out, "<h3>Ranking</h3>\n");
    fb_ranking_grid(group, &grid);
    fb_html_grid(out, &grid, "The least memory first.");
    fb_grid_deinit(&grid);
    fb_buf_init(&prose, PROSE_MAX);
    fb_ranking_sentences(group, &style, &prose);
    fb_html_prose(out, prose.text);
    fb_buf_deinit(&prose);
}

static void add_block(struct fb_buf *out, const struct fb_document *document,
                      const struct fb_comparison_block *block, bool all)
{
    struct fb_grid grid;
    struct fb_buf title;
    size_t unchanged = fb_comparison_block_grid(document, block, all, true, &grid);
    fb_buf_init(&title, PROSE_MAX);
    fb_comparison_block_title(document, block, &title);
    if (grid.row_count > 0) {
        fb_buf_adds(out, "<h3>");
        fb_html_text(out, title.text);
        fb_buf_addf(&title, ": %s against %s.", document->sets[block->items[0]->set].label,
                    document->sets[0].label);
        fb_buf_adds(out, "</h3>\n");
        if (unchanged > 0)
            fb_buf_addf(&title, " %zu unchanged values are not listed.", unchanged);
        fb_html_grid(out, &grid, title.text);
    }
    fb_buf_deinit(&title);
    fb_grid_deinit(&grid);
}

void fb_html_changes(struct fb_buf *out, const struct fb_document *document)
{
    struct fb_comparison_blocks blocks;
    struct fb_buf prose;
    bool all = fb_comparison_lists_all(document);
    fb_buf_init(&prose, PROSE_MAX);
    fb_comparison_prose(document, &prose);
    fb_buf_adds(out, "<div class=\"verdict\">\n");
    fb_html_prose(out, prose.text);
    fb_buf_adds(out, "</div>\n");
    fb_buf_deinit(&prose);
    fb_comparison_blocks_init(&blocks, document);
    for (size_t i = 0; i < blocks.count; i++)
        add_block(out, document, &blocks.items[i], all);
    fb_comparison_blocks_deinit(&blocks);
}
