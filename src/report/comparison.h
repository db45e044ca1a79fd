/* A comparison as text: what was compared, a table a workload, phase by phase what changed, and in
 * sentences what fails the gate. */
#ifndef FB_REPORT_COMPARISON_H
#define FB_REPORT_COMPARISON_H

#include "base/buf.h"
#include "report/document.h"

struct fb_comparison_style {
    bool color;
    unsigned width; /* of the terminal; 0 = unlimited */
    bool all;       /* also the unchanged values of a long list */
};

/* document->comparison is true. With one set its cells were compared with one another. */
void fb_comparison_render(const struct fb_document *document,
                          const struct fb_comparison_style *style, struct fb_buf *out);

/* What the tables do not say: how many values of each judgement, whether the gate holds, and the
 * sentences. A line of prose each. */
void fb_comparison_prose(const struct fb_document *document, struct fb_buf *out);
/* Whether unchanged values are few enough to be listed. */
bool fb_comparison_lists_all(const struct fb_document *document);

#endif
