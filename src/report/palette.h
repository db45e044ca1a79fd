/* The colour and the dash of every contender, in one table.
 *
 * Colours have a contrast of at least 3:1 on white and stay apart for people who see few colours;
 * the dashes keep lines apart in print. A contender looks the same in every picture; only where two
 * of one picture would look alike, the later one moves on to the next dash.
 */
#ifndef FB_REPORT_PALETTE_H
#define FB_REPORT_PALETTE_H

#include "result/record.h"

#define FB_DASH_PARTS 4

struct fb_stroke {
    unsigned colour;                   /* 0xRRGGBB */
    unsigned char dash[FB_DASH_PARTS]; /* drawn, left out, drawn, left out; all 0 = solid */
};

/* One row a known contender; the last has no name. */
struct fb_palette_row {
    const char *name; /* as in the table of allocators */
    struct fb_stroke stroke;
};
extern const struct fb_palette_row fb_palette[];

/* The strokes of the cells of one picture, in their order. A contender of the table has its row's;
 * one with tunables its allocator's colour and a dash after its label; any other a colour and a
 * dash after its label. */
void fb_palette_assign(const struct fb_cell *cells, size_t count, struct fb_stroke *out);

#endif
