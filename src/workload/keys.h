/* The language's key table: what the parser accepts, `list keys` prints and the
 * docs show all come from here. */
#ifndef FB_WORKLOAD_KEYS_H
#define FB_WORKLOAD_KEYS_H

#include <stdbool.h>
#include <stddef.h>

struct fb_key {
    const char *where;    /* "top", "object", "phase", "distribution", "grow" … */
    const char *name;     /* "iterations" */
    const char *values;   /* what it takes, for people */
    const char *fallback; /* the default, "" = required or none */
    const char *help;     /* one or two sentences */
    const char *example;  /* a legal YAML line */
};

/* The table, *count rows, grouped by where. */
const struct fb_key *fb_keys(size_t *count);

#endif
