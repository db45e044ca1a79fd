/* The tables of a comparison: the findings of one workload, and a pair's phases. */
#ifndef FB_REPORT_COMPARISON_TABLE_H
#define FB_REPORT_COMPARISON_TABLE_H

#include "report/comparison.h"
#include "report/grid.h"

/* Findings that stand in one table; borrowed. */
struct fb_comparison_block {
    const struct fb_finding **items; /* owned array */
    size_t count;
};

struct fb_comparison_blocks {
    struct fb_comparison_block *items; /* in the order of their first findings */
    size_t count;
};

/* One block a workload with its varied parameters and set; within one set, one a base. */
void fb_comparison_blocks_init(struct fb_comparison_blocks *blocks,
                               const struct fb_document *document);
void fb_comparison_blocks_deinit(struct fb_comparison_blocks *blocks);

/* Adds heading, rows and, under them, the phases of pairs that changed. */
void fb_comparison_block_add(const struct fb_document *document,
                             const struct fb_comparison_block *block,
                             const struct fb_comparison_style *style, struct fb_buf *out);

/* "kv-cache-growth (sequences=256)". */
void fb_comparison_block_title(const struct fb_document *document,
                               const struct fb_comparison_block *block, struct fb_buf *out);
/* A row a finding; with `all` also the unchanged ones, whose number is returned otherwise. With
 * `names` every row has its contender, else only the first of each. The grid, which may have no
 * rows, is the caller's to deinit. */
size_t fb_comparison_block_grid(const struct fb_document *document,
                                const struct fb_comparison_block *block, bool all, bool names,
                                struct fb_grid *grid);

/* How a judgement is coloured. */
enum fb_grid_tone fb_comparison_tone(const struct fb_finding *finding);

#endif
