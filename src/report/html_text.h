/* Texts and pictures on their way into a page. */
#ifndef FB_REPORT_HTML_TEXT_H
#define FB_REPORT_HTML_TEXT_H

#include "base/buf.h"

#include <stddef.h>

/* Text for an element or a quoted attribute: markup escaped; control characters but the line feed
 * become spaces, and what is no UTF-8 becomes U+FFFD. */
void fb_html_text(struct fb_buf *out, const char *text);

/* Lines of prose as paragraphs; a line that starts with FB_HTML_COMMAND is set as a command. */
#define FB_HTML_COMMAND "\002"
void fb_html_prose(struct fb_buf *out, const char *text);

/* An SVG file as an element of the page: what stands before <svg is left out, and every id and
 * reference to one gets the prefix, so that several pictures share a page. */
void fb_html_svg(struct fb_buf *out, const char *svg, const char *prefix);

/* RFC 4648, for data: links. */
void fb_html_base64(struct fb_buf *out, const void *data, size_t size);

#endif
