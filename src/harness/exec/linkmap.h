/* A process's objects in the order in which ld.so looks for symbols, as a debugger reads them: from
 * the auxiliary vector to the program's dynamic section, to ld.so's list (link.h's r_debug).
 *
 * Reading another process's memory needs the permission to trace it; one's own child of the same
 * user is allowed, a setuid program is not, unless one is root. That it is one shows in the user
 * numbers of its status, which everybody may read.
 */
#ifndef FB_HARNESS_EXEC_LINKMAP_H
#define FB_HARNESS_EXEC_LINKMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { FB_LINKMAP_MAX = 2048 };

enum fb_linkmap_kind {
    FB_LINKMAP_COMPLETE = 0,
    FB_LINKMAP_EARLY,      /* ld.so has not got that far */
    FB_LINKMAP_STATIC,     /* no ld.so takes part */
    FB_LINKMAP_SECURE,     /* ld.so runs in secure mode: it drops LD_PRELOAD */
    FB_LINKMAP_FOREIGN,    /* of another word size */
    FB_LINKMAP_UNREADABLE, /* not allowed */
    FB_LINKMAP_GONE,
};

struct fb_linkmap_object {
    char *path; /* the executable's own for the first */
    uint64_t base;
};

struct fb_linkmap {
    enum fb_linkmap_kind kind;
    struct fb_linkmap_object *objects;
    size_t count;
};

/* 64-bit programs of this machine. Never blocks, stops nobody. */
void fb_linkmap_read(pid_t pid, struct fb_linkmap *out);
void fb_linkmap_deinit(struct fb_linkmap *map);

/* Reads size bytes at address of the process: 0/-1. */
int fb_linkmap_peek(pid_t pid, uint64_t address, void *out, size_t size);

#endif
