/* Running workers: a fresh process a run, many side by side, one thread of ours.
 *
 * Life of a run: prepare (memfd, doorbell, error pipe) → spawn (fork, set-up in the
 * child, exec of fragbench-worker) → ready (proof of the answering allocator) →
 * checkpoints → end → collect. Everything that can go wrong with a worker ends in a
 * status of the repetition; only the harness's own trouble (no descriptors, no
 * memfd) is an error.
 */
#ifndef FB_HARNESS_RUNNER_H
#define FB_HARNESS_RUNNER_H

#include "harness/contender.h"
#include "result/record.h"
#include "result/snapshot.h"
#include "trace/format.h"
#include "trace/shared.h"

/* Whether snapshots of the waiting worker are taken. Only where threads take turns, or there is one
 * thread: others might be freeing what is looked at. */
enum fb_explain {
    FB_EXPLAIN_NONE = 0,
    FB_EXPLAIN_PARTS, /* at the largest live bytes and at phase ends; real clock: at the end only */
    FB_EXPLAIN_PURGE, /* at explain_at, before and after a purge there; then the run ends */
};

struct fb_run_request {
    int trace_fd;                        /* readable; kept open by the caller */
    const struct fb_trace_header *trace; /* mapped by the caller: header and tables are read */
    const struct fb_contender *contender;
    enum fb_clock_mode clock;
    enum fb_order order;
    enum fb_run_mode mode;
    bool verify;
    unsigned layout;             /* 0 … K−1 */
    uint64_t seed;               /* recorded only */
    unsigned index;              /* recorded only */
    uint64_t timeout_ns;         /* wall time; 0 = none */
    uint64_t memory_limit_bytes; /* of RssAnon + swap; 0 = none */
    uint64_t interval_ns;        /* real clock: sampling from outside */
    const char *thp;             /* "advised" (default), "always", "never" */
    enum fb_explain explain;
    size_t explain_at; /* PURGE: the checkpoint's number in the run, from 0 */
    void *context;     /* the caller's */
};

/* What comes back besides the repetition. */
struct fb_run_outcome {
    struct fb_repetition repetition; /* ownership goes to the callback */
    char *malloc_owner;              /* path, or NULL when the worker never got ready */
    struct fb_setting *effective;    /* tunables read back by the worker */
    size_t effective_count;
    bool layout_fixed; /* false: personality() was refused */
    const char *thp_used;
    bool clock_proven;
    /* timing mode */
    uint64_t wall_ns; /* first op to the last phase's end */
    struct fb_latency_histogram {
        double ns_per_tick;
        uint64_t timer_ticks;
        uint64_t alloc[FB_LATENCY_BUCKETS];
        uint64_t free[FB_LATENCY_BUCKETS];
    } * latency; /* owned; NULL in memory mode */
};

/* A snapshot for the progress line. */
struct fb_run_progress {
    const struct fb_run_request *request;
    uint64_t ops_done, ops_total;
    uint64_t live_bytes, footprint_bytes;
    unsigned phase;
    double elapsed_s;
};

struct fb_runner_hooks {
    /* Called once a run has ended. Takes ownership of the outcome's contents. Return −1 (with err)
     * to stop all. */
    int (*finished)(void *user, const struct fb_run_request *request,
                    struct fb_run_outcome *outcome, struct fb_error *err);
    /* About every 100 ms with the running ones; may be NULL. */
    void (*progress)(void *user, const struct fb_run_progress *running, size_t count, size_t done,
                     size_t total);
    /* Of requests that are explained: a look at the worker at a checkpoint, both borrowed for the
     * call. May be NULL. */
    void (*snapshot)(void *user, const struct fb_run_request *request,
                     struct fb_checkpoint *checkpoint, const struct fb_snapshot *snapshot);
    void *user;
};

/* Whether a request of this trace and order can be explained. */
bool fb_runner_explains(const struct fb_trace_header *trace, enum fb_order order);

/* Runs requests, at most `parallel` at once, started in order. Returns 0 when each has been
 * reported; -1 on the harness's own trouble. *stop (may be NULL) set non-zero from a signal handler
 * ends running workers (status interrupted, what was sampled is kept) and returns 0 without
 * starting more. When this returns no worker process is left. */
int fb_runner_run(const struct fb_run_request *requests, size_t count, unsigned parallel,
                  const struct fb_runner_hooks *hooks, const volatile int *stop,
                  struct fb_error *err) FB_MUST_USE;

/* Where fragbench-worker and libfragbench-clock.so are: $FRAGBENCH_LIBEXEC, else beside
 * the executable, else the installed libexec folder. */
int fb_runner_locate(char *worker, char *clock_library, size_t size,
                     struct fb_error *err) FB_MUST_USE;

#endif
