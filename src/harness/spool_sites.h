/* The call sites of one recorded image: what the recorder wrote of them, and their frames in words
 * once it has ended.
 */
#ifndef FB_HARNESS_SPOOL_SITES_H
#define FB_HARNESS_SPOOL_SITES_H

#include "trace/recording.h"
#include "trace/spool.h"

#include <stddef.h>
#include <stdint.h>

struct fb_spool_module;
struct fb_spool_site;

/* Zero-initialised is empty. */
struct fb_spool_sites {
    struct fb_spool_module *modules; /* in the order they were met */
    size_t module_count;
    struct fb_spool_site *sites; /* by number - 1 */
    uint32_t count;
};

/* A loaded object. path: so many words of text from the spool; what has no end is taken for "". */
void fb_spool_sites_module(struct fb_spool_sites *sites, const uint64_t *record,
                           unsigned path_words);
/* The return addresses of a site, the innermost first, in objects that were met before. Numbers
 * out of their range are left out. */
void fb_spool_sites_frames(struct fb_spool_sites *sites, uint64_t number, const uint64_t *frames,
                           unsigned count);
/* Names all frames and writes them. */
void fb_spool_sites_write(const struct fb_spool_sites *sites, struct fb_recording_writer *writer);
void fb_spool_sites_deinit(struct fb_spool_sites *sites);

#endif
