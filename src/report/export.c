#include "report/export.h"

#include "report/comparison.h"
#include "report/formats.h"
#include "report/gates.h"
#include "report/table.h"

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
    fb_gates_render(document->findings, false, out);
}

const struct fb_export fb_exports[] = {
    {"text", "the table and verdict as on a wide terminal", render_text},
    {"csv", "one row a cell, or a finding of a comparison; base units", fb_format_csv},
    {"json", "everything: fragbench-result/1, or fragbench-comparison/1", fb_format_json},
    {"markdown", "the table and verdict for GitHub", fb_format_markdown},
    {"junit", "test cases for CI: every cell, every limit or finding", fb_format_junit},
    {"github", "GitHub workflow commands: annotations", fb_format_github},
    {"github-summary", "markdown of at most 1 MiB for GITHUB_STEP_SUMMARY",
     fb_format_github_summary},
    {"gitlab", "GitLab code quality report", fb_format_gitlab},
    {"openmetrics", "gauges for GitLab's metrics report and Prometheus", fb_format_openmetrics},
    {"benchmark-action", "github-action-benchmark's customSmallerIsBetter",
     fb_format_benchmark_action},
};
const size_t fb_export_count = sizeof fb_exports / sizeof fb_exports[0];

const struct fb_export *fb_export_find(const char *name)
{
    for (size_t i = 0; i < fb_export_count; i++)
        if (strcmp(fb_exports[i].name, name) == 0)
            return &fb_exports[i];
    return NULL;
}
