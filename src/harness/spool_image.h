/* One process image's part of the spool, turned into a recording: the records of all its threads
 * brought into the order of their tickets, addresses into object numbers.
 *
 * Tickets are dense, so the next one is known; while its record is not there yet the others wait.
 * Once the process has ended, tickets that were taken and never written are passed over. The
 * program may have written over the buffers: whatever is in them is checked, and what makes no
 * sense ends that recording.
 */
#ifndef FB_HARNESS_SPOOL_IMAGE_H
#define FB_HARNESS_SPOOL_IMAGE_H

#include "base/map.h"
#include "harness/spool_memory.h"
#include "harness/spool_sites.h"
#include "trace/recording.h"
#include "trace/spool.h"

#include <sys/types.h>

struct fb_spool_cursor;

/* A chunk that waits for its turn in its thread's sequence. */
struct fb_spool_piece {
    struct fb_spool_chunk *chunk;
    const uint64_t *words;
    bool *known; /* in its segment's table */
};

struct fb_spool_mapping {
    struct fb_spool_segment *segment;
    bool known[FB_SPOOL_CHUNKS]; /* the chunk belongs to a cursor or is a piece that waits */
};

struct fb_spool_image {
    pid_t pid, parent_pid;
    uint64_t start_ns;
    char program[64], allocator[64];
    struct fb_spool_mapping **mappings;
    size_t mapping_count;
    struct fb_spool_piece *waiting;
    size_t waiting_count, waiting_capacity;
    struct fb_spool_cursor *cursors;
    size_t cursor_count, cursor_capacity;
    size_t last;           /* the cursor that had the last ticket */
    uint64_t ticket;       /* the last one */
    struct fb_map objects; /* address → object */
    struct fb_spool_memory memory;
    struct fb_spool_sites sites;
    struct fb_recording_totals totals; /* what the writer does not count */
    bool damaged;
    bool ended; /* its recording is closed */

    int fd;
    char *path;
    struct fb_recording_writer *writer;
    uint64_t bytes, events; /* of the closed recording */
    uint64_t volume_bytes;  /* allocated: the image with most is the one that was meant */
};

/* Takes the mapped segment over. */
void fb_spool_image_add(struct fb_spool_image *image, struct fb_spool_segment *segment);
/* Reads what is there, at most some millions of words. final: the process writes no more, so read
 * all. *progress is set when there was something. -1: the recording could not be written (IO). */
int fb_spool_image_read(struct fb_spool_image *image, bool final, bool *progress,
                        struct fb_error *err) FB_MUST_USE;
/* Looks at the process's memory, if it is time to. */
void fb_spool_image_look(struct fb_spool_image *image);
/* Ends the recording; unmaps all. Harmless when ended. */
int fb_spool_image_end(struct fb_spool_image *image, enum fb_recording_reason reason,
                       struct fb_error *err) FB_MUST_USE;
/* Tells the recorder to record no more. */
void fb_spool_image_stop(struct fb_spool_image *image);
/* Frees all, without an end where there is none yet. */
void fb_spool_image_deinit(struct fb_spool_image *image);

#endif
