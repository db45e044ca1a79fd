/* Contenders: an allocator, its tunables and the library that was found for it. */
#ifndef FB_HARNESS_CONTENDER_H
#define FB_HARNESS_CONTENDER_H

#include "allocators/backends.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct fb_setting {
    char *key, *value;
};

struct fb_contender {
    char *label; /* shown and part of the cell id: "jemalloc:dirty_decay_ms=0", "old" */
    char *spec;  /* as asked, after brace expansion */
    const struct fb_backend *backend; /* NULL for a library by path */
    char *path; /* absolute path of the library to preload, symlinks resolved; NULL: nothing to
                   preload */
    const struct fb_backend *inner; /* of NAME+INNER; NULL: libc's, where one is wrapped */
    char *inner_path;               /* preloaded behind path; NULL: nothing, libc's is wrapped */
    char *version;                  /* "5.3.0-1" (package) or from the library; "" unknown */
    char *sha256;                   /* of the library; "" for libc-null */
    struct fb_setting *tunables;
    size_t tunable_count;
    struct fb_setting
        *env; /* complete: LD_PRELOAD of the allocator excluded; tunables as variables */
    size_t env_count;
    bool available;
    bool unsupported;  /* with available false: it is there, but not for this machine ("wrong ELF
                          class") */
    char *unavailable; /* "not installed (apt-get install libjemalloc2)" */
    bool needs_real_clock;
    char *rejected; /* NULL, or why a tunable is known to be wrong (unknown key, version, ld.so did
                       not take it) */
    struct fb_setting *effective; /* read back before the run (FB_READBACK_LDSO, _VERBOSE) */
    size_t effective_count;
};

struct fb_contenders {
    struct fb_contender *items;
    size_t count;
};

/* values: those of -a in order, each "a,b,c" | SPEC | NAME=/path | /path, with brace expansion;
 * none = the default contenders that are installed plus "not installed" rows for the rest. Looks
 * libraries up, reads version and sha256. Syntax faults and unknown names are INPUT errors with a
 * suggestion; an absent library or a rejected tunable is data. Duplicates are dropped. */
int fb_contenders_resolve(const char *const *values, size_t count, struct fb_contenders *out,
                          struct fb_error *err) FB_MUST_USE;
void fb_contenders_deinit(struct fb_contenders *contenders);

/* Expands {a,b} (cross product, nesting allowed, at most 1000): new array of new strings. */
int fb_brace_expand(const char *text, char ***out, size_t *count, struct fb_error *err) FB_MUST_USE;

/* The first file that exists for the backend, symlinks resolved; NULL when not installed. New
 * string. */
char *fb_backend_locate(const struct fb_backend *backend);

#endif
