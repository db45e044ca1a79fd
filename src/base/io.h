/* Reading a descriptor to its end. */
#ifndef FB_BASE_IO_H
#define FB_BASE_IO_H

#include <stddef.h>
#include <sys/types.h>

/* Reads until the end or until size bytes are there: pipes and /proc answer a read in pieces, and
 * have no size that stat would know. Returns the bytes read, or -1 with errno. */
ssize_t fb_io_read_all(int fd, void *buffer, size_t size);

#endif
