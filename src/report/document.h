/* What an export is made of: one result set, or several that were compared, and what was judged.
 * All of it is borrowed. */
#ifndef FB_REPORT_DOCUMENT_H
#define FB_REPORT_DOCUMENT_H

#include "metrics/finding.h"
#include "result/record.h"

struct fb_document_set {
    const char *label;  /* "base", "new", or what the command line called it; "" of a plain run */
    const char *folder; /* where it was read from or is written to; NULL = nowhere */
    const struct fb_result *result;
};

struct fb_document {
    const struct fb_document_set *sets; /* ≥ 1; of a comparison the first is the base */
    size_t set_count;
    bool comparison; /* made by compare: the findings are the subject, not the cells */
    const struct fb_findings *findings; /* never NULL; may be empty */
};

#endif
