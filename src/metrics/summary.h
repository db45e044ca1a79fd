/* Statistics over repetitions and the ranking of contenders. */
#ifndef FB_METRICS_SUMMARY_H
#define FB_METRICS_SUMMARY_H

#include "result/record.h"

/* Median, minimum, maximum of the non-NaN values (median of an even n: mean of the middle two). */
struct fb_summary fb_summarize(const double *values, size_t count);

/* Whether two ensembles decide nothing between them: ranges overlap, or medians differ by less
 * than 2 % of the smaller. False when either is empty. */
bool fb_summary_indistinct(const struct fb_summary *a, const struct fb_summary *b);

/* Fills cell->summary, status and status_detail (the worst repetition's) from repetitions and
 * timing. */
void fb_summarize_cell(struct fb_cell *cell);

/* The verdict over cells of one workload and parameter set. Only cells that did
 * equal work (status ok) are ranked; null never is. */
struct fb_verdict {
    const struct fb_cell **ranked; /* by median peak footprint, then kept bytes; owned array */
    size_t ranked_count;
    const struct fb_cell **refused; /* done, but refused work */
    size_t refused_count;
    const struct fb_cell *least_peak; /* NULL when nothing is ranked */
    const struct fb_cell *least_end;  /* smallest end footprint */
    const struct fb_cell *fastest;    /* smallest ns_per_op; NULL without timing */
    bool indistinct_peak; /* the ensembles of the first two overlap or differ under 2 % */
    bool untimed;         /* set by who knows that the times are not to be compared */
};

void fb_verdict_init(struct fb_verdict *verdict, const struct fb_cell *cells, size_t count);
void fb_verdict_deinit(struct fb_verdict *verdict);

#endif
