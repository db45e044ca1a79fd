/* The ranked table that a sweep ends with, and the settings to paste. */
#ifndef FB_REPORT_RANKING_H
#define FB_REPORT_RANKING_H

#include "report/grid.h"
#include "report/verdict.h"

/* Whether the group is worth a ranking, and anything in it can be ranked. */
bool fb_ranking_wanted(const struct fb_group *group);

/* Rank, contender, peak with its range, kept, end, time; a * for the Pareto front. Of a wide sweep
 * the first ones and all of the front. The grid is the caller's to deinit. */
void fb_ranking_grid(const struct fb_group *group, struct fb_grid *grid);

/* What the ranks go by, who is not ranked, and for the best at the peak, at the end and (timed) the
 * fastest on the front: the -a SPEC that names it and the environment to set. */
void fb_ranking_sentences(const struct fb_group *group, const struct fb_verdict_style *style,
                          struct fb_buf *out);

#endif
