/* Fewer points for a curve of a thousand pixels, without losing a peak. */
#ifndef FB_REPORT_THIN_H
#define FB_REPORT_THIN_H

#include <stddef.h>

/* A curve of steps: y[i] holds from x[i] to x[i + 1]; NaN is a gap. x never falls. Owned arrays. */
struct fb_curve {
    double *x, *y;
    size_t count;
};

void fb_curve_add(struct fb_curve *curve, double x, double y);
void fb_curve_deinit(struct fb_curve *curve);

/* The most points kept of a column: its lowest and highest value, a gap in it, and its first and
 * last where the column before or after is empty. */
#define FB_THIN_PER_COLUMN 5

/* Splits the range of x into `columns` of equal width and keeps of each at most
 * FB_THIN_PER_COLUMN points, so the highest and the lowest value survive, at their own x, and so
 * does what is held across empty columns. Points that repeat the value before them are left out
 * first, but for the last of all. Never more than columns × FB_THIN_PER_COLUMN points. */
void fb_curve_thin(struct fb_curve *curve, size_t columns);

#endif
