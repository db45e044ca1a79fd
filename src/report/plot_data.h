/* The data file of a picture: what a template of plots/ reads.
 *
 * Tab-separated datasets, each under a comment with its name, two empty lines between
 * them. gnuplot interprets escapes and quotes in data, and SVG passes "&#" through, so every
 * text goes through fb_plot_field(). Numbers are written so that they read back the same.
 */
#ifndef FB_REPORT_PLOT_DATA_H
#define FB_REPORT_PLOT_DATA_H

#include "base/buf.h"

#include <stdint.h>

#define FB_PLOT_DATA_CAP_BYTES ((size_t)64 << 20)
#define FB_PLOT_CAPTION_LINES 8

/* Adds text as one quoted field that shows as it is; a double quote shows as a single one, "&#" as
 * "& #", a control character as a blank, what is no UTF-8 as "?". */
void fb_plot_field(struct fb_buf *data, const char *text);
/* Begins a dataset. */
void fb_plot_dataset(struct fb_buf *data, const char *name);
/* "x<tab>y", an empty line where y is NaN (gnuplot then lifts the pen). */
void fb_plot_point(struct fb_buf *data, double x, double y);
/* A number as text that reads back the same. */
void fb_plot_number(struct fb_buf *data, double value);

/* Characters, not bytes. */
size_t fb_plot_length(const char *text);
/* At most `most` characters: cut in the middle, where names differ least. New string. */
char *fb_plot_cut(const char *text, size_t most);
/* How many characters of the small and the normal size fit into so many pixels. */
size_t fb_plot_fit_small(double pixels);
size_t fb_plot_fit(double pixels);

/* Everything round the drawing, in pixels from the top left corner. */
struct fb_plot_frame {
    unsigned width;       /* of the picture */
    unsigned top_rows;    /* lines of small text between subtitle and drawing */
    unsigned plot_px;     /* height of the drawing */
    unsigned axis_px;     /* below it: tick labels and the axis' name */
    unsigned legend_rows; /* lines below that */
    unsigned left_px;     /* left of it */
    unsigned right_px;    /* right of it */
    const char *title, *x_label, *y_label;
    struct fb_buf subtitle;
    struct fb_buf caption; /* sentences; broken into lines when written */
};

void fb_plot_frame_init(struct fb_plot_frame *frame, unsigned width);
void fb_plot_frame_deinit(struct fb_plot_frame *frame);
/* Writes the datasets "texts" (title, subtitle, names of the axes, lines of the caption) and
 * "numbers": the frame's eight, then the picture's own `extra`. */
void fb_plot_frame_put(const struct fb_plot_frame *frame, const double *extra, size_t extra_count,
                       struct fb_buf *data);
/* Width of the drawing. */
double fb_plot_frame_inner(const struct fb_plot_frame *frame);

/* A unit for an axis. */
struct fb_plot_unit {
    const char *name; /* "MiB", "ms" */
    double base;      /* of the base unit (bytes, s) in one */
};
struct fb_plot_unit fb_plot_unit_of_bytes(double largest_bytes);
struct fb_plot_unit fb_plot_unit_of_time(double longest_s);
/* fb_units_bytes() of a double; negative ones get their sign. Returns buffer. */
const char *fb_plot_bytes(double bytes, char *buffer, size_t size);

#endif
