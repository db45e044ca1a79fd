/* The command line of `record`. */
#ifndef FB_COMMANDS_RECORD_OPTIONS_H
#define FB_COMMANDS_RECORD_OPTIONS_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct fb_record_options {
    char **command;        /* NULL-terminated, from after "--"; NULL with --from */
    const char *from;      /* an existing recording, or NULL */
    const char *output;    /* the recording, or NULL */
    const char *workload;  /* the workload file to write, or NULL */
    const char *allocator; /* a SPEC, or NULL: what the program has */
    const char *spool;
    uint64_t limit_bytes; /* 0: none */
    uint64_t rate_bytes;  /* a second; 0: as they come */
    unsigned site_frames; /* of a call site; 0: sites are not recorded */
    uint64_t for_ns;      /* 0: to the program's end */
    bool force, all;
    bool fresh_pages; /* of large blocks, so that what is written of them is known exactly */
};

/* Parses; on --help or a bad command line argp prints and ends the process (0 or 2). */
void fb_record_options_parse(int argc, char **argv, struct fb_record_options *out);

#endif
