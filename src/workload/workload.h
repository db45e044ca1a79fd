/* A workload: the YAML language parsed, checked and with parameters put in.
 *
 * Owns everything it points to; fb_workload_free() releases all of it. Immutable
 * after loading. The language's key table is workload/keys.h.
 */
#ifndef FB_WORKLOAD_WORKLOAD_H
#define FB_WORKLOAD_WORKLOAD_H

#include "base/error.h"
#include "result/metric.h"
#include "trace/format.h"
#include "workload/diagnostic.h"
#include "workload/distribution.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum fb_lifetime {
    FB_LIFETIME_RUN = 0, /* until teardown */
    FB_LIFETIME_PHASE,
    FB_LIFETIME_ITERATION,
    FB_LIFETIME_ITERATIONS, /* freed at the end of the n-th iteration, its own being the first */
    FB_LIFETIME_TIME,
    FB_LIFETIME_OPS, /* freed before the n-th allocation after its own */
    FB_LIFETIME_MANUAL,
    FB_LIFETIME_SCOPE,       /* until the iteration's scope ends */
    FB_LIFETIME_INNER_SCOPE, /* until the inner scope ends */
};

/* A named pool of threads; they start in the first phase that uses it and live to the end. */
struct fb_pool {
    char name[FB_NAME_MAX];
    uint32_t threads; /* 1 … 256 */
};

enum fb_freed_by {
    FB_FREED_BY_SAME = 0, /* the thread that allocated it, its lane's next one, or main */
    FB_FREED_BY_OTHER,    /* the thread of the next lane */
    FB_FREED_BY_POOL,     /* the threads of a pool in turn */
};

enum fb_grow_how { FB_GROW_NONE = 0, FB_GROW_REALLOC, FB_GROW_COPY };

struct fb_replica;

struct fb_object_class {
    char name[FB_NAME_MAX];
    struct fb_distribution size; /* bytes, ≥ 1 */
    enum fb_lifetime lifetime;
    struct fb_distribution life; /* iterations, ns or ops */
    enum fb_call call;
    uint64_t align;
    enum fb_touch touch;
    uint64_t touch_share; /* parts per 2^32 */
    enum fb_grow_how grow;
    uint64_t grow_by_bytes; /* 0: by factor */
    double grow_factor;     /* > 1 */
    uint64_t grow_to_bytes;
    enum fb_freed_by freed_by;
    const struct fb_pool *freed_by_pool; /* one of the workload's, or NULL */
};

struct fb_phase_allocate {
    size_t class_index;
    struct fb_distribution count;
};

struct fb_phase_free {
    size_t class_index;
    uint64_t share; /* parts per 2^32; 2^32 = all */
};

enum fb_mix { FB_MIX_INTERLEAVED = 0, FB_MIX_SEQUENTIAL };
enum fb_free_order { FB_FREE_FIFO = 0, FB_FREE_LIFO, FB_FREE_RANDOM };

struct fb_phase {
    char name[FB_NAME_MAX];
    bool has_iterations;
    uint64_t iterations;
    uint64_t every_ns;
    uint64_t for_ns;
    uint64_t hold_ns;
    struct fb_phase_allocate *allocate;
    size_t allocate_count;
    struct fb_phase_free *free;
    size_t free_count;
    enum fb_mix mix;
    enum fb_free_order free_order;
    bool fail_on_refusal;
    /* Its lanes: the pool's threads, or so many own ones, or (neither) the main thread. */
    const struct fb_pool *pool; /* one of the workload's, or NULL */
    uint32_t threads;
    uint64_t thread_life; /* iterations an own thread lives for; 0: the phase */
    bool take_turns;      /* a whole iteration at a time, in free order too */
    bool scope;           /* each iteration is a scope */
    uint32_t inner_scopes;
};

struct fb_param {
    char *name;
    char *value; /* as text, after overrides */
};

/* The largest value that a metric may have. The one that names a contender's label counts before
 * one that names its allocator, and that before one for all. */
struct fb_workload_limit {
    char *allocator;       /* a label or an allocator's name, not checked here; NULL = for all */
    enum fb_metric metric; /* one with a direction */
    double max;            /* ≥ 0, in the metric's unit */
    size_t line;           /* of the limit; 0 = from the command line */
    struct {
        size_t line, column, length; /* of the allocator's name, as in struct fb_diagnostic */
    } named;
};

/* "[ALLOCATOR:]METRIC=MAX" of a command line; the allocator's own tunables may stand before the
 * last colon. INPUT errors name the option --limit and the text. out->allocator is the caller's to
 * free.
 */
int fb_workload_limit_parse(const char *text, struct fb_workload_limit *out,
                            struct fb_error *err) FB_MUST_USE;

struct fb_workload {
    char *file; /* as given */
    char *name;
    char *description; /* "" where absent */
    char *source;
    char *text; /* the file's bytes, terminated; a file may be a pipe, which is read once */
    size_t text_bytes;
    char sha256[65]; /* of them */
    uint64_t seed;
    struct fb_param *params;
    size_t param_count;
    struct fb_pool *pools;
    size_t pool_count;
    struct fb_object_class *classes;
    size_t class_count;
    struct fb_phase *phases;
    size_t phase_count;
    struct fb_workload_limit *limits;
    size_t limit_count;
    struct fb_replica *replica; /* of a recording, whose objects and events it has; else NULL */
};

struct fb_override {
    const char *name;
    const char *value;
};

/* Reads, parses and checks path; a recording (trace/recording.h) becomes a workload as
 * workload/replica.h says. On failure (-1) *out is untouched and every
 * fault of the file is in diagnostics (never zero of them). An override of a
 * parameter that the file does not declare is a fault too (with suggestion). */
int fb_workload_load(const char *path, const struct fb_override *overrides, size_t override_count,
                     struct fb_workload **out, struct fb_diagnostics *diagnostics) FB_MUST_USE;
/* The same from memory; path is used in messages only. */
int fb_workload_parse(const char *path, const char *text, size_t size,
                      const struct fb_override *overrides, size_t override_count,
                      struct fb_workload **out, struct fb_diagnostics *diagnostics) FB_MUST_USE;
void fb_workload_free(struct fb_workload *workload);
/* For faults that are found later: names path in diagnostics and keeps its text, so that they are
 * shown with their lines. A file that is gone by now costs only that. */
void fb_workload_show(const char *path, struct fb_diagnostics *diagnostics);

#endif
