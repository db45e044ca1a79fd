/* Pictures of results: one table of kinds, each a function from results to the data file of its
 * template (plots/<kind>.gp). Pure but for reading the curves; gnuplot is run by commands/draw.c.
 */
#ifndef FB_REPORT_PLOT_H
#define FB_REPORT_PLOT_H

#include "report/curves.h"
#include "report/group.h"

/* A result with what its pictures need. Borrows the result and dir; the rest is its own. */
struct fb_plot_source {
    const char *dir;
    const struct fb_result *result;
    struct fb_groups groups;
    struct fb_group_curves {
        struct fb_cell_curves *cells;
    } * curves; /* by group; NULL when not loaded */
};

/* Reads the curves (when with_curves) thinned for pictures of that width. */
void fb_plot_source_init(struct fb_plot_source *source, const char *dir,
                         const struct fb_result *result, bool with_curves, unsigned width);
void fb_plot_source_deinit(struct fb_plot_source *source);

#define FB_PLOT_WIDTH_DEFAULT 800U
#define FB_PLOT_WIDTH_MIN 480U
#define FB_PLOT_WIDTH_MAX 4000U
#define FB_PLOT_THRESHOLD_DEFAULT 0.05

struct fb_plot_request {
    const struct fb_plot_source *sources; /* drawn as one result by the kinds over all workloads */
    size_t source_count;
    const struct fb_result *base; /* of "change"; NULL = none */
    const char *base_name;
    enum fb_metric metric; /* FB_METRIC_COUNT: each kind's own */
    double threshold;      /* of "change", relative */
    unsigned width;        /* pixels; of the sketch: columns */
};

/* One picture: its template's data. */
struct fb_picture {
    const char *kind;             /* also the template's name */
    char *name;                   /* of its file, without ending: "rss-kv-cache-growth" */
    char *text;                   /* what it shows, in one sentence, for who cannot see it */
    const struct fb_group *group; /* of a source's, which it may not outlive; NULL: of several */
    struct fb_buf data;
};

struct fb_pictures {
    struct fb_picture *items;
    size_t count;
    char **absent; /* "parts: no attribution data …": why a picture was not drawn */
    size_t absent_count;
};

struct fb_plot_kind {
    const char *name, *help;
    /* When no kind is named: not drawn, where there are data, or only over several workloads. */
    enum { FB_PLOT_NEVER = 0, FB_PLOT_ALWAYS, FB_PLOT_OF_SEVERAL } by_default;
    bool with_curves; /* needs the series */
    void (*make)(const struct fb_plot_request *request, struct fb_pictures *out);
};

extern const struct fb_plot_kind fb_plot_kinds[];
extern const size_t fb_plot_kind_count;
const struct fb_plot_kind *fb_plot_kind_find(const char *name);

void fb_pictures_deinit(struct fb_pictures *pictures);

#endif
