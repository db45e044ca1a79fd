/* The keeper's own side and what is said over its socket, one packet a message. Internal. */
#ifndef FB_HARNESS_EXEC_KEEPER_PROCESS_H
#define FB_HARNESS_EXEC_KEEPER_PROCESS_H

#include "harness/exec/keeper.h"

enum fb_keeper_verb { FB_KEEPER_SIGNAL_LEADER = 1, FB_KEEPER_SIGNAL_ALL, FB_KEEPER_FINISH };

struct fb_keeper_order {
    enum fb_keeper_verb verb;
    int number;
};

struct fb_keeper_report {
    enum { FB_KEEPER_STARTED = 1, FB_KEEPER_FAILED, FB_KEEPER_ENDED, FB_KEEPER_DONE } kind;
    int step, error;                           /* FAILED */
    pid_t pid;                                 /* STARTED, ENDED */
    int status;                                /* ENDED */
    uint64_t user_ns, system_ns, minor_faults; /* DONE */
};

enum { FB_KEEPER_STEP_FORK = 0, FB_KEEPER_STEP_SUBREAPER = 1, FB_KEEPER_STEP_EXEC = 6 };

/* "start a session" …, for messages. */
const char *fb_keeper_step_name(int step);

/* In the freshly forked child, all signals blocked: never returns. */
_Noreturn void fb_keeper_process(const struct fb_keeper_command *command, int channel);

#endif
