/* Documents from results and what was judged, one table of formats. */
#ifndef FB_REPORT_EXPORT_H
#define FB_REPORT_EXPORT_H

#include "base/buf.h"
#include "report/document.h"

struct fb_export {
    const char *name;
    const char *help;
    void (*render)(const struct fb_document *document, struct fb_buf *out);
};

extern const struct fb_export fb_exports[];
extern const size_t fb_export_count;
const struct fb_export *fb_export_find(const char *name);

#endif
