/* Where every resident byte went: pure functions of one snapshot. */
#ifndef FB_METRICS_ATTRIBUTION_H
#define FB_METRICS_ATTRIBUTION_H

#include "metrics/page_map.h"
#include "result/attribution.h"

/* Sums the map's pages to parts, hostages and holders. New, for fb_attribution_free(). The parts
 * sum to the bytes of all pages; mismatch_bytes is what the kernel's own count has beyond. */
struct fb_attribution *fb_attribution_new(const struct fb_page_map *map,
                                          const struct fb_snapshot *snapshot);

/* Gives the first run's account what the second one, of the same trace and purged, found out: the
 * split and the allocator's counters. Where the two do not tell the same parts before the purge,
 * the second one's account takes the place of all (is_second_run). `second` is used up; *first may
 * be NULL. */
void fb_attribution_merge(struct fb_attribution **first, struct fb_attribution *second);

#endif
