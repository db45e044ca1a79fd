/* A file being written under a temporary name in the same folder, renamed when complete.
 *
 * Until fb_draft_commit() a reader sees the earlier file or none. What is no regular file (a pipe,
 * /dev/stdout) is written directly: a rename would replace the device. A symbolic link stays: its
 * target is replaced. Not shared between threads.
 */
#ifndef FB_RESULT_DRAFT_H
#define FB_RESULT_DRAFT_H

#include "base/error.h"

#include <stdio.h>

struct fb_draft {
    FILE *file;      /* write here; errors are kept by stdio and reported by commit */
    char *path;      /* as the person named it, for messages */
    char *target;    /* after symbolic links */
    char *temporary; /* NULL: written directly */
};

int fb_draft_open(struct fb_draft *draft, const char *path, struct fb_error *err) FB_MUST_USE;
/* Closes, renames, frees. On failure (the message names the file) nothing temporary is left. */
int fb_draft_commit(struct fb_draft *draft, struct fb_error *err) FB_MUST_USE;

#endif
