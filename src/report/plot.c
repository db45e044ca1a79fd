#include "report/plot.h"

#include "base/alloc.h"
#include "report/plot_make.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COLUMN_PX 3U /* the width of a column that curves are thinned to */

const struct fb_plot_kind fb_plot_kinds[] = {
    {"rss", "resident memory over time, with what is live", FB_PLOT_ALWAYS, true, fb_plot_rss},
    {"ratio", "resident over live, over time", FB_PLOT_ALWAYS, true, fb_plot_ratio},
    {"parts", "where the bytes went; `run --explain` splits the free pages", FB_PLOT_ALWAYS, false,
     fb_plot_parts},
    {"heat", "pages by how much of them is live (of a run with --explain)", FB_PLOT_ALWAYS, false,
     fb_plot_heat},
    {"library", "every workload under every allocator, in one map", FB_PLOT_OF_SEVERAL, false,
     fb_plot_library},
    {"pareto", "memory against time", FB_PLOT_ALWAYS, false, fb_plot_pareto},
    {"change", "against the result of --base", FB_PLOT_ALWAYS, false, fb_plot_change},
    {"decay", "what stays after the last free", FB_PLOT_ALWAYS, true, fb_plot_decay},
    {"sketch", "the curves on the terminal", FB_PLOT_NEVER, true, fb_plot_sketch},
};
const size_t fb_plot_kind_count = sizeof fb_plot_kinds / sizeof fb_plot_kinds[0];

const struct fb_plot_kind *fb_plot_kind_find(const char *name)
{
    for (size_t i = 0; i < fb_plot_kind_count; i++)
        if (strcmp(fb_plot_kinds[i].name, name) == 0)
            return &fb_plot_kinds[i];
    return NULL;
}

void fb_plot_source_init(struct fb_plot_source *source, const char *dir,
                         const struct fb_result *result, bool with_curves, unsigned width)
{
    *source = (struct fb_plot_source){.dir = dir, .result = result};
    fb_groups_init(&source->groups, result);
    if (!with_curves)
        return;
    source->curves = fb_alloc(source->groups.count, sizeof *source->curves);
    for (size_t g = 0; g < source->groups.count; g++) {
        const struct fb_group *group = &source->groups.items[g];
        source->curves[g].cells = fb_alloc(group->count, sizeof *source->curves[g].cells);
        for (size_t c = 0; c < group->count; c++)
            fb_curves_load(dir, &group->cells[c], width / COLUMN_PX, &source->curves[g].cells[c]);
    }
}

void fb_plot_source_deinit(struct fb_plot_source *source)
{
    for (size_t g = 0; source->curves != NULL && g < source->groups.count; g++) {
        for (size_t c = 0; c < source->groups.items[g].count; c++)
            fb_curves_deinit(&source->curves[g].cells[c]);
        free(source->curves[g].cells);
    }
    free(source->curves);
    fb_groups_deinit(&source->groups);
    *source = (struct fb_plot_source){0};
}

/* "kv-cache-growth_steps_100": the id without the contender. New string. */
static char *group_name(const struct fb_group *group)
{
    const struct fb_cell *cell = &group->cells[0];
    const char *id = fb_text_or_empty(cell->id);
    const char *workload = fb_text_or_empty(cell->workload.name);
    char *head = fb_format("%s/%s", workload, fb_text_or_empty(cell->allocator.name));
    size_t length = strlen(head);
    const char *params = strncmp(id, head, length) == 0 ? id + length : "";
    char *both = fb_format("%s%s", workload, params);
    char *name = fb_cell_file_name(both);
    free(both);
    free(head);
    return name;
}

static bool has_name(const struct fb_pictures *pictures, const char *name)
{
    for (size_t i = 0; i < pictures->count; i++)
        if (strcmp(pictures->items[i].name, name) == 0)
            return true;
    return false;
}

static char *unlike_others(const struct fb_pictures *pictures, char *name)
{
    char *tried = fb_strdup(name);
    for (unsigned i = 2; has_name(pictures, tried); i++) {
        free(tried);
        tried = fb_format("%s-%u", name, i);
    }
    free(name);
    return tried;
}

struct fb_picture *fb_pictures_add(struct fb_pictures *pictures, const char *kind,
                                   const struct fb_group *group, unsigned page, char *text)
{
    char *suffix = page > 1 ? fb_format(".%u", page) : fb_strdup("");
    char *own = group != NULL ? group_name(group) : fb_strdup("");
    char *name = fb_format("%s%s%s%s", kind, *own != '\0' ? "-" : "", own, suffix);
    name = unlike_others(pictures, name);
    free(own);
    free(suffix);
    pictures->items = fb_realloc(pictures->items, pictures->count + 1, sizeof *pictures->items);
    struct fb_picture *picture = &pictures->items[pictures->count++];
    *picture = (struct fb_picture){.kind = kind, .name = name, .text = text, .group = group};
    fb_buf_init(&picture->data, FB_PLOT_DATA_CAP_BYTES);
    return picture;
}

void fb_pictures_lack(struct fb_pictures *pictures, const char *kind, const char *fmt, ...)
{
    char *reason = NULL;
    va_list args;
    va_start(args, fmt);
    if (vasprintf(&reason, fmt, args) < 0)
        reason = fb_strdup(fmt);
    va_end(args);
    pictures->absent =
        fb_realloc(pictures->absent, pictures->absent_count + 1, sizeof *pictures->absent);
    pictures->absent[pictures->absent_count++] = fb_format("%s: %s", kind, reason);
    free(reason);
}

void fb_pictures_deinit(struct fb_pictures *pictures)
{
    for (size_t i = 0; i < pictures->count; i++) {
        free(pictures->items[i].name);
        free(pictures->items[i].text);
        fb_buf_deinit(&pictures->items[i].data);
    }
    for (size_t i = 0; i < pictures->absent_count; i++)
        free(pictures->absent[i]);
    free(pictures->items);
    free(pictures->absent);
    *pictures = (struct fb_pictures){0};
}
