/* Contenders in order of memory, and which of them are on the Pareto front of memory and time.
 *
 * Memory is the peak footprint: the container has to hold it. What cannot be told apart is equal:
 * two peaks whose ensembles overlap or whose medians differ by less than 2 %, two times that differ
 * by less than 5 % (a median of at most three timing runs carries no more).
 */
#ifndef FB_METRICS_RANKING_H
#define FB_METRICS_RANKING_H

#include "metrics/summary.h"

#define FB_RANKING_TIME_SHARE 0.05
/* After the frees little may be left: end footprints this close are no reason to choose. */
#define FB_RANKING_END_BYTES 1048576.0

struct fb_rank {
    const struct fb_cell *cell;
    unsigned rank; /* from 1; equal ones share theirs, the next counts them: 1, 1, 3 */
    bool front;    /* no other is better in one and at least equal in the other; false untimed */
};

struct fb_ranking {
    struct fb_rank *items; /* by rank; owned array */
    size_t count;
    bool timed; /* some have a time that may be compared */
};

/* Ranks what the verdict ranked: the leader of a rank is the smallest peak left, and all that are
 * equal to it share its rank. Within a rank those come first that are equal to the smallest end
 * footprint of all, then the faster (unless verdict->untimed), then the smaller peak. */
void fb_ranking_init(struct fb_ranking *ranking, const struct fb_verdict *verdict);
void fb_ranking_deinit(struct fb_ranking *ranking);

/* The first of the ranking: what to use. NULL when nothing is ranked. */
const struct fb_cell *fb_ranking_best(const struct fb_verdict *verdict);
/* Whether two cells end alike: as in fb_summary_indistinct(), or within FB_RANKING_END_BYTES. */
bool fb_ranking_equal_end(const struct fb_cell *a, const struct fb_cell *b);
/* The fastest on the front; NULL untimed. */
const struct fb_cell *fb_ranking_fastest(const struct fb_ranking *ranking);

/* Whether the cells are a sweep worth a ranking: two or more of one allocator with other tunables,
 * or eight and more contenders. */
bool fb_ranking_worth(const struct fb_cell *cells, size_t count);

#endif
