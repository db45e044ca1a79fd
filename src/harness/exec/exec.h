/* Running a person's own program under an allocator and watching its memory from outside.
 *
 * Life of a run: start → ready (at once, a port, a line) → work (until the driver or the program
 * ends) → settle → stop (SIGTERM, grace, SIGKILL) → collect. Real time, one run at a time. What the
 * program does wrong ends in a status of the repetition; only the harness's own trouble is an
 * error. When a call returns no process of the run is left.
 *
 * Phases of the repetition: "start" where there is a condition to be ready, "work", "idle" with a
 * settle time. A checkpoint at each one's end reads the exact sources; of a program that ends by
 * itself nothing is left to read then, so it has the last sample.
 */
#ifndef FB_HARNESS_EXEC_EXEC_H
#define FB_HARNESS_EXEC_EXEC_H

#include "harness/contender.h"
#include "harness/exec/binary.h"
#include "harness/exec/relink.h"
#include "result/record.h"

#include <regex.h>

struct fb_exec_request {
    const char *program; /* path of the executable */
    char *const *argv;
    const char *name;         /* what to call it in sentences */
    char *const *environment; /* the person's own */
    const struct fb_contender *contender;
    const struct fb_relink *relink; /* of the program; used where libc's malloc is asked for */
    const char *live_library;       /* count live bytes with it; NULL: do not */
    unsigned ready_port;            /* 0 = none */
    const regex_t *ready_line;      /* NULL = none */
    const char *ready_text;         /* as the person wrote it */
    const char *driver;             /* for sh -c; NULL: the program's own end is the work's */
    uint64_t settle_ns, grace_ns;
    uint64_t timeout_ns;         /* start to the work's end; 0 = none */
    uint64_t memory_limit_bytes; /* of the tree's footprint; 0 = none */
    uint64_t interval_ns;
    const char *log_file, *driver_log_file; /* made anew */
    struct fb_binaries *objects;            /* cache, the caller's, kept over runs */
    unsigned index;                         /* recorded only */
};

struct fb_exec_progress {
    const struct fb_exec_request *request;
    const char *phase;
    uint64_t footprint_bytes, live_bytes;
    size_t processes;
    double elapsed_s;
};

struct fb_exec_hooks {
    /* About every 100 ms; may be NULL. */
    void (*progress)(void *user, const struct fb_exec_progress *progress);
    void *user;
    const volatile int *stop; /* set non-zero by a signal handler: the run ends interrupted */
};

/* The repetition is the caller's to deinit. INPUT errors: the program cannot be executed. IO
 * errors: a log cannot be made, no process can be started. */
int fb_exec_run(const struct fb_exec_request *request, const struct fb_exec_hooks *hooks,
                struct fb_repetition *out, struct fb_error *err) FB_MUST_USE;

/* The path that execvp would take, symlinks left as they are (python finds its home by them). New
 * string; INPUT error when there is none. */
int fb_exec_find(const char *word, char **path, struct fb_error *err) FB_MUST_USE;

/* libfragbench-live.so beside the worker. New string; IO error when it is not there. */
int fb_exec_live_library(char **path, struct fb_error *err) FB_MUST_USE;

#endif
