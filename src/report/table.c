#include "report/table.h"

#include "report/block.h"
#include "report/origin.h"
#include "report/parts.h"
#include "report/prose.h"
#include "report/ranking.h"
#include "report/verdict.h"

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

/* What a sweep is run for comes last. */
static void add_ranking(const struct fb_group *group, const struct fb_verdict_style *style,
                        const struct fb_table_options *options, struct fb_buf *out)
{
    struct fb_grid grid;
    struct fb_buf prose;
    fb_buf_adds(out, "\n");
    fb_ranking_grid(group, &grid);
    fb_grid_render(&grid, options->width, options->color, out);
    fb_grid_deinit(&grid);
    fb_buf_init(&prose, PROSE_MAX);
    fb_buf_adds(&prose, "\n");
    fb_ranking_sentences(group, style, &prose);
    fb_prose_add(prose.text, options->width, out);
    fb_buf_deinit(&prose);
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
        fb_prose_add(grids[i].title, options->width, out);
        fb_grid_render(&grids[i].grid, options->width, options->color, out);
        fb_parts_grid_deinit(&grids[i]);
    }
    fb_buf_adds(out, "\n");
    fb_buf_init(&prose, PROSE_MAX);
    fb_parts_sentences(group, style, &prose);
    fb_prose_add(prose.text, options->width, out);
    fb_buf_deinit(&prose);
}

static void add_block(const struct fb_result *result, const struct fb_group *group,
                      const struct fb_table_options *options, struct fb_buf *out)
{
    const bool ranked = fb_ranking_wanted(group);
    const struct fb_verdict_style style = {"", "  ", "", "  ", ranked};
    struct fb_grid grid;
    struct fb_notes notes;
    fb_block_init(group, &grid, &notes);
    struct fb_buf prose;
    fb_buf_init(&prose, PROSE_MAX);
    add_heading(result, group, &prose);
    add_title(group, options->color, out);
    fb_prose_add(prose.text, options->width, out);
    fb_grid_render(&grid, options->width, options->color, out);
    fb_buf_deinit(&prose);
    fb_buf_init(&prose, PROSE_MAX);
    fb_buf_adds(&prose, "\n");
    fb_block_notes(group, &result->host, &notes, "", &prose);
    fb_buf_adds(&prose, "\n");
    fb_verdict_render(group, &style, &prose);
    fb_prose_add(prose.text, options->width, out);
    add_parts(group, &style, options, out);
    fb_buf_deinit(&prose);
    fb_grid_deinit(&grid);
    if (ranked)
        add_ranking(group, &style, options, out);
}

static void add_origin(const struct fb_result *result, const struct fb_table_options *options,
                       struct fb_buf *out)
{
    struct fb_buf prose;
    fb_buf_init(&prose, PROSE_MAX);
    fb_origin_line(result, &prose);
    if (prose.length > 0 && out->length > 0)
        fb_buf_adds(out, "\n");
    fb_prose_add(prose.text, options->width, out);
    fb_buf_deinit(&prose);
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
    add_origin(result, options, out);
    if (result->interrupted)
        fb_buf_adds(out, "Interrupted: this is what was measured until then.\n");
    fb_groups_deinit(&groups);
}
