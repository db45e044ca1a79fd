/* The renderers behind export.c's table, one file each. */
#ifndef FB_REPORT_FORMATS_H
#define FB_REPORT_FORMATS_H

#include "base/buf.h"
#include "report/document.h"

#include <jansson.h>

void fb_format_csv(const struct fb_document *document, struct fb_buf *out);
void fb_format_json(const struct fb_document *document, struct fb_buf *out);
void fb_format_markdown(const struct fb_document *document, struct fb_buf *out);
void fb_format_junit(const struct fb_document *document, struct fb_buf *out);
void fb_format_github(const struct fb_document *document, struct fb_buf *out);
void fb_format_github_summary(const struct fb_document *document, struct fb_buf *out);
void fb_format_gitlab(const struct fb_document *document, struct fb_buf *out);
void fb_format_openmetrics(const struct fb_document *document, struct fb_buf *out);
void fb_format_benchmark_action(const struct fb_document *document, struct fb_buf *out);

/* The comparison's form of csv and markdown. */
void fb_format_csv_findings(const struct fb_document *document, struct fb_buf *out);
void fb_format_markdown_findings(const struct fb_document *document, struct fb_buf *out);

/* Adds a text field that no spreadsheet takes for a formula; no separator. */
void fb_format_csv_text(struct fb_buf *out, const char *text);
/* A JSON string of plain text on one line (plain.h). */
json_t *fb_format_plain(const char *text);
/* Adds the document as JSON with a line end, and frees it. */
void fb_format_dump(json_t *document, struct fb_buf *out);

#endif
