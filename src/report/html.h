/* The report: one HTML file without a network, readable without its script.
 *
 * Every text of a result or a workload may come from a stranger and is escaped; pictures are SVG
 * that this program has just had drawn, and are put in as they are, but for their ids. The page is
 * the same, byte for byte, for the same input.
 */
#ifndef FB_REPORT_HTML_H
#define FB_REPORT_HTML_H

#include "base/buf.h"
#include "report/document.h"

#define FB_HTML_WHOLE SIZE_MAX         /* a picture of the whole set */
#define FB_HTML_CHANGE (SIZE_MAX - 1U) /* a picture of what changed against the first set */

struct fb_html_picture {
    size_t set;          /* index into the document's sets */
    size_t group;        /* workload of the set, in the order of fb_groups_init(); or FB_HTML_… */
    const char *title;   /* "RSS over time" */
    const char *alt;     /* what a reader who cannot see it is told */
    const char *caption; /* what is drawn, and how to read it */
    const char *svg;     /* a whole SVG file; NULL: not drawn */
    const char *reason;  /* why not */
};

/* The text of a workload file as it was run. */
struct fb_html_workload {
    const char *name;
    const char *text; /* NULL: not kept with the result */
};

struct fb_html_extra {
    const struct fb_html_picture *pictures;
    size_t picture_count;
    const struct fb_html_workload *workloads;
    size_t workload_count;
    const char *const
        *folders; /* a set each: its result folder, relative to the page; NULL: no links */
    const char *comparison; /* as `compare` prints it: the document's findings are of the sets, not
                               of their limits; NULL: none was made */
    const char *refusals;   /* why cells of the sets were not compared, in lines; NULL: all were */
};

void fb_html_render(const struct fb_document *document, const struct fb_html_extra *extra,
                    struct fb_buf *out);

#endif
