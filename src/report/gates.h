/* What the gates of a run say, below its table. */
#ifndef FB_REPORT_GATES_H
#define FB_REPORT_GATES_H

#include "base/buf.h"
#include "metrics/finding.h"

/* How many limits are kept; each that is not with where, when and what to do next; each that could
 * not be judged. Nothing where there are no findings. */
void fb_gates_render(const struct fb_findings *findings, bool color, struct fb_buf *out);
/* A run's as a GitHub section, and a comparison's: how many of each verdict, then what gates. */
void fb_gates_markdown(const struct fb_findings *findings, struct fb_buf *out);
void fb_gates_markdown_comparison(const struct fb_findings *findings, struct fb_buf *out);

#endif
