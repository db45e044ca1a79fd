/* The parts of a page that say where the memory is, who is best, and what changed. */
#ifndef FB_REPORT_HTML_PARTS_H
#define FB_REPORT_HTML_PARTS_H

#include "report/document.h"
#include "report/group.h"

/* Tables and sentences of attribution with their commands; nothing where no cell was explained. */
void fb_html_parts(struct fb_buf *out, const struct fb_group *group);

/* The ranked table and the settings to paste, where the group is worth one. */
void fb_html_ranking(struct fb_buf *out, const struct fb_group *group);

/* The findings of a comparison as tables, then in sentences. document->comparison is true. */
void fb_html_changes(struct fb_buf *out, const struct fb_document *document);

#endif
