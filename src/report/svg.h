/* gnuplot's SVG made small, for a page that holds many. */
#ifndef FB_REPORT_SVG_H
#define FB_REPORT_SVG_H

#include "base/buf.h"

/* The same picture in fewer bytes: groups without content are left out, coordinates of paths are
 * rounded to a tenth of a pixel, and a line straight across or down has one of them. `out` is
 * initialised. What is not gnuplot's is copied as it is. */
void fb_svg_compact(const char *svg, struct fb_buf *out);

#endif
