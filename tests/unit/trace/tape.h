/* A recording in memory, for the tests of what reads and writes them. */
#ifndef FB_TESTS_UNIT_TRACE_TAPE_H
#define FB_TESTS_UNIT_TRACE_TAPE_H

#include "trace/recording.h"

struct tape {
    struct fb_recording_writer *writer;
    int fd;
};

struct tape tape_begin(void);
/* Ends it where the program did; the file is the caller's to close. */
void tape_end(struct tape *tape);
/* Ends it and opens it for reading. */
struct fb_recording *tape_read(struct tape *tape);

#endif
