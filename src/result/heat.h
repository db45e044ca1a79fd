/* heat/<cell>.<checkpoint>.csv: a footprint by address, one row a group of pages. */
#ifndef FB_RESULT_HEAT_H
#define FB_RESULT_HEAT_H

#include "base/error.h"
#include "result/record.h"
#include "result/snapshot.h"

struct fb_heat_row {
    size_t extent;         /* number of the mapping, from 0, by address */
    uint64_t offset_pages; /* of the group from the mapping's start: no addresses */
    enum fb_extent_kind kind;
    uint64_t resident_pages; /* the sum of the kinds below */
    uint64_t occupied_pages, free_pages, cached_pages, stuck_pages, startup_pages, base_pages;
    uint64_t live_bytes, rounding_bytes;
};

struct fb_heat {
    struct fb_heat_row *rows; /* owned */
    size_t count;
    uint64_t page_bytes, group_pages;
};

void fb_heat_deinit(struct fb_heat *heat);

/* Writes the map of a checkpoint, named by its kind and, of a phase's end, by the phase's number;
 * returns its path relative to dir, a new string, or NULL with an IO error. */
char *fb_store_write_heat(const char *dir, const struct fb_cell *cell,
                          const struct fb_checkpoint *checkpoint, const struct fb_heat *heat,
                          struct fb_error *err) FB_MUST_USE;

#endif
