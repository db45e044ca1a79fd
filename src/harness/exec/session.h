/* One run of a program and all that is known of it. Internal to harness/exec/. */
#ifndef FB_HARNESS_EXEC_SESSION_H
#define FB_HARNESS_EXEC_SESSION_H

#include "harness/exec/answer.h"
#include "harness/exec/exec.h"
#include "harness/exec/family.h"
#include "harness/exec/fate.h"
#include "harness/exec/keeper.h"
#include "harness/exec/live.h"
#include "harness/exec/ready.h"

enum { FB_SESSION_PHASES = 3 };

/* An executable that was seen running, and who answered malloc in it. */
struct fb_session_program {
    char *name, *answered_by; /* answered_by NULL: not known */
    char *why;                /* not the asked allocator: why; else NULL */
    uint64_t processes;
    uint64_t peak_bytes; /* the most that one process of it held */
};

struct fb_session {
    const struct fb_exec_request *request;
    struct fb_keeper keeper, driver;
    bool driving;      /* the driver was started */
    bool driver_ended; /* by itself */
    struct fb_family family;
    struct fb_live live;
    struct fb_live_count counted;
    char **environment;
    int log_fd, driver_log_fd, timer_fd;
    struct fb_ready_log ready_log;
    uint64_t started_ns, ended_ns; /* CLOCK_MONOTONIC */
    uint64_t work_from_ns, work_to_ns;
    uint64_t deadline_ns;   /* of the settle time, or of the grace */
    uint64_t next_again_ns; /* looks.c: when settled processes are looked into again */
    enum fb_fate_stage stage;
    bool over;
    bool leader_proven;
    unsigned phase; /* index in names */
    const char *phase_names[FB_SESSION_PHASES];
    unsigned phase_count;
    bool stopped_by_us;
    enum fb_status verdict;
    char *verdict_detail;
    struct fb_point *points;
    size_t point_count, point_capacity;
    struct fb_checkpoint *checkpoints;
    size_t checkpoint_count;
    struct fb_phase_record *phases;
    size_t phase_ended;
    uint64_t missed_ticks, mappings_max, peak_bytes;
    struct fb_session_program *programs;
    size_t program_count;
    char **notes;
    size_t note_count;
    size_t outlived; /* processes that were left when the program had ended */
    bool killed_after_grace;
    bool oom_known;
    uint64_t oom_kills; /* before the run */
};

/* Takes the text; a note that is there already is dropped. */
void fb_session_note(struct fb_session *session, char *text);
/* Ends the run with a verdict; the first one stays. Takes the detail. */
void fb_session_stop(struct fb_session *session, enum fb_status verdict, char *detail);

/* stages.c: the work begins: the driver is started, if there is one. */
void fb_session_begin_work(struct fb_session *session);
/* Goes on to the next stage if its time has come. */
void fb_session_step(struct fb_session *session);

/* observe.c: one reading of the tree, at a tick of the timer or at once. */
void fb_session_sample(struct fb_session *session, uint32_t reason);
/* The exact sources, at the end of a phase ("phase_end") or before the first ("start"). */
void fb_session_checkpoint(struct fb_session *session, const char *kind);
/* looks.c: looks into processes that have not been seen through yet; from time to time again into
 * those that have, for what they load as they run; into all, and thoroughly, at the end of a
 * phase. */
void fb_session_look(struct fb_session *session, bool thorough);
/* Why the asked allocator did not answer for a good part of the memory; NULL: it did. */
const char *fb_session_not_asked(const struct fb_session *session);

/* collect.c: from an ended run to the repetition; takes what it can. */
void fb_session_collect(struct fb_session *session, struct fb_repetition *out);

#endif
