#include "report/html.h"

#include "base/alloc.h"
#include "base/shell.h"
#include "base/units.h"
#include "report/block.h"
#include "report/export.h"
#include "report/group.h"
#include "report/html_parts.h"
#include "report/html_table.h"
#include "report/html_text.h"
#include "report/table.h"
#include "report/verdict.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROSE_MAX ((size_t)1 << 20)
#define EXPORT_MAX ((size_t)1 << 28)

/* From page/style.css and page/script.js; see CMakeLists.txt. */
extern const unsigned char fb_html_style[], fb_html_script[];

struct page {
    const struct fb_document *document;
    const struct fb_html_extra *extra;
    struct fb_buf *out;
};

/* Groups of a workload that an earlier group is not of: parameter sets are no further workloads. */
static size_t count_workloads(const struct fb_groups *groups)
{
    size_t count = 0;
    for (size_t i = 0; i < groups->count; i++) {
        const char *name = fb_text_or_empty(groups->items[i].cells[0].workload.name);
        size_t before = 0;
        while (before < i &&
               strcmp(fb_text_or_empty(groups->items[before].cells[0].workload.name), name) != 0)
            before++;
        count += before == i;
    }
    return count;
}

static void add_title(const struct page *page)
{
    const struct fb_document *document = page->document;
    fb_buf_adds(page->out, "fragbench: ");
    for (size_t set = 0; set < document->set_count; set++) {
        struct fb_groups groups;
        fb_groups_init(&groups, document->sets[set].result);
        size_t workloads = count_workloads(&groups);
        fb_buf_adds(page->out, set > 0 ? " · " : "");
        if (workloads > 0)
            fb_html_text(page->out, fb_text_or_empty(groups.items[0].cells[0].workload.name));
        if (workloads > 1)
            fb_buf_addf(page->out, " and %zu more", workloads - 1);
        fb_groups_deinit(&groups);
    }
}

static void add_head(const struct page *page)
{
    fb_buf_adds(
        page->out,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>");
    add_title(page);
    fb_buf_addf(page->out, "</title>\n<style>\n%s</style>\n</head>\n<body>\n<main>\n<h1>",
                (const char *)fb_html_style);
    add_title(page);
    fb_buf_adds(page->out, "</h1>\n");
}

static void add_pair(struct fb_buf *out, const char *name, const char *value)
{
    fb_buf_addf(out, "<dt>%s</dt><dd>", name);
    fb_html_text(out, value);
    fb_buf_adds(out, "</dd>\n");
}

/* argv as a shell would take it. */
static char *command_line(const struct fb_result *result)
{
    struct fb_buf line;
    fb_buf_init(&line, PROSE_MAX);
    for (size_t i = 0; i < result->argc; i++) {
        fb_buf_adds(&line, i > 0 ? " " : "");
        if (result->argv[i][0] == '\0')
            fb_buf_adds(&line, "''");
        fb_shell_add(&line, result->argv[i]);
    }
    char *text = fb_strdup(line.text);
    fb_buf_deinit(&line);
    return text;
}

static void add_facts(const struct page *page, const struct fb_document_set *set)
{
    const struct fb_result *result = set->result;
    struct fb_buf *out = page->out;
    struct fb_buf host;
    fb_buf_init(&host, PROSE_MAX);
    fb_host_line(&result->host, &host);
    if (result->host.cpu != NULL && result->host.cpu[0] != '\0')
        fb_buf_addf(&host, ", %s", result->host.cpu);
    char *command = command_line(result);
    fb_buf_adds(out, "<dl>\n");
    if (set->label[0] != '\0')
        add_pair(out, "result set", set->label);
    add_pair(out, "measured", fb_text_or_empty(result->started));
    add_pair(out, "on", host.text);
    add_pair(out, "fragbench", fb_text_or_empty(result->version));
    fb_buf_adds(out, "<dt>command</dt><dd><code>");
    fb_html_text(out, command);
    fb_buf_adds(out, "</code></dd>\n</dl>\n");
    if (result->interrupted)
        fb_buf_adds(out,
                    "<p class=\"bad\">Interrupted: this is what was measured until then.</p>\n");
    free(command);
    fb_buf_deinit(&host);
}

static void add_nav(const struct page *page, size_t set, const struct fb_groups *groups)
{
    if (groups->count < 2)
        return;
    fb_buf_adds(page->out, "<nav aria-label=\"workloads\"><ul>\n");
    for (size_t i = 0; i < groups->count; i++) {
        struct fb_buf title;
        fb_buf_init(&title, PROSE_MAX);
        fb_group_title(&groups->items[i], &title);
        fb_buf_addf(page->out, "<li><a href=\"#s%zug%zu\">", set, i);
        fb_html_text(page->out, title.text);
        fb_buf_adds(page->out, "</a></li>\n");
        fb_buf_deinit(&title);
    }
    fb_buf_adds(page->out, "</ul></nav>\n");
}

static void add_picture(const struct page *page, size_t index)
{
    const struct fb_html_picture *picture = &page->extra->pictures[index];
    struct fb_buf *out = page->out;
    char prefix[32];
    (void)snprintf(prefix, sizeof prefix, "p%zu-", index);
    if (picture->svg == NULL) {
        fb_buf_adds(out, "<p class=\"soft\">");
        fb_html_text(out, picture->title);
        fb_buf_adds(out, ". Not drawn: ");
        fb_html_text(out, fb_text_or_empty(picture->reason));
        fb_buf_adds(out, "</p>\n");
        return;
    }
    fb_buf_adds(out, "<h3>");
    fb_html_text(out, picture->title);
    fb_buf_adds(out, "</h3>\n");
    fb_buf_adds(out,
                "<figure class=\"lines-of\"><div class=\"picture\" role=\"img\" aria-label=\"");
    fb_html_text(out, picture->alt);
    fb_buf_adds(out, "\">\n");
    fb_html_svg(out, picture->svg, prefix);
    fb_buf_adds(out, "</div>\n<figcaption>");
    fb_html_text(out, picture->caption);
    fb_buf_adds(out, "</figcaption></figure>\n");
}

static void add_pictures(const struct page *page, size_t set, size_t group)
{
    for (size_t i = 0; i < page->extra->picture_count; i++)
        if (page->extra->pictures[i].set == set && page->extra->pictures[i].group == group)
            add_picture(page, i);
}

static void add_verdict(const struct page *page, const struct fb_group *group)
{
    static const struct fb_verdict_style style = {"", FB_HTML_COMMAND, "", "", false};
    struct fb_buf prose;
    fb_buf_init(&prose, PROSE_MAX);
    fb_verdict_render(group, &style, &prose);
    fb_buf_adds(page->out, "<div class=\"verdict\">\n");
    fb_html_prose(page->out, prose.text);
    fb_buf_adds(page->out, "</div>\n");
    fb_buf_deinit(&prose);
}

static void add_table(const struct page *page, const struct fb_result *result,
                      const struct fb_group *group)
{
    struct fb_grid grid;
    struct fb_notes notes;
    struct fb_buf prose;
    fb_block_init(group, &grid, &notes);
    fb_html_grid(page->out, &grid,
                 "A row an allocator. Less is better, but for live: that is the data itself.");
    fb_buf_init(&prose, PROSE_MAX);
    fb_block_notes(group, &result->host, &notes, "", &prose);
    fb_buf_adds(page->out, "<div class=\"soft\">\n");
    fb_html_prose(page->out, prose.text);
    fb_buf_adds(page->out, "</div>\n<details><summary>What each figure means</summary>\n");
    fb_html_definitions(page->out, group);
    fb_buf_adds(page->out, "</details>\n<details><summary>All figures</summary>\n");
    fb_html_metrics(page->out, group);
    fb_buf_adds(page->out, "</details>\n");
    fb_buf_deinit(&prose);
    fb_grid_deinit(&grid);
}

/* The findings of gates that speak of a cell of the group. */
static void add_findings(const struct page *page, size_t set, const struct fb_group *group)
{
    const struct fb_findings *findings = page->document->findings;
    for (size_t i = 0; i < findings->count; i++) {
        const struct fb_finding *finding = &findings->items[i];
        if (!finding->gates || finding->set != set || finding->cell == NULL ||
            strcmp(fb_text_or_empty(finding->cell->workload.name),
                   fb_text_or_empty(group->cells[0].workload.name)) != 0)
            continue;
        fb_buf_adds(page->out, "<p class=\"bad\">");
        fb_html_text(page->out, fb_text_or_empty(finding->message));
        fb_buf_adds(page->out, "</p>\n");
    }
}

static void add_setting_row(struct fb_buf *out, const struct fb_cell *cell)
{
    char *environment = fb_table_environment(cell);
    fb_buf_adds(out, "<dt>");
    fb_html_text(out, fb_text_or_empty(cell->allocator.name));
    fb_buf_adds(out, "</dt><dd>");
    fb_html_text(out, fb_text_or_empty(cell->allocator.version));
    fb_buf_adds(out, environment[0] == '\0' ? " nothing to set" : " <code>");
    fb_html_text(out, environment);
    fb_buf_adds(out, environment[0] == '\0' ? "" : "</code>");
    fb_buf_adds(out, "</dd>\n");
    free(environment);
}

static void add_workload(const struct page *page, const struct fb_group *group)
{
    const char *name = fb_text_or_empty(group->cells[0].workload.name), *text = NULL;
    for (size_t i = 0; i < page->extra->workload_count; i++)
        if (strcmp(page->extra->workloads[i].name, name) == 0)
            text = page->extra->workloads[i].text;
    fb_buf_adds(page->out, "<details><summary>Versions and environment</summary><dl>\n");
    for (size_t i = 0; i < group->count; i++)
        add_setting_row(page->out, &group->cells[i]);
    fb_buf_adds(page->out, "</dl></details>\n<details><summary>The workload</summary>\n");
    fb_buf_adds(page->out, text != NULL ? "<pre>" : "<p class=\"soft\">");
    fb_html_text(page->out, text != NULL ? text : "Its file was not kept with this result.");
    fb_buf_adds(page->out, text != NULL ? "</pre></details>\n" : "</p></details>\n");
}

static void add_group(const struct page *page, size_t set, size_t index,
                      const struct fb_group *group)
{
    const struct fb_result *result = page->document->sets[set].result;
    struct fb_buf line;
    fb_buf_addf(page->out, "<section id=\"s%zug%zu\">\n<h2>", set, index);
    fb_buf_init(&line, PROSE_MAX);
    fb_group_title(group, &line);
    fb_html_text(page->out, line.text);
    fb_buf_adds(page->out, "</h2>\n<p class=\"soft\">");
    fb_buf_deinit(&line);
    fb_buf_init(&line, PROSE_MAX);
    fb_group_facts(group, &line);
    fb_buf_adds(&line, "; ");
    fb_group_setup(group, &line);
    fb_html_text(page->out, line.text);
    fb_buf_adds(page->out, "</p>\n");
    fb_buf_deinit(&line);
    add_findings(page, set, group);
    add_verdict(page, group);
    add_table(page, result, group);
    fb_html_ranking(page->out, group);
    add_pictures(page, set, index);
    fb_html_parts(page->out, group);
    add_workload(page, group);
    fb_buf_adds(page->out, "</section>\n");
}

/* A path in an attribute: what is no plain character is percent-encoded. */
static void add_path(struct fb_buf *out, const char *path)
{
    for (; *path != '\0'; path++) {
        unsigned char byte = (unsigned char)*path;
        bool plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
                     (byte >= '0' && byte <= '9') || strchr("-._~/", byte) != NULL;
        if (plain)
            fb_buf_add(out, path, 1);
        else
            fb_buf_addf(out, "%%%02X", byte);
    }
}

/* The figures as CSV within the page; the whole result and the curves as links beside it. */
static void add_data(const struct page *page, size_t set)
{
    const struct fb_document_set *source = &page->document->sets[set];
    const struct fb_findings none = {0};
    const struct fb_document alone = {source, 1, false, &none};
    const char *folder = page->extra->folders != NULL ? page->extra->folders[set] : NULL;
    struct fb_buf csv;
    fb_buf_init(&csv, EXPORT_MAX);
    fb_export_find("csv")->render(&alone, &csv);
    fb_buf_adds(page->out, "<h2>Raw data</h2>\n<p><a download=\"result.csv\" href=\""
                           "data:text/csv;charset=utf-8;base64,");
    fb_html_base64(page->out, csv.text, csv.length);
    fb_buf_adds(page->out, "\">result.csv</a>: every figure in base units, within this page.");
    fb_buf_deinit(&csv);
    if (folder != NULL) {
        fb_buf_adds(page->out, " Beside it: <a href=\"");
        add_path(page->out, folder);
        fb_buf_adds(page->out, "result.json\">result.json</a>, all runs, and <a href=\"");
        add_path(page->out, folder);
        fb_buf_adds(page->out, "series/\">series/</a>, the curves.");
    }
    fb_buf_adds(page->out, "</p>\n");
}

static void add_set(const struct page *page, size_t set)
{
    struct fb_groups groups;
    fb_groups_init(&groups, page->document->sets[set].result);
    if (page->document->set_count > 1) {
        fb_buf_adds(page->out, "<h2>Result set ");
        fb_html_text(page->out, page->document->sets[set].label);
        fb_buf_adds(page->out, "</h2>\n");
    }
    add_facts(page, &page->document->sets[set]);
    add_nav(page, set, &groups);
    add_pictures(page, set, FB_HTML_WHOLE);
    for (size_t i = 0; i < groups.count; i++)
        add_group(page, set, i, &groups.items[i]);
    add_data(page, set);
    fb_groups_deinit(&groups);
}

/* Phase by phase only the text has it. */
static void add_comparison_text(const struct page *page)
{
    fb_buf_adds(page->out, "<details><summary>Phase by phase, as fragbench compare prints it"
                           "</summary>\n<pre class=\"wide\" tabindex=\"0\">");
    fb_html_text(page->out, page->extra->comparison);
    fb_buf_adds(page->out, "</pre></details>\n");
}

static void add_changes(const struct page *page)
{
    const struct fb_html_extra *extra = page->extra;
    if (extra->comparison == NULL && extra->refusals == NULL)
        return;
    struct fb_document document = *page->document;
    document.comparison = true;
    fb_buf_adds(page->out, "<section id=\"changes\">\n<h2>Changes</h2>\n");
    if (extra->refusals != NULL) {
        fb_buf_adds(page->out, "<div class=\"bad\">\n");
        fb_html_prose(page->out, extra->refusals);
        fb_buf_adds(page->out, "</div>\n");
    }
    if (extra->comparison != NULL) {
        fb_html_changes(page->out, &document);
        for (size_t set = 0; set < document.set_count; set++)
            add_pictures(page, set, FB_HTML_CHANGE);
        add_comparison_text(page);
    }
    fb_buf_adds(page->out, "</section>\n");
}

void fb_html_render(const struct fb_document *document, const struct fb_html_extra *extra,
                    struct fb_buf *out)
{
    const struct page page = {document, extra, out};
    add_head(&page);
    add_changes(&page);
    for (size_t set = 0; set < document->set_count; set++)
        add_set(&page, set);
    fb_buf_addf(out, "</main>\n<script>\n%s</script>\n</body>\n</html>\n",
                (const char *)fb_html_script);
}
