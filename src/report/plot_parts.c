/* Where the bytes of a footprint are: stacked bars, an allocator at the peak and at the end. */
#include "base/alloc.h"
#include "report/plot_attribution.h"
#include "report/plot_make.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LACK "no attribution data; `fragbench run --explain` collects them"
#define ROW_PX 24U

/* Neighbours in a bar differ in lightness, and a white line parts them. */
static const struct {
    const char *name;
    unsigned colour;
    bool dark; /* its numbers are white */
} styles[FB_PLOT_PART_COUNT] = {
    [FB_PLOT_PART_LIVE] = {"live", 0x0072b2, true},
    [FB_PLOT_PART_ROUNDING] = {"rounding: usable, not asked for", 0x6bb8e8, false},
    [FB_PLOT_PART_HOLES] = {"holes: beside something live on its page", 0xd55e00, true},
    [FB_PLOT_PART_CACHED] = {"cached: free pages that a purge gives back", 0xf2c94c, false},
    [FB_PLOT_PART_STUCK] = {"stuck: free pages that it does not", 0x882255, true},
    [FB_PLOT_PART_FREE] = {"free pages, cached or stuck", 0xe3a77c, false},
    [FB_PLOT_PART_STARTUP] = {"start-up", 0x5a5a5a, true},
    [FB_PLOT_PART_BASE] = {"base: the program's own", 0xb0b0b0, false},
};

static bool has_parts(const struct fb_plot_view *view, size_t cell)
{
    struct fb_plot_parts parts;
    const struct fb_cell *of = &view->group->cells[cell];
    return fb_plot_parts_find(of, FB_PLOT_AT_PEAK, &parts) ||
           fb_plot_parts_find(of, FB_PLOT_AT_END, &parts);
}

/* A bar: one cell at one moment. */
struct bar {
    struct fb_plot_parts parts;
    char *label; /* owned */
};

static size_t collect(const struct fb_plot_view *view, struct bar *bars)
{
    static const char *const when[] = {"peak", "end"};
    size_t count = 0;
    for (size_t i = 0; i < view->cell_count; i++) {
        const struct fb_cell *cell = &view->group->cells[view->cells[i]];
        for (unsigned moment = 0; moment < FB_PLOT_MOMENT_COUNT; moment++) {
            if (!fb_plot_parts_find(cell, (enum fb_plot_moment)moment, &bars[count].parts))
                continue;
            bars[count++].label =
                fb_format("%s, %s", fb_text_or_empty(cell->allocator.name), when[moment]);
        }
    }
    return count;
}

static unsigned left_px(const struct bar *bars, size_t count, unsigned width)
{
    size_t longest = 0;
    for (size_t i = 0; i < count; i++)
        longest = fb_plot_length(bars[i].label) > longest ? fb_plot_length(bars[i].label) : longest;
    double px = 7.4 * (double)longest + 26;
    return (unsigned)(px > width * 0.4 ? width * 0.4 : px);
}

/* "segments": row, from, to, colour, number, colour of the number; a number only where it fits. */
static void put_segments(const struct bar *bars, size_t count, double base, double px_a_byte,
                         struct fb_buf *data)
{
    fb_plot_dataset(data, "segments");
    for (size_t row = 0; row < count; row++) {
        double from = 0;
        for (int part = 0; part < FB_PLOT_PART_COUNT; part++) {
            double bytes = bars[row].parts.bytes[part];
            char number[32] = "";
            if (bytes * px_a_byte >= 44)
                (void)snprintf(number, sizeof number, bytes / base < 10 ? "%.2f" : "%.1f",
                               bytes / base);
            if (bytes > 0)
                fb_buf_addf(data, "%zu\t%.6g\t%.6g\t%u\t\"%s\"\t%u\n", row + 1, from / base,
                            (from + bytes) / base, styles[part].colour, number,
                            styles[part].dark ? 0xffffffU : 0U);
            from += bytes;
        }
    }
}

static void put_rows(const struct bar *bars, size_t count, double base, unsigned left,
                     struct fb_buf *data)
{
    char total[32];
    fb_plot_dataset(data, "rows");
    for (size_t row = 0; row < count; row++) {
        char *label = fb_plot_cut(bars[row].label, fb_plot_fit((double)left - 20));
        fb_buf_addf(data, "%zu\t%.6g\t", row + 1, bars[row].parts.total_bytes / base);
        fb_plot_field(data, label);
        fb_buf_adds(data, "\t");
        fb_plot_field(data, fb_plot_bytes(bars[row].parts.total_bytes, total, sizeof total));
        fb_buf_adds(data, "\n");
        free(label);
    }
}

/* Only the parts that some bar has. Returns how many. */
static size_t put_legend(const struct bar *bars, size_t count, struct fb_buf *data)
{
    size_t shown = 0;
    fb_plot_dataset(data, "lines");
    for (int part = 0; part < FB_PLOT_PART_COUNT; part++) {
        bool any = false;
        for (size_t row = 0; row < count; row++)
            any = any || bars[row].parts.bytes[part] > 0;
        const struct fb_stroke stroke = {styles[part].colour, {0}};
        if (any)
            fb_plot_line(data, ++shown, &stroke, styles[part].name);
    }
    return shown;
}

static double longest(const struct bar *bars, size_t count)
{
    double most = 1;
    for (size_t i = 0; i < count; i++)
        most = fmax(most, bars[i].parts.total_bytes);
    return most;
}

static void put_picture(const struct fb_plot_view *view, const struct bar *bars, size_t count,
                        struct fb_pictures *out)
{
    struct fb_plot_frame frame;
    struct fb_buf title, legend;
    fb_plot_frame_init(&frame, view->request->width);
    fb_buf_init(&title, FB_PLOT_DATA_CAP_BYTES);
    fb_buf_init(&legend, FB_PLOT_DATA_CAP_BYTES);
    fb_plot_title(view, "Where the bytes went", &title);
    fb_plot_subtitle(view, &frame.subtitle);
    double most = longest(bars, count);
    struct fb_plot_unit bytes = fb_plot_unit_of_bytes(most);
    char *x_label = fb_format("RSS, anonymous (%s)", bytes.name);
    size_t shown = put_legend(bars, count, &legend);
    frame.title = title.text;
    frame.x_label = x_label;
    frame.left_px = left_px(bars, count, frame.width);
    frame.right_px = 90;
    frame.plot_px = (unsigned)count * ROW_PX + 8;
    frame.legend_rows = (unsigned)(shown + 1) / 2;
    fb_buf_adds(&frame.caption, "Peak: the moment with most live bytes. End: the last phase's, "
                                "after its frees. ");
    fb_plot_caption(view, has_parts, false, &frame.caption);
    struct fb_picture *picture =
        fb_pictures_add(out, "parts", view->group, view->page, fb_strdup(title.text));
    const double extra[] = {most / bytes.base, (double)count, (double)shown};
    fb_plot_frame_put(&frame, extra, sizeof extra / sizeof extra[0], &picture->data);
    fb_buf_addf(&picture->data, "\n\n%s", legend.text);
    put_rows(bars, count, bytes.base, frame.left_px, &picture->data);
    put_segments(bars, count, bytes.base, fb_plot_frame_inner(&frame) / most, &picture->data);
    free(x_label);
    fb_buf_deinit(&legend);
    fb_buf_deinit(&title);
    fb_plot_frame_deinit(&frame);
}

static void draw_parts(const struct fb_plot_view *view, struct fb_pictures *out)
{
    struct bar *bars = fb_alloc(view->cell_count * FB_PLOT_MOMENT_COUNT, sizeof *bars);
    size_t count = collect(view, bars);
    put_picture(view, bars, count, out);
    for (size_t i = 0; i < count; i++)
        free(bars[i].label);
    free(bars);
}

void fb_plot_parts(const struct fb_plot_request *request, struct fb_pictures *out)
{
    fb_plot_each(request, "parts", LACK, has_parts, draw_parts, out);
}
