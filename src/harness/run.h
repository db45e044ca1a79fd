/* One run inside the harness: a worker process and all that is known of it. Internal to harness/.
 *
 * The worker may have scribbled over the shared block when it crashed: offsets and capacities are
 * taken from this struct, never from the block, and its strings are cut at their arrays' ends.
 */
#ifndef FB_HARNESS_RUN_H
#define FB_HARNESS_RUN_H

#include "base/buf.h"
#include "harness/runner.h"
#include "harness/snapshot.h"

#include <stdbool.h>
#include <sys/types.h>

/* The shared block and where its parts are. */
struct fb_control {
    int fd;
    struct fb_shared *shared;
    uint64_t sample_offset, sample_capacity;
    uint64_t object_offset, object_count;
    uint64_t latency_offset;
    uint64_t counters_offset, counters_count;
    uint64_t total_bytes;                 /* up to the details */
    uint64_t detail_offset, detail_bytes; /* a row an object; no memory until they are filled */
};

/* Sizes and fills a memfd for the request. IO errors: no memory, no descriptors, a trace whose
 * tables are larger than the machine's memory. */
int fb_control_open(struct fb_control *control, const struct fb_run_request *request,
                    struct fb_error *err) FB_MUST_USE;
void fb_control_close(struct fb_control *control);

/* What "advised" and friends take on this system, found out once a runner. */
enum fb_thp_plan {
    FB_THP_LEAVE = 0,
    FB_THP_EXCEPT_ADVISED, /* the system says always; fall back to off where the kernel is older */
    FB_THP_OFF,
};
enum fb_thp_plan fb_thp_plan_of(const char *wanted, const char *enabled);
/* What a cell is told: "advised", "always", "never", "off (no except-advised)". */
const char *fb_thp_used(enum fb_thp_plan plan, bool fell_back, const char *enabled);
/* The bracketed word of /sys/kernel/mm/transparent_hugepage/enabled; "never" without the file. */
const char *fb_thp_enabled(char *buffer, size_t size);

struct fb_run {
    const struct fb_run_request *request;
    const struct fb_runner_hooks *hooks;
    struct fb_control control;
    pid_t pid;
    int pidfd;    /* -1: ask waitid at every tick (before Linux 5.3, or a sandbox) */
    int doorbell; /* our end */
    int output;   /* the worker's stdout and stderr */
    int timer;    /* outside sampling; -1: none */
    uint64_t started_ns, ready_ns, ended_ns; /* CLOCK_MONOTONIC */
    bool ready;
    bool ended;
    int wait_status;
    bool stopped_by_us; /* killed; verdict says why */
    enum fb_status verdict;
    char *verdict_detail;
    bool layout_fixed;
    const char *thp_used;
    bool oom_known;
    uint64_t oom_kills; /* before the run */
    struct fb_buf text; /* of output */
    char *malloc_owner;
    struct fb_setting *effective;
    size_t effective_count;
    struct fb_checkpoint *checkpoints;
    size_t checkpoint_count;
    uint64_t mappings_max;
    struct fb_page_runs startup_pages; /* explained runs: at the start checkpoint */
    struct fb_sight *sight;   /* FB_EXPLAIN_PURGE, between the two looks at its checkpoint */
    struct fb_point *outside; /* samples from outside, real clock */
    size_t outside_count, outside_capacity;
    uint64_t missed_ticks;
};

/* What all runs of a runner share. */
struct fb_bench {
    char worker[4096], clock_library[4096];
    char thp_enabled[16];
    const struct fb_runner_hooks *hooks;
    int pin_cpu; /* where the next run's threads take turns; −1: nowhere in particular */
};

/* Starts a worker. -1: the harness's own trouble; nothing is left behind then. */
int fb_run_start(struct fb_run *run, const struct fb_run_request *request,
                 const struct fb_bench *bench, struct fb_error *err) FB_MUST_USE;
/* Kills the worker's whole process group with a verdict for it; the first verdict stays.
 * detail is a heap string, taken. */
void fb_run_stop(struct fb_run *run, enum fb_status verdict, char *detail);
/* Kills without a verdict, waits, releases all. */
void fb_run_discard(struct fb_run *run);

/* Reads what the worker printed so far; keeps the first 4 KiB. */
void fb_run_drain_output(struct fb_run *run);
/* Answers all bells that are there. -1: the harness cannot read /proc. */
int fb_run_answer(struct fb_run *run, struct fb_error *err) FB_MUST_USE;
/* READY: which allocator answers, did the tunables take; stops the run if not. */
void fb_run_prove(struct fb_run *run);
/* CHECKPOINT: exact figures of the waiting worker. */
int fb_run_checkpoint(struct fb_run *run, const struct fb_bell *bell,
                      struct fb_error *err) FB_MUST_USE;
/* What the worker is told after a checkpoint, which is the last of run->checkpoints. Takes
 * snapshots where the request asks for them and hands them to the hook. -1: the harness cannot read
 * /proc. */
int fb_run_explain(struct fb_run *run, const struct fb_bell *bell, enum fb_answer *answer,
                   struct fb_error *err) FB_MUST_USE;
/* Starts the outside sampling at READY where the clock is real. */
void fb_run_start_timer(struct fb_run *run);
/* One outside sample, and how many ticks were missed. */
void fb_run_sample(struct fb_run *run);
/* Timeout and memory limit. */
void fb_run_watch(struct fb_run *run);
/* Reaps when the process has ended; sets ended. */
void fb_run_reap(struct fb_run *run);
/* The outcome of an ended run; frees the rest of the run. */
void fb_run_collect(struct fb_run *run, struct fb_run_outcome *outcome);
void fb_run_progress(const struct fb_run *run, struct fb_run_progress *out);

#endif
