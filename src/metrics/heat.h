/* The heat map's data: address space in groups of pages. */
#ifndef FB_METRICS_HEAT_H
#define FB_METRICS_HEAT_H

#include "metrics/page_map.h"
#include "result/heat.h"

/* Most rows of one map; groups double from one page until they fit. More extents than that get a
 * row each. */
#define FB_HEAT_ROWS_MAX 8192

/* Groups the pages by extent and place in it. Groups without a resident page have no row. */
void fb_heat_init(struct fb_heat *heat, const struct fb_page_map *map,
                  const struct fb_snapshot *snapshot);

#endif
