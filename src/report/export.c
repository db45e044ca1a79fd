#include "report/export.h"

#include "report/comparison.h"
#include "report/formats.h"
#include "report/table.h"
#include "result/store.h"

#include <stdlib.h>
#include <string.h>

static void render_text(const struct fb_document *document, struct fb_buf *out)
{
    if (document->comparison) {
        const struct fb_comparison_style style = {.all = true};
        fb_comparison_render(document, &style, out);
        return;
    }
    const struct fb_table_options options = {.color = false, .width = 0};
    fb_table_render(document->sets[0].result, &options, out);
}

static void render_json(const struct fb_document *document, struct fb_buf *out)
{
    char *text = fb_store_text(document->sets[0].result);
    fb_buf_adds(out, text);
    free(text);
}

const struct fb_export fb_exports[] = {
    {"text", "the table and verdict as on a wide terminal", render_text},
    {"csv", "one row a cell: median, min and max of every metric, base units", fb_format_csv},
    {"json", "everything, as in result.json (fragbench-result/1)", render_json},
    {"markdown", "the table and verdict for GitHub", fb_format_markdown},
};
const size_t fb_export_count = sizeof fb_exports / sizeof fb_exports[0];

const struct fb_export *fb_export_find(const char *name)
{
    for (size_t i = 0; i < fb_export_count; i++)
        if (strcmp(fb_exports[i].name, name) == 0)
            return &fb_exports[i];
    return NULL;
}
