/* Ctrl-C and its relatives. The handler only notes the signal, so whatever is being written
 * is finished, and a second Ctrl-C changes nothing. */
#ifndef FB_COMMANDS_INTERRUPT_H
#define FB_COMMANDS_INTERRUPT_H

/* SIGINT, SIGTERM and SIGHUP are noted (one that the caller's shell ignores stays ignored).
 * SIGPIPE and SIGXFSZ become EPIPE and EFBIG errors of the write. */
void fb_interrupt_install(void);
/* Non-zero once a signal was noted; for fb_runner_run(). */
const volatile int *fb_interrupt_stop(void);
/* Its number; 0 = none. */
int fb_interrupt_signal(void);

#endif
