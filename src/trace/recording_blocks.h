/* A recording's bytes down to its blocks: header and checksums. What the blocks hold is the
 * reader's.
 */
#ifndef FB_TRACE_RECORDING_BLOCKS_H
#define FB_TRACE_RECORDING_BLOCKS_H

#include "trace/recording.h"

struct fb_recording_file {
    char *path;
    const unsigned char *data;
    size_t size;
    uint32_t version; /* once checked */
};

/* INPUT: no recording, another version, or a damaged header. */
int fb_recording_file_check(struct fb_recording_file *file, struct fb_error *err) FB_MUST_USE;
/* The block at offset: 1 there, 0 the file ends before its last byte, -1 damage. */
int fb_recording_block_at(const struct fb_recording_file *file, size_t offset, uint32_t sequence,
                          struct fb_recording_block *block, struct fb_error *err) FB_MUST_USE;
/* The error for what is wrong at a byte of the file. Returns -1. */
int fb_recording_damaged(const struct fb_recording_file *file, size_t offset, struct fb_error *err,
                         const char *what);

#endif
