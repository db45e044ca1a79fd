/* gnuplot's SVG made small, for a page that holds many. */
#ifndef FB_REPORT_SVG_H
#define FB_REPORT_SVG_H

#include "base/buf.h"

/* The same picture in fewer bytes: groups without content, shapes that are not used, attributes
 * that say what holds anyway and white space between tags are left out; corners of paths and
 * polygons are rounded to a tenth of a pixel, and a line straight across or down has one
 * coordinate. `out` is initialised. What is not gnuplot's is copied as it is. */
void fb_svg_compact(const char *svg, struct fb_buf *out);

#endif
