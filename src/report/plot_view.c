#include "base/alloc.h"
#include "base/units.h"
#include "report/plot_make.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void draw_pages(struct fb_plot_view *view, const size_t *cells, size_t count,
                       fb_plot_draw *draw, struct fb_pictures *out)
{
    view->pages = (unsigned)((count + FB_PLOT_PAGE - 1) / FB_PLOT_PAGE);
    for (view->page = 1; view->page <= view->pages; view->page++) {
        size_t from = (size_t)(view->page - 1) * FB_PLOT_PAGE;
        view->cells = cells + from;
        view->cell_count = count - from < FB_PLOT_PAGE ? count - from : FB_PLOT_PAGE;
        draw(view, out);
    }
}

static size_t each_group(struct fb_plot_view *view, fb_plot_has *has, fb_plot_draw *draw,
                         struct fb_pictures *out)
{
    size_t count = 0;
    size_t *cells = fb_alloc(view->group->count, sizeof *cells);
    struct fb_stroke *strokes = fb_alloc(view->group->count, sizeof *strokes);
    fb_palette_assign(view->group->cells, view->group->count, strokes);
    view->strokes = strokes;
    for (size_t i = 0; i < view->group->count; i++)
        if (has(view, i))
            cells[count++] = i;
    draw_pages(view, cells, count, draw, out);
    free(strokes);
    free(cells);
    return count;
}

#define NAMED_MAX 5U

/* Which workloads lack it: named where they are some of several. */
struct lacking {
    struct fb_buf names;
    size_t count, workloads;
    size_t programs; /* of the count: run by exec, so there is no replay to look into */
};

static void add_lacking(struct lacking *lacking, const struct fb_group *group)
{
    if (lacking->count < NAMED_MAX)
        fb_buf_addf(&lacking->names, "%s%s", lacking->count > 0 ? ", " : "",
                    fb_text_or_empty(group->cells[0].workload.name));
    lacking->count++;
    lacking->programs += fb_cell_is_program(&group->cells[0]);
}

/* What a replay alone has is not to be had by running the program once more. */
static const char *reason_of(const struct lacking *lacking, const char *lack)
{
    if (lacking->programs < lacking->count || strstr(lack, "fragbench run") == NULL)
        return lack;
    return "of a program as it runs there is none; `fragbench record` it, then `fragbench run "
           "FILE.fbt --explain`";
}

static void note_lack(const struct lacking *lacking, const char *kind, const char *lack,
                      struct fb_pictures *out)
{
    if (lacking->count == 0)
        return;
    lack = reason_of(lacking, lack);
    if (lacking->count == lacking->workloads)
        fb_pictures_lack(out, kind, "%s", lack);
    else if (lacking->count <= NAMED_MAX)
        fb_pictures_lack(out, kind, "%s (%s)", lack, lacking->names.text);
    else
        fb_pictures_lack(out, kind, "%s (%s and %zu more)", lack, lacking->names.text,
                         lacking->count - NAMED_MAX);
}

void fb_plot_each(const struct fb_plot_request *request, const char *kind, const char *lack,
                  fb_plot_has *has, fb_plot_draw *draw, struct fb_pictures *out)
{
    struct lacking lacking = {0};
    fb_buf_init(&lacking.names, FB_PLOT_DATA_CAP_BYTES);
    for (size_t s = 0; s < request->source_count; s++) {
        const struct fb_plot_source *source = &request->sources[s];
        for (size_t g = 0; g < source->groups.count; g++) {
            struct fb_plot_view view = {
                .request = request,
                .source = source,
                .group = &source->groups.items[g],
                .curves = source->curves != NULL ? source->curves[g].cells : NULL,
            };
            lacking.workloads++;
            if (each_group(&view, has, draw, out) == 0)
                add_lacking(&lacking, view.group);
        }
    }
    note_lack(&lacking, kind, lack, out);
    fb_buf_deinit(&lacking.names);
}

void fb_plot_title(const struct fb_plot_view *view, const char *what, struct fb_buf *out)
{
    fb_buf_addf(out, "%s: %s", what, fb_text_or_empty(view->group->cells[0].workload.name));
}

void fb_plot_subtitle(const struct fb_plot_view *view, struct fb_buf *out)
{
    if (view->pages > 1)
        fb_buf_addf(out, "picture %u of %u; ", view->page, view->pages);
    fb_group_setup(view->group, out);
    fb_buf_adds(out, "; ");
    fb_host_line(&view->source->result->host, out);
}

static void add_parameters(const struct fb_plot_view *view, struct fb_buf *out)
{
    const struct fb_cell *cell = &view->group->cells[0];
    for (size_t i = 0; i < cell->workload.param_count; i++)
        fb_buf_addf(out, "%s%s=%s", i == 0 ? "Parameters: " : ", ", cell->workload.params[i].name,
                    fb_text_or_empty(cell->workload.params[i].value));
    if (cell->workload.param_count > 0)
        fb_buf_adds(out, ". ");
}

/* Every line is the run of median peak of as many. */
static void add_choice(const struct fb_plot_view *view, struct fb_buf *out)
{
    size_t most = 0;
    for (size_t i = 0; i < view->cell_count; i++) {
        size_t runs = view->group->cells[view->cells[i]].repetition_count;
        most = runs > most ? runs : most;
    }
    if (most > 1)
        fb_buf_addf(
            out,
            "Of each %zu runs the one with the median peak is drawn, and the numbers are its own. ",
            most);
}

/* Why a cell of the group has no place in the picture. */
static const char *why_missing(const struct fb_plot_view *view, size_t cell)
{
    const struct fb_cell_curves *curves = view->curves != NULL ? &view->curves[cell] : NULL;
    enum fb_status status = view->group->cells[cell].status;
    if (fb_status_done(status) && curves != NULL && curves->absent != NULL)
        return curves->absent;
    return status == FB_STATUS_OK ? "no data" : fb_status_name(status);
}

static void add_missing(const struct fb_plot_view *view, fb_plot_has *has, struct fb_buf *out)
{
    size_t listed = 0;
    for (size_t i = 0; i < view->group->count; i++) {
        if (!has(view, i))
            fb_buf_addf(out, "%s%s (%s)", listed++ == 0 ? "Not drawn: " : ", ",
                        fb_text_or_empty(view->group->cells[i].allocator.name),
                        why_missing(view, i));
    }
    if (listed > 0)
        fb_buf_adds(out, ". ");
}

static void add_refused(const struct fb_plot_view *view, struct fb_buf *out)
{
    size_t listed = 0;
    for (size_t i = 0; i < view->cell_count; i++) {
        const struct fb_cell *cell = &view->group->cells[view->cells[i]];
        if (cell->status == FB_STATUS_REFUSED)
            fb_buf_addf(out, "%s%s", listed++ == 0 ? "Refused part of the work: " : ", ",
                        fb_text_or_empty(cell->allocator.name));
    }
    if (listed > 0)
        fb_buf_adds(out, ". ");
}

void fb_plot_caption(const struct fb_plot_view *view, fb_plot_has *has, bool of_runs,
                     struct fb_buf *out)
{
    add_parameters(view, out);
    if (of_runs)
        add_choice(view, out);
    add_refused(view, out);
    if (view->page == 1)
        add_missing(view, has, out);
}

void fb_plot_line(struct fb_buf *data, size_t number, const struct fb_stroke *stroke,
                  const char *legend)
{
    fb_buf_addf(data, "%zu\t%u", number, stroke->colour);
    for (size_t i = 0; i < FB_DASH_PARTS; i++)
        fb_buf_addf(data, "\t%u", stroke->dash[i]);
    fb_buf_adds(data, "\t");
    fb_plot_field(data, legend);
    fb_buf_adds(data, "\n");
}

char *fb_plot_time_label(const struct fb_group *group, const struct fb_plot_unit *unit)
{
    bool real = strcmp(fb_text_or_empty(group->cells[0].clock), "real") == 0;
    return fb_format("%s (%s)", real ? "time" : "virtual time", unit->name);
}

const char *fb_plot_value(enum fb_metric metric, double value, char *buffer, size_t size)
{
    const char *unit = fb_metrics[metric].unit;
    if (isnan(value))
        (void)snprintf(buffer, size, "n/a");
    else if (strcmp(unit, "bytes") == 0)
        return fb_plot_bytes(value, buffer, size);
    else if (strcmp(unit, "ns") == 0 && value >= 0 && value < 1e18)
        return fb_units_time((uint64_t)(value + 0.5), buffer, size);
    else if (strcmp(unit, "ratio") == 0)
        (void)snprintf(buffer, size, value < 100 ? "%.2f" : "%.0f", value);
    else if (strcmp(unit, "s") == 0)
        (void)snprintf(buffer, size, "%.3g s", value);
    else
        (void)snprintf(buffer, size, "%.4g", value);
    return buffer;
}
