/* The allocators fragbench knows: a const table one can read.
 *
 * Pure data and lookups: no errors, no allocation, no I/O, no src/ header. How a
 * person adds one is in allocators/README.md. Whether a library is installed and
 * which version it is, is harness/contender.h's business.
 */
#ifndef ALLOCATORS_BACKENDS_H
#define ALLOCATORS_BACKENDS_H

#include <stdbool.h>
#include <stddef.h>

/* How tunables reach the library. */
enum fb_tunable_style {
    FB_TUNABLES_NONE = 0,
    FB_TUNABLES_GLIBC, /* GLIBC_TUNABLES=glibc.malloc.KEY=V:… */
    FB_TUNABLES_LIST, /* LISTVAR=KEY:V,KEY:V   (jemalloc: MALLOC_CONF; scudo: SCUDO_OPTIONS KEY=V:…)
                       */
    FB_TUNABLES_EACH, /* PREFIX + upper-case KEY = V, one variable each */
};

/* How the worker gives everything back. The same numbers as enum fb_purge of
 * trace/shared.h (a test holds them equal). */
enum fb_backend_purge {
    FB_BACKEND_PURGE_DETECT = 0,
    FB_BACKEND_PURGE_NONE,
    FB_BACKEND_PURGE_GLIBC,
    FB_BACKEND_PURGE_JEMALLOC,
    FB_BACKEND_PURGE_TCMALLOC,
    FB_BACKEND_PURGE_MIMALLOC,
    FB_BACKEND_PURGE_SCUDO,
    FB_BACKEND_PURGE_TBB,
    FB_BACKEND_PURGE_OWN,
};

/* How it can be proved that a tunable took effect. */
enum fb_readback {
    FB_READBACK_NONE = 0, /* cannot be read back: the result says "unverified" */
    FB_READBACK_WORKER,   /* the worker asks the allocator (mallctl opt.KEY, MallocExtension) */
    FB_READBACK_LDSO,     /* ld.so --list-tunables under the same environment */
    FB_READBACK_VERBOSE,  /* the lines that a verbose start prints (mimalloc) */
};

/* What a value is, so that a slip is caught before a process is spent on it. */
enum fb_tunable_type {
    FB_TUNABLE_NUMBER = 0, /* an integer, perhaps negative */
    FB_TUNABLE_BYTES,      /* an integer of bytes; people may write 1MiB */
    FB_TUNABLE_BOOL,       /* written as true/false in a list, 1/0 in a variable */
    FB_TUNABLE_REAL,
    FB_TUNABLE_WORD, /* one of a few words: the allocator judges */
};

struct fb_tunable {
    const char *key; /* as documented by the allocator */
    enum fb_tunable_type type;
    const char *values; /* for people: "ms, -1 = never" */
    const char *since;  /* version or "" */
    const char *until;  /* last version that has it, or "" */
    enum fb_readback readback;
    bool needs_real_clock; /* acts through a thread of its own (background_thread) */
    const char *help;
};

#define FB_BACKEND_DEFAULT 1U     /* among the default contenders */
#define FB_BACKEND_READS_CLOCK 2U /* must be seen reading the clock under the virtual one */
#define FB_BACKEND_LIBC 4U        /* is libc itself: nothing to preload */
#define FB_BACKEND_NULL 8U        /* no allocator call at all */
#define FB_BACKEND_SCOPES 16U     /* knows request scopes */
#define FB_BACKEND_WRAPS 32U      /* wraps the next allocator in line: NAME+INNER */
#define FB_BACKEND_OWN 64U        /* built by this project, found beside fragbench-worker */

struct fb_backend {
    const char *name;
    const char *alias;            /* or NULL */
    const char *package;          /* Debian's, for "apt-get install …"; NULL = none needed */
    const char *const *libraries; /* glob patterns of paths, best first, NULL-terminated */
    const char *symbol;           /* exported by this library and no other contender: proof */
    const char *variable;         /* the list variable or the prefix */
    const struct fb_tunable *tunables;
    size_t tunable_count;
    enum fb_tunable_style style;
    enum fb_backend_purge purge;
    unsigned flags;   /* FB_BACKEND_* */
    char separator;   /* between items of a list: ',' or ':' */
    char assign;      /* between key and value: ':' or '=' */
    const char *help; /* one sentence */
};

extern const struct fb_backend fb_backends[];
extern const size_t fb_backend_count;

/* By name or alias; NULL when unknown. */
const struct fb_backend *fb_backend_find(const char *name);
const struct fb_tunable *fb_backend_tunable(const struct fb_backend *backend, const char *key);

#endif
