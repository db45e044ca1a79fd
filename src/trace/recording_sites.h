/* The frames of a recording's call sites, in memory and as the content of SITES blocks: each site's
 * frames as lines, the innermost first, and an empty line behind them.
 */
#ifndef FB_TRACE_RECORDING_SITES_H
#define FB_TRACE_RECORDING_SITES_H

#include <stddef.h>
#include <stdint.h>

/* Zero-initialised is empty. */
struct fb_recording_sites {
    char *text; /* every site's lines, ended by a zero byte */
    size_t length, capacity;
    size_t *begins; /* in text, by number - 1 */
    uint32_t count, begins_capacity;
};

/* Adds the sites of a block's content. NULL, or what is wrong with it. */
const char *fb_recording_sites_add(struct fb_recording_sites *sites, const unsigned char *content,
                                   size_t size, uint32_t count);
/* "" for numbers that are not there. */
const char *fb_recording_sites_get(const struct fb_recording_sites *sites, uint32_t site);
void fb_recording_sites_deinit(struct fb_recording_sites *sites);

/* Appends one site's part of a block's content to *content, which grows as it must. */
void fb_recording_sites_put(const char *frames, unsigned char **content, size_t *length,
                            size_t *capacity);

#endif
