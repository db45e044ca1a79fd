/* A comparison with all that a reader is told of it, as `compare` and `report` make it. */
#ifndef FB_COMMANDS_COMPARING_H
#define FB_COMMANDS_COMPARING_H

#include "metrics/compare.h"
#include "report/document.h"

/* Compares the sets with the first (one alone within itself), finds out where the changes are, and
 * judges the limits of the sets that are not the base. To be released by
 * fb_comparison_deinit(), before the results. */
void fb_comparing_judge(const struct fb_document_set *sets, size_t count,
                        const struct fb_compare_options *rules, struct fb_comparison *out);

#endif
