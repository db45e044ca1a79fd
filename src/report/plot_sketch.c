/* The curves as text: a letter an allocator, one value a column. */
#include "base/alloc.h"
#include "report/plot_make.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROWS 18.0
#define MARGIN_COLUMNS 9U /* of the numbers on the left */

static bool has_curve(const struct fb_plot_view *view, size_t cell)
{
    return view->curves != NULL && view->curves[cell].drawn != NULL;
}

/* The name's first letter, or what no earlier one has. */
static char choose_letter(const char *name, const char *taken)
{
    static const char others[] = "123456789abcdefghijklmnopqrstuvwxyz";
    char first = (char)tolower((unsigned char)*name);
    if (isalpha((unsigned char)first) && strchr(taken, first) == NULL)
        return first;
    for (const char *other = others; *other != '\0'; other++)
        if (strchr(taken, *other) == NULL)
            return *other;
    return '+';
}

/* The curve's highest value within each column of the drawing, so that no peak is lost; a column
 * without a point of its own has the value held from before. */
static void put_columns(struct fb_buf *data, const char *name, const struct fb_curve *curve,
                        unsigned columns, double end_s, double x_base, double y_base)
{
    size_t next = 0;
    double held = NAN;
    fb_plot_dataset(data, name);
    for (unsigned column = 0; column < columns; column++) {
        double until = end_s * (column + 1) / columns;
        double most = held;
        while (next < curve->count && (curve->x[next] <= until || column + 1 == columns)) {
            held = curve->y[next++];
            most = isnan(most) || held > most ? held : most;
        }
        if (!isnan(most))
            fb_plot_point(data, (double)column / (columns - 1) * end_s / x_base, most / y_base);
    }
}

static double highest(const struct fb_curve *curve)
{
    double most = 0;
    for (size_t i = 0; i < curve->count; i++)
        most = curve->y[i] > most ? curve->y[i] : most;
    return most;
}

static void put_keys(const struct fb_plot_view *view, const char *letters, struct fb_buf *data)
{
    char peak[32], end[32];
    fb_plot_dataset(data, "keys");
    for (size_t i = 0; i < view->cell_count; i++) {
        const struct fb_curve *curve = &view->curves[view->cells[i]].footprint;
        const char *name = fb_text_or_empty(view->group->cells[view->cells[i]].allocator.name);
        char *cut = fb_plot_cut(name, view->request->width > 60 ? view->request->width - 50 : 20);
        char *text = fb_format("%c %s: peak %s, end %s", letters[i], cut,
                               fb_plot_bytes(highest(curve), peak, sizeof peak),
                               fb_plot_bytes(curve->y[curve->count - 1], end, sizeof end));
        fb_buf_addf(data, "%zu\t", i + 1);
        fb_plot_field(data, text);
        fb_buf_addf(data, "\t\"%c\"\n", letters[i]);
        free(text);
        free(cut);
    }
}

struct scale {
    double end_s, most;
    struct fb_plot_unit time, bytes;
};

static struct scale find_scale(const struct fb_plot_view *view)
{
    struct scale scale = {0};
    for (size_t i = 0; i < view->cell_count; i++) {
        const struct fb_cell_curves *curves = &view->curves[view->cells[i]];
        scale.end_s = fmax(scale.end_s, curves->end_s);
        scale.most = fmax(scale.most, fmax(highest(&curves->footprint), highest(&curves->live)));
    }
    scale.time = fb_plot_unit_of_time(scale.end_s);
    scale.bytes = fb_plot_unit_of_bytes(scale.most);
    return scale;
}

static void put_frame(const struct fb_plot_view *view, const struct scale *scale,
                      struct fb_buf *data)
{
    char *time = fb_plot_time_label(view->group, &scale->time);
    char *rest = fb_format(": RSS, anonymous (%s) over %s; . is live", scale->bytes.name, time);
    size_t taken = fb_plot_length(rest) + 2;
    size_t fits = view->request->width > taken + 8 ? view->request->width - taken : 8;
    char *name = fb_plot_cut(fb_text_or_empty(view->group->cells[0].workload.name), fits);
    char *title = fb_format("%s%s", name, rest);
    fb_plot_dataset(data, "texts");
    fb_buf_adds(data, "1\t");
    fb_plot_field(data, title);
    fb_buf_adds(data, "\n");
    fb_plot_dataset(data, "numbers");
    const double numbers[] = {
        view->request->width, ROWS, scale->end_s > 0 ? scale->end_s / scale->time.base : 1,
        scale->most > 0 ? scale->most / scale->bytes.base * 1.05 : 1, (double)view->cell_count};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        fb_buf_addf(data, "%zu\t", i + 1);
        fb_plot_number(data, numbers[i]);
        fb_buf_adds(data, "\n");
    }
    free(title);
    free(name);
    free(rest);
    free(time);
}

static void draw_sketch(const struct fb_plot_view *view, struct fb_pictures *out)
{
    char letters[FB_PLOT_PAGE + 1] = "";
    struct scale scale = find_scale(view);
    unsigned columns = view->request->width - MARGIN_COLUMNS;
    for (size_t i = 0; i < view->cell_count; i++)
        letters[i] = choose_letter(
            fb_text_or_empty(view->group->cells[view->cells[i]].allocator.name), letters);
    struct fb_picture *picture =
        fb_pictures_add(out, "sketch", view->group, view->page, fb_strdup("RSS over time"));
    struct fb_buf *data = &picture->data;
    double end_s = scale.end_s > 0 ? scale.end_s : scale.time.base;
    put_frame(view, &scale, data);
    put_keys(view, letters, data);
    put_columns(data, "live", &view->curves[view->cells[0]].live, columns, end_s, scale.time.base,
                scale.bytes.base);
    for (size_t i = 0; i < view->cell_count; i++) {
        char *name = fb_format("line %zu", i + 1);
        put_columns(data, name, &view->curves[view->cells[i]].footprint, columns, end_s,
                    scale.time.base, scale.bytes.base);
        free(name);
    }
}

void fb_plot_sketch(const struct fb_plot_request *request, struct fb_pictures *out)
{
    fb_plot_each(request, "sketch", "no curve to draw", has_curve, draw_sketch, out);
}
