/* When a program is ready for work: it listens on a port, or has printed a line. */
#ifndef FB_HARNESS_EXEC_READY_H
#define FB_HARNESS_EXEC_READY_H

#include "harness/exec/family.h"

#include <regex.h>
#include <stdbool.h>
#include <stdint.h>

/* Calls back with the inode of each socket that listens on the TCP port, in the text of
 * /proc/PID/net/tcp or tcp6. Returns how many there are. */
size_t fb_ready_listeners(const char *text, unsigned port, uint64_t *inodes, size_t room);

/* Whether a process of the tree listens on the port. Only looked up in /proc: nothing connects, so
 * a server that counts or logs its clients sees none. *stranger: somebody else listens there. */
bool fb_ready_port(const struct fb_family *family, unsigned port, bool *stranger);

/* Reads on in a growing log and looks for a line that matches. */
struct fb_ready_log {
    int fd; /* readable, borrowed */
    uint64_t offset;
    char line[4096]; /* the part of a line that has come so far; longer ones are cut */
    size_t length;
};
bool fb_ready_line(struct fb_ready_log *log, const regex_t *wanted);

#endif
