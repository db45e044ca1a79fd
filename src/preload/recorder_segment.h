/* The spool as the recorded program sees it: segments it makes, chunks its threads claim.
 *
 * No file stays open: a program that closes all descriptors would take it along, or get our number
 * for a file of its own. Nothing here allocates.
 */
#ifndef FB_PRELOAD_RECORDER_SEGMENT_H
#define FB_PRELOAD_RECORDER_SEGMENT_H

#include "trace/spool.h"

#include <stdbool.h>

#define FB_SEGMENTS_MAX 256U /* × FB_SPOOL_CHUNKS threads at once */

struct fb_segments {
    _Atomic uint32_t count;
    atomic_flag lock;
    uint64_t start_ns;
    struct fb_spool_segment *_Atomic at[FB_SEGMENTS_MAX];
};

/* Whether fragbench asked for a recording (FB_SPOOL_VARIABLE). */
bool fb_segments_wanted(void);
/* Makes the process's first segment, in a zeroed struct. false, said once on stderr: this process
 * is not recorded. */
bool fb_segments_open(struct fb_segments *segments);
/* A chunk for the thread, and where its words are. Waits while fragbench has too much to read.
 * NULL: the recording ends here (said, when fragbench did not ask for it). */
struct fb_spool_chunk *fb_segments_claim(struct fb_segments *segments, uint32_t thread,
                                         uint64_t sequence, uint64_t **words);
/* The owner will write no more into it. */
void fb_segments_release(struct fb_spool_chunk *chunk);
/* One line on stderr, by write(2), once a process. */
void fb_segments_say(const char *text);

#endif
