/* What an ELF file says about malloc, read with libelf and kept by path.
 *
 * A program has hundreds of objects and most processes share them, so each is read once. Not shared
 * between threads.
 */
#ifndef FB_HARNESS_EXEC_BINARY_H
#define FB_HARNESS_EXEC_BINARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Allocators inside an object under names of their own: what they hand out never passes malloc. */
enum fb_inside {
    FB_INSIDE_GO = 0,
    FB_INSIDE_JEMALLOC,
    FB_INSIDE_MIMALLOC,
    FB_INSIDE_TCMALLOC,
    FB_INSIDE_COUNT
};
extern const char *const fb_inside_names[FB_INSIDE_COUNT];

enum { FB_BINARY_SLOTS = 4 };

struct fb_binary {
    char *path;
    bool elf;            /* false: no ELF file, or it cannot be read */
    bool is_64;          /* of this machine's class */
    bool program;        /* executable: has an entry, not a plain library */
    bool dynamic;        /* ld.so loads it */
    bool symbolic;       /* linked -Bsymbolic: finds its own symbols first */
    bool defines_malloc; /* exports it */
    bool hidden_malloc;  /* has one that is not exported */
    unsigned inside;     /* bits of enum fb_inside */
    /* Where the object keeps the address of the malloc and free that it calls, before its load
     * address is added. */
    uint64_t slots[FB_BINARY_SLOTS];
    size_t slot_count;
    char interpreter[128]; /* "/lib64/ld-linux-x86-64.so.2"; "" none */
};

struct fb_binaries {
    struct fb_binary **items;
    size_t count;
};

/* Never NULL; the table's until its deinit. Reads file (a path that reaches it from here, through
 * /proc/PID/root for one in another root) when path is met for the first time. */
const struct fb_binary *fb_binaries_get(struct fb_binaries *objects, const char *path,
                                        const char *file);
void fb_binaries_deinit(struct fb_binaries *objects);

#endif
