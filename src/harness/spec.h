/* The grammar of -a: text into allocators with settings. Knows the backend table, no files.
 *
 *     a,b,c                      plain names, aliases or "all"
 *     NAME:key=value[,key=value] one allocator with tunables
 *     NAME[:…]+INNER             one of ours that wraps another one by name
 *     LABEL=/path/lib.so         a library, named
 *     /path/lib.so               a library, named after its file
 *
 * A library is told by the slash in it. Braces are expanded before anything else.
 */
#ifndef FB_HARNESS_SPEC_H
#define FB_HARNESS_SPEC_H

#include "harness/contender.h"

struct fb_spec {
    char *text;                       /* as asked, after brace expansion */
    char *label;                      /* "jemalloc:dirty_decay_ms=0", "old" */
    const struct fb_backend *backend; /* NULL: path */
    const struct fb_backend *inner;   /* NULL: libc's, or the backend wraps none */
    char *path;                       /* as given; NULL: backend */
    struct fb_setting *settings;
    size_t setting_count;
};

struct fb_specs {
    struct fb_spec *items;
    size_t count;
};

/* Parses the values in order, drops repeated specs. Syntax faults, unknown names and one label for
 * two different specs are INPUT errors; *out is untouched then. No values: the default backends. */
int fb_specs_parse(const char *const *values, size_t count, struct fb_specs *out,
                   struct fb_error *err) FB_MUST_USE;
void fb_specs_deinit(struct fb_specs *specs);

void fb_settings_free(struct fb_setting *settings, size_t count);
/* Appends copies of key and value. */
void fb_settings_add(struct fb_setting **settings, size_t *count, const char *key,
                     const char *value);

#endif
