/* Call sites: where in the program a block was asked for, when FB_SPOOL_SITES_VARIABLE says so.
 *
 * A site is the innermost return addresses of a call, so many as that variable says, without the
 * recorder's own. Each gets a number when it is met first, and its addresses and the objects they
 * lie in are written then; a birth after that only names the number, where it is not the thread's
 * last one. The stack is walked by libunwind where that is installed, and
 * else, before constructors and in forked children by libgcc's unwinder, which the recorder needs
 * anyway, as C++'s new throws through it.
 *
 * A block keeps the site of its birth; realloc of a block makes no site. What an object that was
 * unloaded had at an address, and another one has now, is taken for the first one's.
 */
#ifndef FB_PRELOAD_RECORDER_SITES_H
#define FB_PRELOAD_RECORDER_SITES_H

#include "preload/recorder_log.h"

/* Frames a site has; 0: sites are not recorded. */
extern unsigned fb_sites_depth;

/* In a process's first recorded call: reads the variable, and makes the process's table. */
void fb_sites_open(void);
/* Once the program's libraries are there: takes the faster unwinder. The thread is inside. */
void fb_sites_hasten(struct fb_log_thread *thread);
/* Notes the calling site of the birth of that size that comes. false: there is no room, nothing is
 * recorded any more. The thread is inside, and stays it. */
bool fb_sites_note(struct fb_log_thread *thread, size_t size);

/* fb_log_enter() of a call that gives birth. */
static inline bool fb_sites_enter(struct fb_log_thread *thread, size_t size)
{
    if (!fb_log_enter(thread))
        return false;
    if (__builtin_expect(fb_sites_depth == 0, true) || fb_sites_note(thread, size))
        return true;
    fb_log_leave(thread);
    return false;
}

#endif
