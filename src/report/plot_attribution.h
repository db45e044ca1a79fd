/* What attribution left in a result, for pictures: the parts of a footprint, and the page maps in
 * heat/. */
#ifndef FB_REPORT_PLOT_ATTRIBUTION_H
#define FB_REPORT_PLOT_ATTRIBUTION_H

#include "report/plot.h"

/* As in result/attribution.h, in the order of a bar, with one for free pages that were not split.
 */
enum fb_plot_part {
    FB_PLOT_PART_LIVE = 0,
    FB_PLOT_PART_ROUNDING,
    FB_PLOT_PART_HOLES,
    FB_PLOT_PART_CACHED,
    FB_PLOT_PART_STUCK,
    FB_PLOT_PART_FREE, /* cached and stuck together, where no purge told them apart */
    FB_PLOT_PART_STARTUP,
    FB_PLOT_PART_BASE,
    FB_PLOT_PART_COUNT
};

/* At which moments a picture shows them. */
enum fb_plot_moment { FB_PLOT_AT_PEAK = 0, FB_PLOT_AT_END, FB_PLOT_MOMENT_COUNT };

/* One explained checkpoint of a cell. Strings are the result's. */
struct fb_plot_parts {
    double bytes[FB_PLOT_PART_COUNT]; /* ≥ 0; 0 where the part is not given */
    double total_bytes;               /* their sum */
    enum fb_plot_moment moment;
    const char *phase; /* that it lies in; "" before the first */
    const char *heat;  /* file in the result folder; NULL = none */
};

/* The parts of a cell that is done at its peak of live bytes or at the end of its last phase; false
 * where that was not looked at. */
bool fb_plot_parts_find(const struct fb_cell *cell, enum fb_plot_moment moment,
                        struct fb_plot_parts *out);

/* A page map: groups of pages by mapping and place, only those with a resident page. */
struct fb_plot_heat_group {
    uint64_t mapping, offset_bytes, group_bytes;
    double resident_pages, own_pages; /* own: of start-up and of the worker, never anyone's data */
    double live_bytes;
};
struct fb_plot_heat {
    struct fb_plot_heat_group *groups; /* owned */
    size_t count;
};

/* Reads DIR/FILE. On a fault (*why is then a new string that names the file) returns −1. */
int fb_plot_heat_read(const char *dir, const char *file, struct fb_plot_heat *out, char **why);
void fb_plot_heat_deinit(struct fb_plot_heat *heat);
/* Joins groups until none is smaller than group_bytes. */
void fb_plot_heat_join(struct fb_plot_heat *heat, uint64_t group_bytes);

#endif
