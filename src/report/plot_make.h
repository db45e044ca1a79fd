/* What the makers of pictures (plot_*.c) share, and their names for the table in plot.c. */
#ifndef FB_REPORT_PLOT_MAKE_H
#define FB_REPORT_PLOT_MAKE_H

#include "report/palette.h"
#include "report/plot.h"
#include "report/plot_data.h"

void fb_plot_rss(const struct fb_plot_request *request, struct fb_pictures *out);
void fb_plot_ratio(const struct fb_plot_request *request, struct fb_pictures *out);
void fb_plot_parts(const struct fb_plot_request *request, struct fb_pictures *out);
void fb_plot_heat(const struct fb_plot_request *request, struct fb_pictures *out);
void fb_plot_library(const struct fb_plot_request *request, struct fb_pictures *out);
void fb_plot_pareto(const struct fb_plot_request *request, struct fb_pictures *out);
void fb_plot_change(const struct fb_plot_request *request, struct fb_pictures *out);
void fb_plot_decay(const struct fb_plot_request *request, struct fb_pictures *out);
void fb_plot_sketch(const struct fb_plot_request *request, struct fb_pictures *out);

/* Adds a picture named KIND-GROUP (KIND alone without a group), made unlike the others' names; the
 * caller fills data. `text` is taken. Valid until the next add. */
struct fb_picture *fb_pictures_add(struct fb_pictures *pictures, const char *kind,
                                   const struct fb_group *group, unsigned page, char *text);
/* Notes why a picture is absent. */
void fb_pictures_lack(struct fb_pictures *pictures, const char *kind, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* One workload's cells, the view that most makers work on. A page has at most FB_PLOT_PAGE drawn
 * cells: more lines cannot be told apart. */
#define FB_PLOT_PAGE 12U
struct fb_plot_view {
    const struct fb_plot_request *request;
    const struct fb_plot_source *source;
    const struct fb_group *group;
    const struct fb_cell_curves *curves; /* by cell of the group; NULL when not loaded */
    const struct fb_stroke *strokes;     /* by cell */
    const size_t *cells;                 /* of this page: indices into the group's */
    size_t cell_count;
    unsigned page, pages; /* counted from 1 */
};
typedef bool fb_plot_has(const struct fb_plot_view *view, size_t cell);
typedef void fb_plot_draw(const struct fb_plot_view *view, struct fb_pictures *out);
/* Calls draw for each page of each group of each source that has a cell for which has() holds;
 * notes the lack of the others under kind with `lack`. */
void fb_plot_each(const struct fb_plot_request *request, const char *kind, const char *lack,
                  fb_plot_has *has, fb_plot_draw *draw, struct fb_pictures *out);

/* "RSS over time: kv-cache-growth". */
void fb_plot_title(const struct fb_plot_view *view, const char *what, struct fb_buf *out);
/* "virtual clock, lockstep order, 3 layouts; Linux …" into the subtitle. */
void fb_plot_subtitle(const struct fb_plot_view *view, struct fb_buf *out);
/* The parameters, which run is drawn (of_runs: the picture is of one run a cell), and which cells
 * of the group are not, and why. */
void fb_plot_caption(const struct fb_plot_view *view, fb_plot_has *has, bool of_runs,
                     struct fb_buf *out);
/* A row of the dataset "lines": number, colour, dash, text of the legend. */
void fb_plot_line(struct fb_buf *data, size_t number, const struct fb_stroke *stroke,
                  const char *legend);
/* "virtual time (s)" or "time (s)". New string. */
char *fb_plot_time_label(const struct fb_group *group, const struct fb_plot_unit *unit);
/* A metric's value for people: "1.23", "400.8 MiB", "1.2 us". Returns buffer. */
const char *fb_plot_value(enum fb_metric metric, double value, char *buffer, size_t size);

#endif
