/* The sample result (../result/sample.h) as a folder with series and page maps, for pictures. */
#ifndef FB_TESTS_UNIT_REPORT_PLOT_SAMPLE_H
#define FB_TESTS_UNIT_REPORT_PLOT_SAMPLE_H

#include "report/plot.h"

struct plot_sample {
    char *dir; /* a temporary folder */
    struct fb_result result;
    struct fb_plot_source source;
};

/* Makes the folder, with curves of `points` samples over two phases and what comes after the last
 * free. `explained` adds parts and page maps. */
void plot_sample_init(struct plot_sample *sample, unsigned points, bool explained);
/* Removes the folder. */
void plot_sample_deinit(struct plot_sample *sample);
/* The workload of all cells is called `name` from now on (the source is made anew). */
void plot_sample_rename(struct plot_sample *sample, const char *name);
/* A cell's contender is called `name` from now on. */
void plot_sample_rename_contender(struct plot_sample *sample, size_t cell, const char *name);
/* A request for the sample alone. */
struct fb_plot_request plot_sample_request(const struct plot_sample *sample);
/* The pictures of one kind. */
struct fb_pictures plot_sample_make(const struct fb_plot_request *request, const char *kind);

#endif
