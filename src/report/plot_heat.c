/* Page maps: the address space of each allocator cell by cell, coloured by how much of it is live.
 */
#include "base/alloc.h"
#include "base/units.h"
#include "report/plot_attribution.h"
#include "report/plot_make.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LACK "no page maps; `fragbench run --explain` makes them"
#define COLUMNS 64U     /* cells in a row of a panel */
#define CELLS_MAX 4096U /* of a panel */
#define PANELS_A_ROW 4U
#define HEAD_PX 34U /* of a panel: its name and numbers */
#define SHADES 5U   /* of a partly live cell */

/* What a cell shows: nothing, the allocator's or the program's own, no live byte, or a share. */
enum shade { SHADE_NONE = 0, SHADE_OWN, SHADE_DEAD, SHADE_FIRST };
static const struct {
    unsigned colour;
    const char *legend;
} shades[SHADE_FIRST + SHADES] = {
    [SHADE_NONE] = {0xf4f4f4, "not resident"},      [SHADE_OWN] = {0x8a8a8a, "start-up and base"},
    [SHADE_DEAD] = {0xd55e00, "nothing live"},      [SHADE_FIRST] = {0xd6e6f4, "up to 20 % live"},
    [SHADE_FIRST + 1] = {0x9dc6e0, "20–40 % live"}, [SHADE_FIRST + 2] = {0x5fa3d0, "40–60 % live"},
    [SHADE_FIRST + 3] = {0x2676b8, "60–80 % live"}, [SHADE_FIRST + 4] = {0x08306b, "80–100 % live"},
};
#define SHADE_COUNT (SHADE_FIRST + SHADES)

/* One allocator's map. */
struct panel {
    struct fb_plot_heat heat;
    size_t cell;
    enum fb_plot_moment moment;
    const char *phase;
    double resident_bytes, live_bytes;
    unsigned char *shade; /* cell by cell; owned */
    size_t count;
};

static bool find_file(const struct fb_plot_view *view, size_t cell, struct fb_plot_parts *parts)
{
    const struct fb_cell *of = &view->group->cells[cell];
    return (fb_plot_parts_find(of, FB_PLOT_AT_END, parts) && parts->heat != NULL) ||
           (fb_plot_parts_find(of, FB_PLOT_AT_PEAK, parts) && parts->heat != NULL);
}

static bool has_heat(const struct fb_plot_view *view, size_t cell)
{
    struct fb_plot_parts parts;
    return find_file(view, cell, &parts);
}

static double page_bytes(const struct fb_plot_view *view)
{
    uint64_t bytes = view->source->result->host.page_bytes;
    return bytes > 0 ? (double)bytes : 4096;
}

/* Cells of a group's row: those without a resident page are drawn too, but a gap of more than a row
 * is no picture of anything and becomes one empty cell. */
static size_t gap_before(const struct fb_plot_heat *heat, size_t i, uint64_t group_bytes)
{
    if (i == 0)
        return 0;
    const struct fb_plot_heat_group *before = &heat->groups[i - 1];
    const struct fb_plot_heat_group *here = &heat->groups[i];
    if (before->mapping != here->mapping)
        return 1;
    uint64_t between = (here->offset_bytes - before->offset_bytes) / group_bytes;
    return between <= 1 ? 0 : between - 1 > COLUMNS ? 1 : (size_t)between - 1;
}

static size_t count_cells(const struct fb_plot_heat *heat, uint64_t group_bytes)
{
    size_t cells = heat->count;
    for (size_t i = 0; i < heat->count; i++)
        cells += gap_before(heat, i, group_bytes);
    return cells;
}

static unsigned char shade_of(const struct fb_plot_heat_group *group, double page)
{
    double live = group->live_bytes / (group->resident_pages * page);
    if (group->resident_pages <= 0)
        return SHADE_NONE;
    if (group->live_bytes <= 0)
        return group->own_pages >= group->resident_pages ? SHADE_OWN : SHADE_DEAD;
    unsigned step = live >= 1 ? SHADES - 1 : (unsigned)(live * SHADES);
    return (unsigned char)(SHADE_FIRST + step);
}

static void paint(struct panel *panel, uint64_t group_bytes, double page)
{
    panel->shade = fb_alloc(count_cells(&panel->heat, group_bytes) + 1, 1);
    for (size_t i = 0; i < panel->heat.count; i++) {
        panel->count += gap_before(&panel->heat, i, group_bytes); /* zeroed: SHADE_NONE */
        panel->shade[panel->count++] = shade_of(&panel->heat.groups[i], page);
        panel->resident_bytes += panel->heat.groups[i].resident_pages * page;
        panel->live_bytes += panel->heat.groups[i].live_bytes;
    }
}

/* One size of group for all panels, so that equal areas are equal memory. */
static uint64_t choose_group(struct panel *panels, size_t count)
{
    uint64_t bytes = 1;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < panels[i].heat.count; k++)
            if (panels[i].heat.groups[k].group_bytes > bytes)
                bytes = panels[i].heat.groups[k].group_bytes;
    for (bool fits = false; !fits; bytes *= fits ? 1 : 2) {
        fits = true;
        for (size_t i = 0; i < count; i++) {
            fb_plot_heat_join(&panels[i].heat, bytes);
            fits = fits && count_cells(&panels[i].heat, bytes) <= CELLS_MAX;
        }
        if (bytes > UINT64_MAX / 4)
            break;
    }
    return bytes;
}

static size_t load_panels(const struct fb_plot_view *view, struct panel *panels,
                          struct fb_pictures *out)
{
    size_t count = 0;
    for (size_t i = 0; i < view->cell_count; i++) {
        struct fb_plot_parts parts;
        char *why = NULL;
        struct panel panel = {.cell = view->cells[i]};
        if (!find_file(view, panel.cell, &parts))
            continue;
        panel.moment = parts.moment;
        panel.phase = parts.phase;
        if (fb_plot_heat_read(view->source->dir, parts.heat, &panel.heat, &why) == 0)
            panels[count++] = panel;
        else
            fb_pictures_lack(out, "heat", "%s", why);
        free(why);
    }
    return count;
}

/* "cells N": a run of equal cells of one row as one rectangle: column from, to, row, colour. */
static size_t put_cells(const struct panel *panel, size_t number, struct fb_buf *data)
{
    char *name = fb_format("cells %zu", number);
    fb_plot_dataset(data, name);
    free(name);
    for (size_t i = 0, end = 0; i < panel->count; i = end) {
        size_t row_end = (i / COLUMNS + 1) * COLUMNS;
        for (end = i + 1;
             end < panel->count && end < row_end && panel->shade[end] == panel->shade[i]; end++)
            ;
        fb_buf_addf(data, "%zu\t%zu\t%zu\t%u\n", i % COLUMNS, end - i / COLUMNS * COLUMNS,
                    i / COLUMNS, shades[panel->shade[i]].colour);
    }
    return (panel->count + COLUMNS - 1) / COLUMNS;
}

static void put_names(const struct fb_plot_view *view, const struct panel *panels, size_t count,
                      double panel_px, struct fb_buf *data)
{
    char resident[32], live[32];
    fb_plot_dataset(data, "panels");
    for (size_t i = 0; i < count; i++) {
        const char *name = fb_text_or_empty(view->group->cells[panels[i].cell].allocator.name);
        char *cut = fb_plot_cut(name, fb_plot_fit(panel_px));
        char *numbers = fb_format(
            "%s, %s live", fb_plot_bytes(panels[i].resident_bytes, resident, sizeof resident),
            fb_plot_bytes(panels[i].live_bytes, live, sizeof live));
        fb_buf_addf(data, "%zu\t", i + 1);
        fb_plot_field(data, cut);
        fb_buf_adds(data, "\t");
        fb_plot_field(data, numbers);
        fb_buf_adds(data, "\n");
        free(numbers);
        free(cut);
    }
}

static void put_legend(struct fb_buf *data)
{
    fb_plot_dataset(data, "lines");
    for (size_t i = 0; i < SHADE_COUNT; i++) {
        const struct fb_stroke stroke = {shades[i].colour, {0}};
        fb_plot_line(data, i + 1, &stroke, shades[i].legend);
    }
}

static void put_caption(const struct fb_plot_view *view, const struct panel *panels, uint64_t group,
                        struct fb_buf *caption)
{
    char size[32];
    bool at_end = panels[0].moment == FB_PLOT_AT_END;
    fb_buf_addf(caption,
                "Addresses run row by row; a cell is %s, and equal areas are equal memory. Taken "
                "%s%s. ",
                fb_units_bytes(group, size, sizeof size),
                at_end ? "at the end of phase " : "at the peak of live bytes",
                at_end ? panels[0].phase : "");
    fb_plot_caption(view, has_heat, false, caption);
}

static void put_picture(const struct fb_plot_view *view, struct panel *panels, size_t count,
                        struct fb_pictures *out)
{
    struct fb_plot_frame frame;
    struct fb_buf title, cells;
    uint64_t group = choose_group(panels, count);
    unsigned across = count < PANELS_A_ROW ? (unsigned)count : PANELS_A_ROW;
    unsigned down = ((unsigned)count + across - 1) / across;
    size_t most = 1;
    fb_buf_init(&title, FB_PLOT_DATA_CAP_BYTES);
    fb_buf_init(&cells, FB_PLOT_DATA_CAP_BYTES);
    fb_plot_frame_init(&frame, view->request->width);
    for (size_t i = 0; i < count; i++) {
        paint(&panels[i], group, page_bytes(view));
        size_t rows = put_cells(&panels[i], i + 1, &cells);
        most = rows > most ? rows : most;
    }
    fb_plot_title(view, "Pages by how much is live", &title);
    fb_plot_subtitle(view, &frame.subtitle);
    frame.title = title.text;
    frame.left_px = frame.right_px = 16;
    frame.axis_px = 8;
    double panel_px = (fb_plot_frame_inner(&frame) - 16.0 * (across - 1)) / across;
    double cell_px = fmin(panel_px / COLUMNS, 8);
    unsigned panel_rows_px = (unsigned)ceil(cell_px * (double)most);
    frame.plot_px = down * (HEAD_PX + panel_rows_px) + (down - 1) * 10;
    frame.legend_rows = 2;
    put_caption(view, panels, group, &frame.caption);
    struct fb_picture *picture =
        fb_pictures_add(out, "heat", view->group, view->page, fb_strdup(title.text));
    const double extra[] = {(double)count, across,  panel_px,    cell_px,     HEAD_PX,
                            panel_rows_px, COLUMNS, SHADE_COUNT, (double)most};
    fb_plot_frame_put(&frame, extra, sizeof extra / sizeof extra[0], &picture->data);
    put_legend(&picture->data);
    put_names(view, panels, count, panel_px, &picture->data);
    fb_buf_addf(&picture->data, "\n\n%s", cells.text);
    fb_buf_deinit(&cells);
    fb_buf_deinit(&title);
    fb_plot_frame_deinit(&frame);
}

static void draw_heat(const struct fb_plot_view *view, struct fb_pictures *out)
{
    struct panel *panels = fb_alloc(view->cell_count, sizeof *panels);
    size_t count = load_panels(view, panels, out);
    if (count > 0)
        put_picture(view, panels, count, out);
    for (size_t i = 0; i < count; i++) {
        fb_plot_heat_deinit(&panels[i].heat);
        free(panels[i].shade);
    }
    free(panels);
}

void fb_plot_heat(const struct fb_plot_request *request, struct fb_pictures *out)
{
    fb_plot_each(request, "heat", LACK, has_heat, draw_heat, out);
}
