/* Looks at a stopped worker: its anonymous pages, its mappings, its objects.
 *
 * Pages come from the PAGEMAP_SCAN ioctl (Linux 6.7), which names runs of pages and knows the
 * shared page of zeros, or from reading pagemap, 8 bytes a page. Neither needs a privilege for a
 * child of ours. Memory that is handed out belongs to the caller.
 */
#ifndef FB_HARNESS_SNAPSHOT_H
#define FB_HARNESS_SNAPSHOT_H

#include "base/error.h"
#include "result/snapshot.h"
#include "trace/format.h"
#include "trace/shared.h"

#include <sys/types.h>

enum fb_page_source {
    FB_PAGES_BEST = 0, /* the ioctl where the kernel has it */
    FB_PAGES_IOCTL,
    FB_PAGES_PAGEMAP,
};

/* All pages of pid that its footprint counts: private ones that were written, swapped or not. Pages
 * of hugetlbfs are not counted in RSS and left out. IOCTL on a kernel without it: IO error. */
int fb_snapshot_pages(pid_t pid, enum fb_page_source source, struct fb_page_runs *out,
                      struct fb_error *err) FB_MUST_USE;

/* The private mappings by kind, neighbours of one kind joined, cut where ranges of data begin and
 * end. */
int fb_snapshot_extents(pid_t pid, const struct fb_data_range *ranges, size_t range_count,
                        struct fb_extent **out, size_t *count, struct fb_error *err) FB_MUST_USE;

/* The objects of a shared block as a table; details may be NULL. */
struct fb_object_table {
    const struct fb_object *objects;
    const struct fb_object_detail *details;
};
/* `table` must outlive what is returned. */
struct fb_block_table fb_snapshot_blocks(const struct fb_object_table *table, size_t count);

/* A snapshot with all that it borrows. */
struct fb_sight {
    struct fb_snapshot snapshot;
    struct fb_page_runs pages, after;
    struct fb_object_table objects;
    struct fb_extent *extents;
    const char **class_names;
};
/* NULL is fine. */
void fb_sight_free(struct fb_sight *sight);

#endif
