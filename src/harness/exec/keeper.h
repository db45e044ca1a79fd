/* The keeper: a process between fragbench and a person's program that loses nothing of it.
 *
 *     fragbench ── keeper (subreaper) ── the program ── its children …
 *                       └── orphans: daemons, grandchildren whose parent has gone
 *
 * Whatever the program starts stays below its keeper, so the tree is known without cgroups and
 * without privileges. When fragbench says so, or is gone however it went (the socket then ends),
 * the keeper kills all that is below it, reaps it and ends. The kernel's account of everything that
 * was reaped comes back with its last message. One keeper a command: the driver has its own, so
 * that its processes are not taken for the program's.
 */
#ifndef FB_HARNESS_EXEC_KEEPER_H
#define FB_HARNESS_EXEC_KEEPER_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct fb_keeper_command {
    const char *program; /* path */
    char *const *argv;
    char *const *environment;
    int input_fd, output_fd; /* become 0, and 1 and 2; stay the caller's */
};

struct fb_keeper {
    pid_t pid;
    int channel; /* readable when there is something to listen to; −1: closed */
    pid_t leader;
    bool leader_ended;
    int leader_status; /* as waitpid() gives it */
    bool done;         /* the keeper has gone and nothing is left below it */
    bool account_known;
    uint64_t user_ns, system_ns, minor_faults; /* of all that was reaped */
};

/* Returns once the program's exec has happened. A program that cannot be executed is an INPUT
 * error, trouble before that an IO error; no process is left behind then. */
int fb_keeper_start(struct fb_keeper *keeper, const struct fb_keeper_command *command,
                    struct fb_error *err) FB_MUST_USE;
/* Takes in what the keeper has said; never blocks. */
void fb_keeper_listen(struct fb_keeper *keeper);
/* Sends the signal to the program, or to each process that hangs directly below the keeper. Never
 * hits a stranger: the keeper itself sends it, and only to what it has not reaped. */
void fb_keeper_signal(struct fb_keeper *keeper, int number);
void fb_keeper_signal_all(struct fb_keeper *keeper, int number);
/* Kills all that is left, waits until it is gone (SIGKILL takes that long), fills the account. */
void fb_keeper_finish(struct fb_keeper *keeper);

#endif
