/* malloc that does not return NULL: the harness side's only allocation entry.
 *
 * A harness that cannot get a few kilobytes cannot do anything useful, so these
 * print one line by write(2) and _exit(3). Never used in worker/ or preload/.
 */
#ifndef FB_BASE_ALLOC_H
#define FB_BASE_ALLOC_H

#include <stddef.h>

/* Zeroed memory for count × size bytes; overflow is fatal like exhaustion. Free with free(). */
void *fb_alloc(size_t count, size_t size) __attribute__((malloc, returns_nonnull));
/* Grows an array to count × size bytes; new bytes are not zeroed. */
void *fb_realloc(void *old, size_t count, size_t size) __attribute__((returns_nonnull));
char *fb_strdup(const char *text) __attribute__((malloc, returns_nonnull));
/* printf into a new string. */
char *fb_format(const char *fmt, ...)
    __attribute__((format(printf, 1, 2), malloc, returns_nonnull));

#endif
