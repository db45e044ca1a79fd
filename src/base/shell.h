/* Words for a POSIX shell. */
#ifndef FB_BASE_SHELL_H
#define FB_BASE_SHELL_H

#include "base/buf.h"

/* Adds text as one word: as it is where it is plain, else in single quotes. An empty text is added
 * as nothing, which is right after "NAME=" only. */
void fb_shell_add(struct fb_buf *line, const char *text);

#endif
