#include "base/alloc.h"
#include "report/block.h"
#include "report/formats.h"
#include "report/gates.h"
#include "report/origin.h"
#include "report/parts.h"
#include "report/ranking.h"
#include "report/verdict.h"

#include <stdlib.h>

#define LINE_CAP 65536U
#define TABLE_CAP ((size_t)1 << 24)

/* Headings and facts come from the person's own files: escaped like all text. */
static void add_line(struct fb_buf *out, const char *lead, const struct fb_buf *line)
{
    fb_buf_adds(out, lead);
    fb_markdown_add(out, line->text);
    fb_buf_adds(out, "\n\n");
}

static void add_heading(const struct fb_result *result, const struct fb_group *group,
                        struct fb_buf *out)
{
    struct fb_buf title, facts;
    fb_buf_init(&title, LINE_CAP);
    fb_buf_init(&facts, LINE_CAP);
    fb_group_title(group, &title);
    fb_group_facts(group, &facts);
    fb_buf_adds(&facts, "; ");
    fb_group_setup(group, &facts);
    fb_buf_adds(&facts, "; ");
    fb_host_line(&result->host, &facts);
    add_line(out, "### ", &title);
    add_line(out, "", &facts);
    fb_buf_deinit(&facts);
    fb_buf_deinit(&title);
}

/* Sentences take names as they are, so the group's copies get escaped ones for the while. */
static char **escape_names(struct fb_group *group)
{
    char **names = fb_alloc(group->count, sizeof *names);
    for (size_t i = 0; i < group->count; i++) {
        struct fb_buf escaped;
        fb_buf_init(&escaped, LINE_CAP);
        fb_markdown_add(&escaped, fb_text_or_empty(group->cells[i].allocator.name));
        names[i] = fb_strdup(escaped.text);
        group->cells[i].allocator.name = names[i];
        fb_buf_deinit(&escaped);
    }
    return names;
}

/* With the names as they are: the grid escapes them itself. */
static void add_ranking(const struct fb_group *group, struct fb_buf *out)
{
    struct fb_grid grid;
    fb_ranking_grid(group, &grid);
    fb_buf_adds(out, "\n");
    fb_grid_markdown(&grid, out);
    fb_buf_adds(out, "\n");
    fb_grid_deinit(&grid);
}

/* The names are escaped already, and grids would escape them again: a class or phase has none that
 * need it (the language allows letters, digits, "-" and "_"). */
static void add_parts(struct fb_group *group, const struct fb_verdict_style *style,
                      struct fb_buf *out)
{
    struct fb_parts_grid grids[FB_PARTS_GRIDS_MAX];
    size_t count = fb_parts_grids(group, grids);
    for (size_t i = 0; i < count; i++) {
        fb_buf_addf(out, "\n%s\n\n", grids[i].title);
        fb_grid_markdown(&grids[i].grid, out);
        fb_parts_grid_deinit(&grids[i]);
    }
    if (count == 0)
        return;
    fb_buf_adds(out, "\n");
    fb_parts_sentences(group, style, out);
}

static void add_sentences(const struct fb_result *result, struct fb_group *group,
                          const struct fb_notes *notes, struct fb_buf *out)
{
    /* Two backticks, since a path may hold one. */
    const bool ranked = fb_ranking_wanted(group);
    const struct fb_verdict_style style = {"- ", "  `` ", " ``", "  ", ranked};
    const struct fb_verdict_style list = {"- ", "  - `` ", " ``", "  - ", ranked};
    struct fb_buf table;
    fb_buf_init(&table, TABLE_CAP);
    if (ranked)
        add_ranking(group, &table);
    char **names = escape_names(group);
    fb_verdict_render(group, &style, out);
    fb_block_notes(group, &result->host, notes, "- ", out);
    add_parts(group, &list, out);
    fb_buf_add(out, table.text, table.length);
    if (ranked)
        fb_ranking_sentences(group, &list, out);
    fb_buf_deinit(&table);
    for (size_t i = 0; i < group->count; i++)
        free(names[i]);
    free(names);
}

static void add_group(const struct fb_result *result, struct fb_group *group, struct fb_buf *out)
{
    struct fb_grid grid;
    struct fb_notes notes;
    fb_block_init(group, &grid, &notes);
    add_heading(result, group, out);
    fb_grid_markdown(&grid, out);
    fb_buf_adds(out, "\n");
    add_sentences(result, group, &notes, out);
    fb_buf_adds(out, "\n");
    fb_grid_deinit(&grid);
}

void fb_format_markdown(const struct fb_document *document, struct fb_buf *out)
{
    const struct fb_result *result = document->sets[0].result;
    struct fb_groups groups;
    if (document->comparison) {
        fb_format_markdown_findings(document, out);
        return;
    }
    fb_gates_markdown(document->findings, out);
    fb_groups_init(&groups, result);
    for (size_t i = 0; i < groups.count; i++)
        add_group(result, &groups.items[i], out);
    fb_origin_line(result, out);
    if (result->interrupted)
        fb_buf_adds(out, "Interrupted: this is what was measured until then.\n");
    fb_groups_deinit(&groups);
}
