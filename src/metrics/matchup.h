/* Which cell of a result set is set against which of the base.
 *
 * Cells are paired by workload, contender and varied parameters, less what --by names. Everything
 * else of the comparison key (match.h) must be equal, or named by --by.
 */
#ifndef FB_METRICS_MATCHUP_H
#define FB_METRICS_MATCHUP_H

#include "metrics/match.h"

#include <stdbool.h>

struct fb_compare_set {
    const char *label;
    const struct fb_result *result;
};

struct fb_matchup {
    size_t set;                 /* that `cell` is of; of a missing one the set that lacks it */
    const struct fb_cell *base; /* NULL: new */
    const struct fb_cell *cell; /* NULL: missing */
    bool ambiguous;             /* several cells of the base could be meant; base is the first */
    unsigned differing;         /* fields of the key that differ */
};

struct fb_matchups {
    struct fb_matchup *items;
    size_t count;
};

struct fb_matchup_rule {
    unsigned by;      /* fields that are meant to differ, as named; not closed */
    const char *base; /* the contender or parameters ("count=100") that is the base; NULL = chosen:
                         the same one, the only one, or within one set the first */
};

/* Pairs every later set with the first; one set alone with itself: then cells that are the same but
 * for `by` form groups, and each group's base stands against the others. In the order of the base's
 * cells, then the new ones. */
void fb_matchups_init(struct fb_matchups *pairs, const struct fb_compare_set *sets,
                      size_t set_count, const struct fb_matchup_rule *pairing);
void fb_matchups_deinit(struct fb_matchups *pairs);

/* Whether a cell is the one that pairing->base names. */
bool fb_matchup_is_base(const struct fb_cell *cell, const char *base);

#endif
