/* Programs that are linked to an allocator, as redis-server is to jemalloc.
 *
 * Any other allocator is simply preloaded before it. libc's malloc is not: libc comes last in
 * ld.so's order. With libc.so.6 itself preloaded its malloc comes first.
 */
#ifndef FB_HARNESS_EXEC_RELINK_H
#define FB_HARNESS_EXEC_RELINK_H

#include "harness/exec/binary.h"

struct fb_relink {
    char *libc;      /* to preload for libc's malloc to answer; NULL: no need */
    char *linked_to; /* the object that answers otherwise; NULL: libc does */
};

/* Asks the program's ld.so what it would load (ld.so --list), under the LD_LIBRARY_PATH of
 * environment. A script, a static program or one that ld.so refuses needs nothing. */
void fb_relink_find(const char *path, char *const *environment, struct fb_binaries *objects,
                    struct fb_relink *out);
/* The rule on ld.so's text, for tests. */
void fb_relink_parse(const char *list, struct fb_binaries *objects, struct fb_relink *out);
void fb_relink_deinit(struct fb_relink *relink);

#endif
