/* Curves over time: resident memory with what is live, and their ratio. */
#include "base/alloc.h"
#include "report/plot_make.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PHASE_ROWS 3U /* of names above the drawing */
#define LOG_FROM 8.0  /* a ratio that gets this high is drawn on a logarithmic axis */

static bool has_curve(const struct fb_plot_view *view, size_t cell)
{
    return view->curves != NULL && view->curves[cell].drawn != NULL;
}

static bool has_ratio(const struct fb_plot_view *view, size_t cell)
{
    if (!has_curve(view, cell))
        return false;
    const struct fb_curve *curve = &view->curves[cell].ratio;
    for (size_t i = 0; i < curve->count; i++)
        if (!isnan(curve->y[i]))
            return true;
    return false;
}

static double highest(const struct fb_curve *curve)
{
    double most = 0;
    for (size_t i = 0; i < curve->count; i++)
        if (curve->y[i] > most)
            most = curve->y[i];
    return most;
}

static double last(const struct fb_curve *curve)
{
    return curve->count > 0 ? curve->y[curve->count - 1] : NAN;
}

static double end_of(const struct fb_plot_view *view)
{
    double end_s = 0;
    for (size_t i = 0; i < view->cell_count; i++)
        end_s = fmax(end_s, view->curves[view->cells[i]].end_s);
    return end_s;
}

/* The curve in units of the axes, its last value held to the end of the axis where the curve is a
 * single moment. */
static void put_curve(struct fb_buf *data, const char *name, const struct fb_curve *curve,
                      double x_base, double y_base, double x_max)
{
    fb_plot_dataset(data, name);
    for (size_t i = 0; i < curve->count; i++) {
        bool gap = isnan(curve->y[i]);
        if (gap && (i == 0 || isnan(curve->y[i - 1])))
            continue; /* two empty lines would begin a dataset */
        if (gap)
            fb_plot_point(data, curve->x[i] / x_base, curve->y[i - 1] / y_base);
        fb_plot_point(data, curve->x[i] / x_base, curve->y[i] / y_base);
    }
    if (curve->count > 0 && curve->x[curve->count - 1] <= curve->x[0])
        fb_plot_point(data, x_max, last(curve) / y_base);
}

/* "live": the steps as an area's outline, corner by corner from the axis back to it, since gnuplot
 * fills steps one by one. */
static void put_area(struct fb_buf *data, const struct fb_curve *curve, double x_base,
                     double y_base, double x_max)
{
    fb_plot_dataset(data, "live");
    if (curve->count == 0)
        return;
    fb_plot_point(data, curve->x[0] / x_base, 0);
    for (size_t i = 0; i < curve->count; i++) {
        if (i > 0)
            fb_plot_point(data, curve->x[i] / x_base, curve->y[i - 1] / y_base);
        fb_plot_point(data, curve->x[i] / x_base, curve->y[i] / y_base);
    }
    bool moment = curve->x[curve->count - 1] <= curve->x[0];
    double end = moment ? x_max : curve->x[curve->count - 1] / x_base;
    fb_plot_point(data, end, last(curve) / y_base);
    fb_plot_point(data, end, 0);
}

/* Where the names of phases end that stand in one row so far, in pixels. */
struct rows {
    double ends[PHASE_ROWS];
    unsigned used;
};

/* Where a phase's name stands. */
struct place {
    int row;    /* −1: nowhere, it would cover another */
    bool right; /* its end is at the phase's beginning, for want of room behind it */
};

/* The first row with room for a name of `width` at x in a drawing that ends at `end`. */
static struct place find_place(struct rows *rows, double x, double width, double end)
{
    struct place place = {-1, x + width > end};
    double from = place.right ? x - width : x;
    for (unsigned row = 0; row < PHASE_ROWS && from >= 0; row++) {
        if (rows->ends[row] > from)
            continue;
        rows->ends[row] = from + width;
        rows->used = row + 1 > rows->used ? row + 1 : rows->used;
        place.row = (int)row;
        break;
    }
    return place;
}

/* When a phase began: at the end of the one before. */
static double phase_start(const struct fb_repetition *run, size_t phase)
{
    for (size_t i = 0; phase > 0 && i < run->checkpoint_count; i++)
        if (strcmp(run->checkpoints[i].kind, "phase_end") == 0 &&
            run->checkpoints[i].phase == (int)phase - 1)
            return (double)run->checkpoints[i].t_ns / 1e9;
    return 0;
}

/* "phases": start, row of its name (−1: none), whether it ends there, name. Fills the frame's rows
 * and says in the caption how many have no name. Returns how many phases there are. */
static size_t put_phases(const struct fb_plot_view *view, struct fb_plot_frame *frame,
                         double x_base, double x_max, struct fb_buf *data)
{
    const struct fb_repetition *run = view->curves[view->cells[0]].drawn;
    struct rows rows = {0};
    size_t unnamed = 0;
    double inner = fb_plot_frame_inner(frame);
    fb_plot_dataset(data, "phases");
    for (size_t i = 0; i < run->phase_count; i++) {
        double start = phase_start(run, i) / x_base;
        double x = start / x_max * inner;
        char *name = fb_plot_cut(fb_text_or_empty(run->phases[i].name), 24);
        double width = 6.6 * (double)fb_plot_length(name) + 10;
        struct place place = find_place(&rows, x, width, inner + frame->right_px);
        unnamed += place.row < 0;
        fb_plot_number(data, start);
        fb_buf_addf(data, "\t%d\t%d\t", place.row, place.right);
        fb_plot_field(data, name);
        fb_buf_adds(data, "\n");
        free(name);
    }
    frame->top_rows = rows.used;
    if (unnamed > 0)
        fb_buf_addf(&frame->caption, "%zu of %zu phases are too short for their names. ", unnamed,
                    run->phase_count);
    return run->phase_count;
}

/* The first cell that did all its work: its live bytes are everyone's. */
static const struct fb_curve *live_curve(const struct fb_plot_view *view)
{
    for (size_t i = 0; i < view->cell_count; i++)
        if (view->group->cells[view->cells[i]].status == FB_STATUS_OK)
            return &view->curves[view->cells[i]].live;
    return &view->curves[view->cells[0]].live;
}

/* Room in the legend for a name before `numbers`. */
static char *legend_name(const struct fb_plot_view *view, size_t cell, const char *numbers)
{
    size_t fits = fb_plot_fit((double)view->request->width - 110);
    size_t taken = fb_plot_length(numbers);
    const char *name = fb_text_or_empty(view->group->cells[cell].allocator.name);
    return fb_plot_cut(name, fits > taken + 12 ? fits - taken : 12);
}

static void put_legend(const struct fb_plot_view *view, size_t cell, size_t number,
                       const char *numbers, struct fb_buf *data)
{
    char *name = legend_name(view, cell, numbers);
    char *legend = fb_format("%s: %s", name, numbers);
    fb_plot_line(data, number, &view->strokes[cell], legend);
    free(legend);
    free(name);
}

static void put_rss_legends(const struct fb_plot_view *view, const struct fb_curve *live,
                            struct fb_buf *data)
{
    static const struct fb_stroke grey = {0x767676, {0}};
    char peak[32], end[32];
    fb_plot_dataset(data, "lines");
    char *text =
        fb_format("live bytes: peak %s, end %s", fb_plot_bytes(highest(live), peak, sizeof peak),
                  fb_plot_bytes(last(live), end, sizeof end));
    fb_plot_line(data, 1, &grey, text);
    free(text);
    for (size_t i = 0; i < view->cell_count; i++) {
        const struct fb_curve *curve = &view->curves[view->cells[i]].footprint;
        text = fb_format("peak %s, end %s", fb_plot_bytes(highest(curve), peak, sizeof peak),
                         fb_plot_bytes(last(curve), end, sizeof end));
        put_legend(view, view->cells[i], i + 2, text, data);
        free(text);
    }
}

/* What both pictures have in common: axes, phases, frame. */
struct lines {
    struct fb_plot_frame frame;
    struct fb_plot_unit time;
    double x_max;
    size_t phases;
    struct fb_buf title, phase_rows;
    char *x_label;
};

static void lines_init(struct lines *lines, const struct fb_plot_view *view, const char *what)
{
    double end_s = end_of(view);
    fb_plot_frame_init(&lines->frame, view->request->width);
    fb_buf_init(&lines->title, FB_PLOT_DATA_CAP_BYTES);
    fb_buf_init(&lines->phase_rows, FB_PLOT_DATA_CAP_BYTES);
    lines->time = fb_plot_unit_of_time(end_s);
    lines->x_max = end_s > 0 ? end_s / lines->time.base : 1;
    lines->x_label = fb_plot_time_label(view->group, &lines->time);
    lines->frame.x_label = lines->x_label;
    fb_plot_title(view, what, &lines->title);
    lines->frame.title = lines->title.text;
    fb_plot_subtitle(view, &lines->frame.subtitle);
    lines->phases =
        put_phases(view, &lines->frame, lines->time.base, lines->x_max, &lines->phase_rows);
}

static void lines_deinit(struct lines *lines)
{
    fb_plot_frame_deinit(&lines->frame);
    fb_buf_deinit(&lines->title);
    fb_buf_deinit(&lines->phase_rows);
    free(lines->x_label);
}

static void draw_rss(const struct fb_plot_view *view, struct fb_pictures *out)
{
    struct lines lines;
    const struct fb_curve *live = live_curve(view);
    double most = highest(live);
    for (size_t i = 0; i < view->cell_count; i++)
        most = fmax(most, highest(&view->curves[view->cells[i]].footprint));
    struct fb_plot_unit bytes = fb_plot_unit_of_bytes(most);
    lines_init(&lines, view, "RSS over time");
    char *y_label = fb_format("RSS, anonymous (%s)", bytes.name);
    lines.frame.y_label = y_label;
    lines.frame.legend_rows = (unsigned)view->cell_count + 1;
    fb_plot_caption(view, has_curve, true, &lines.frame.caption);
    struct fb_picture *picture =
        fb_pictures_add(out, "rss", view->group, view->page, fb_strdup(lines.title.text));
    const double extra[] = {lines.x_max, most > 0 ? most / bytes.base * 1.05 : 1,
                            (double)view->cell_count, (double)lines.phases};
    fb_plot_frame_put(&lines.frame, extra, sizeof extra / sizeof extra[0], &picture->data);
    put_rss_legends(view, live, &picture->data);
    fb_buf_addf(&picture->data, "\n\n%s", lines.phase_rows.text);
    put_area(&picture->data, live, lines.time.base, bytes.base, lines.x_max);
    for (size_t i = 0; i < view->cell_count; i++) {
        char *name = fb_format("line %zu", i + 1);
        put_curve(&picture->data, name, &view->curves[view->cells[i]].footprint, lines.time.base,
                  bytes.base, lines.x_max);
        free(name);
    }
    free(y_label);
    lines_deinit(&lines);
}

void fb_plot_rss(const struct fb_plot_request *request, struct fb_pictures *out)
{
    fb_plot_each(request, "rss", "no curve to draw", has_curve, draw_rss, out);
}

static double lowest_ratio(const struct fb_plot_view *view)
{
    double least = 1;
    for (size_t i = 0; i < view->cell_count; i++) {
        const struct fb_curve *curve = &view->curves[view->cells[i]].ratio;
        for (size_t k = 0; k < curve->count; k++)
            least = curve->y[k] < least ? curve->y[k] : least;
    }
    return least;
}

static void put_ratio_legends(const struct fb_plot_view *view, struct fb_buf *data)
{
    fb_plot_dataset(data, "lines");
    for (size_t i = 0; i < view->cell_count; i++) {
        const struct fb_curve *curve = &view->curves[view->cells[i]].ratio;
        char *end = isnan(last(curve)) ? fb_strdup("n/a") : fb_format("%.2f", last(curve));
        char *text = fb_format("largest %.2f, end %s", highest(curve), end);
        put_legend(view, view->cells[i], i + 1, text, data);
        free(text);
        free(end);
    }
}

static void put_ratio(const struct fb_plot_view *view, const struct lines *lines, double most,
                      struct fb_buf *data)
{
    double least = lowest_ratio(view);
    bool log = most / least > LOG_FROM;
    const double extra[] = {
        lines->x_max,          log ? most * 1.2 : most * 1.05,    (double)view->cell_count,
        (double)lines->phases, log ? fmax(least * 0.9, 1e-3) : 0, log};
    fb_plot_frame_put(&lines->frame, extra, sizeof extra / sizeof extra[0], data);
    put_ratio_legends(view, data);
    fb_buf_addf(data, "\n\n%s", lines->phase_rows.text);
    for (size_t i = 0; i < view->cell_count; i++) {
        char *name = fb_format("line %zu", i + 1);
        put_curve(data, name, &view->curves[view->cells[i]].ratio, lines->time.base, 1,
                  lines->x_max);
        free(name);
    }
}

static void draw_ratio(const struct fb_plot_view *view, struct fb_pictures *out)
{
    struct lines lines;
    double most = 1;
    for (size_t i = 0; i < view->cell_count; i++)
        most = fmax(most, highest(&view->curves[view->cells[i]].ratio));
    lines_init(&lines, view, "RSS over live bytes");
    lines.frame.y_label = "RSS, anonymous / live bytes";
    lines.frame.legend_rows = (unsigned)view->cell_count;
    fb_buf_adds(&lines.frame.caption, "No ratio where less than 1 MiB is live. ");
    fb_plot_caption(view, has_ratio, true, &lines.frame.caption);
    struct fb_picture *picture =
        fb_pictures_add(out, "ratio", view->group, view->page, fb_strdup(lines.title.text));
    put_ratio(view, &lines, most, &picture->data);
    lines_deinit(&lines);
}

void fb_plot_ratio(const struct fb_plot_request *request, struct fb_pictures *out)
{
    fb_plot_each(request, "ratio", "no curve with 1 MiB live", has_ratio, draw_ratio, out);
}
