/* The bytes of a workload file before YAML sees them: is it text at all, and where
 * is line N.
 *
 * Columns are characters (code points), lines end where libyaml's do: \n, \r, \r\n,
 * U+0085, U+2028 and U+2029. Nothing here allocates but fb_text_accept().
 */
#ifndef FB_WORKLOAD_TEXT_H
#define FB_WORKLOAD_TEXT_H

#include "workload/diagnostic.h"

#include <stdbool.h>
#include <stddef.h>

#define FB_TEXT_MAX_BYTES ((size_t)1 << 20)

/* Checks size, UTF-8 and control characters and keeps a copy in diagnostics->source (without a
 * byte order mark). On failure one fault is added and source is NULL. */
bool fb_text_accept(const char *text, size_t size, struct fb_diagnostics *diagnostics);

/* Line number `line` (from 1) without its end; NULL when there is none. */
const char *fb_text_line(const char *text, size_t size, size_t line, size_t *length_bytes);
/* Code points in size bytes of UTF-8. */
size_t fb_text_characters(const char *text, size_t size);
/* The byte at which character number `character` (from 0) begins; size when there are fewer. */
size_t fb_text_offset(const char *text, size_t size, size_t character);
bool fb_text_is_continuation(char byte);

#endif
