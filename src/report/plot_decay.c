/* What stays after the last free: over the seconds that follow, and after a purge. */
#include "base/alloc.h"
#include "metrics/timeline.h"
#include "report/plot_make.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The checkpoints after the last free, in their order. */
static const char *const kinds[] = {"idle_0s", "idle_1s", "idle_10s", "active_10s", "purged"};
static const char *const names[] = {"at once", "idle 1 s", "idle 10 s", "active 10 s", "purged"};
#define KINDS (sizeof kinds / sizeof kinds[0])
/* Numbers in the legend, as bits by place: idle 1 s is a point only, for want of room. */
#define SHOWN_ALL 0x1dU
#define SHOWN_FEW 0x14U

static bool has_tail(const struct fb_plot_view *view, size_t cell)
{
    return view->curves != NULL && view->curves[cell].drawn != NULL &&
           view->curves[cell].tail.count > 0;
}

static const struct fb_checkpoint *checkpoint(const struct fb_plot_view *view, size_t cell,
                                              size_t kind)
{
    return fb_timeline_checkpoint(view->curves[cell].drawn, kinds[kind], -1);
}

static double retained(const struct fb_checkpoint *at)
{
    return at == NULL ? NAN : (double)at->footprint_bytes - (double)at->live_bytes;
}

struct scale {
    double end_s, idle_s, most, least;
    struct fb_plot_unit bytes;
};

static struct scale find_scale(const struct fb_plot_view *view)
{
    struct scale scale = {0};
    for (size_t i = 0; i < view->cell_count; i++) {
        size_t cell = view->cells[i];
        const struct fb_curve *tail = &view->curves[cell].tail;
        const struct fb_checkpoint *start = checkpoint(view, cell, 0);
        const struct fb_checkpoint *idle = checkpoint(view, cell, 2);
        scale.end_s = fmax(scale.end_s, tail->x[tail->count - 1]);
        if (start != NULL && idle != NULL)
            scale.idle_s = fmax(scale.idle_s, (double)(idle->t_ns - start->t_ns) / 1e9);
        for (size_t k = 0; k < tail->count; k++) {
            scale.most = fmax(scale.most, tail->y[k]);
            scale.least = fmin(scale.least, tail->y[k]);
        }
    }
    scale.bytes = fb_plot_unit_of_bytes(scale.most);
    return scale;
}

/* ": at once 219.2 MiB, …" of the checkpoints whose bits are set in `shown`. */
static void put_numbers(const struct fb_plot_view *view, size_t cell, unsigned shown,
                        struct fb_buf *out)
{
    char text[40];
    const char *lead = ":";
    for (size_t k = 0; k < KINDS; k++) {
        if ((shown >> k & 1U) == 0)
            continue;
        fb_buf_addf(out, "%s %s %s", lead, names[k],
                    fb_plot_bytes(retained(checkpoint(view, cell, k)), text, sizeof text));
        lead = ",";
    }
}

/* A long name leaves room for the two numbers that say most. */
static void put_legends(const struct fb_plot_view *view, struct fb_buf *data)
{
    size_t fits = fb_plot_fit((double)view->request->width - 110);
    fb_plot_dataset(data, "lines");
    for (size_t i = 0; i < view->cell_count; i++) {
        const char *name = fb_text_or_empty(view->group->cells[view->cells[i]].allocator.name);
        struct fb_buf all, few;
        fb_buf_init(&all, FB_PLOT_DATA_CAP_BYTES);
        fb_buf_init(&few, FB_PLOT_DATA_CAP_BYTES);
        put_numbers(view, view->cells[i], SHOWN_ALL, &all);
        put_numbers(view, view->cells[i], SHOWN_FEW, &few);
        bool roomy = fb_plot_length(name) + fb_plot_length(all.text) <= fits;
        const char *numbers = roomy ? all.text : few.text;
        size_t taken = fb_plot_length(numbers);
        char *cut = fb_plot_cut(name, fits > taken + 12 ? fits - taken : 12);
        char *legend = fb_format("%s%s", cut, numbers);
        fb_plot_line(data, i + 1, &view->strokes[view->cells[i]], legend);
        free(legend);
        free(cut);
        fb_buf_deinit(&few);
        fb_buf_deinit(&all);
    }
}

/* "line N": the curve; "points N": the measured moments; the purge stands at `purge_x`, behind the
 * curve. */
static void put_cell(const struct fb_plot_view *view, size_t i, const struct scale *scale,
                     double purge_x, struct fb_buf *data)
{
    size_t cell = view->cells[i];
    const struct fb_curve *tail = &view->curves[cell].tail;
    const struct fb_checkpoint *start = checkpoint(view, cell, 0);
    char *name = fb_format("line %zu", i + 1);
    fb_plot_dataset(data, name);
    free(name);
    for (size_t k = 0; k < tail->count; k++)
        fb_plot_point(data, tail->x[k], tail->y[k] / scale->bytes.base);
    name = fb_format("points %zu", i + 1);
    fb_plot_dataset(data, name);
    free(name);
    for (size_t k = 0; k < KINDS; k++) {
        const struct fb_checkpoint *at = checkpoint(view, cell, k);
        if (at != NULL)
            fb_plot_point(data, k + 1 == KINDS ? purge_x : (double)(at->t_ns - start->t_ns) / 1e9,
                          retained(at) / scale->bytes.base);
    }
}

static void draw_decay(const struct fb_plot_view *view, struct fb_pictures *out)
{
    struct scale scale = find_scale(view);
    struct fb_plot_frame frame;
    struct fb_buf title;
    fb_plot_frame_init(&frame, view->request->width);
    fb_buf_init(&title, FB_PLOT_DATA_CAP_BYTES);
    fb_plot_title(view, "What stays after the last free", &title);
    bool real = strcmp(fb_text_or_empty(view->group->cells[0].clock), "real") == 0;
    char *y_label = fb_format("RSS, anonymous, minus live (%s)", scale.bytes.name);
    frame.title = title.text;
    frame.y_label = y_label;
    frame.x_label = real ? "time since the last free (s)" : "virtual time since the last free (s)";
    frame.top_rows = 1;
    frame.legend_rows = (unsigned)view->cell_count;
    fb_plot_subtitle(view, &frame.subtitle);
    fb_buf_adds(&frame.caption,
                "Idle: no allocator call. Active: a few small pairs and one of 64 KiB a second on "
                "each thread. Purged: every thread told to give back what it can. ");
    fb_plot_caption(view, has_tail, true, &frame.caption);
    struct fb_picture *picture =
        fb_pictures_add(out, "decay", view->group, view->page, fb_strdup(title.text));
    double end = scale.end_s > 0 ? scale.end_s : 1;
    const double extra[] = {end * 1.1,
                            scale.most > 0 ? scale.most / scale.bytes.base * 1.08 : 1,
                            (double)view->cell_count,
                            scale.idle_s,
                            end,
                            scale.least / scale.bytes.base * 1.08};
    fb_plot_frame_put(&frame, extra, sizeof extra / sizeof extra[0], &picture->data);
    put_legends(view, &picture->data);
    for (size_t i = 0; i < view->cell_count; i++)
        put_cell(view, i, &scale, end * 1.05, &picture->data);
    free(y_label);
    fb_buf_deinit(&title);
    fb_plot_frame_deinit(&frame);
}

void fb_plot_decay(const struct fb_plot_request *request, struct fb_pictures *out)
{
    fb_plot_each(request, "decay", "no readings after the last free", has_tail, draw_decay, out);
}
