#include "rendering.h"

#include "base/alloc.h"
#include "report/export.h"
#include "report/table.h"
#include "sample.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define CAP (1U << 20)

char *rendering_table(const struct fb_result *result, unsigned width, bool color)
{
    const struct fb_table_options options = {.color = color, .width = width};
    struct fb_buf out;
    fb_buf_init(&out, CAP);
    fb_table_render(result, &options, &out);
    char *text = fb_strdup(out.text);
    fb_buf_deinit(&out);
    return text;
}

char *rendering_export(const struct fb_result *result, const char *format)
{
    struct fb_buf out;
    const struct fb_export *export = fb_export_find(format);
    assert_non_null(export);
    fb_buf_init(&out, CAP);
    const struct fb_findings none = {0};
    const struct fb_document_set set = {"", NULL, result};
    const struct fb_document document = {&set, 1, false, &none};
    export->render(&document, &out);
    char *text = fb_strdup(out.text);
    fb_buf_deinit(&out);
    return text;
}

void assert_says(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("no \"%s\" in:\n%s", part, text);
}

void assert_silent(const char *text, const char *part)
{
    if (strstr(text, part) != NULL)
        fail_msg("\"%s\" in:\n%s", part, text);
}

void rendering_set(struct fb_cell *cell, enum fb_metric metric, double median, double min,
                   double max)
{
    cell->summary[metric] = sample_summary(median, min, max);
}
