/* Why pairs are not compared, gathered so that one cause is told once and not for every cell. */
#ifndef FB_METRICS_REFUSAL_H
#define FB_METRICS_REFUSAL_H

#include "metrics/matchup.h"

struct fb_refusal {
    char *why;       /* "libc is glibc 2.36 in base and glibc 2.41 in new; …" */
    char *first;     /* the first cell that it concerns */
    unsigned fields; /* 0: not a matter of the key */
    size_t cells;
    bool skip; /* left out as asked for, not refused */
};

struct fb_refusals {
    struct fb_refusal *items;
    size_t count;
    size_t pairs;    /* all that were refused */
    unsigned fields; /* all that stood in the way */
    size_t skipped;  /* pairs that were not compared because nobody wants them to be */
};

/* Adds a pair that is ambiguous or differs in fields beyond `allowed`; returns "not compared: …" as
 * a new string. */
char *fb_refusals_add(struct fb_refusals *refusals, const struct fb_compare_set *sets,
                      const struct fb_matchup *pair, unsigned allowed);
/* Adds a pair that differs in fields beyond `allowed` and is left out for it; returns "jemalloc
 * 5.3.0-1 expected, 5.2.1 found" as a new string. */
char *fb_refusals_skip(struct fb_refusals *refusals, const struct fb_compare_set *sets,
                       const struct fb_matchup *pair, unsigned allowed);
/* One line a cause, with what to do; NULL where there is none. New string. */
char *fb_refusals_text(const struct fb_refusals *refusals);
void fb_refusals_deinit(struct fb_refusals *refusals);

#endif
