/* Threads of a trace: their lives, turns and waits. All waiting is on futexes: a spinning
 * thread costs 54–60 µs a hand-over on a busy machine, a sleeping one 3–11. */
#ifndef FB_WORKER_THREADS_H
#define FB_WORKER_THREADS_H

#include "worker/replay.h"

/* Lets every other living thread empty its cache, one after the other. Lockstep only: each of them
 * waits for a turn then. */
void fb_threads_empty_caches(struct fb_actor *actor);

/* Maps the actors and sets up main's. -1 with errno when there is no memory. */
int fb_threads_open(struct fb_replay *replay);

/* TURN, THREAD_START, THREAD_JOIN, PARK, RESUME, AWAIT, as trace/format.h says. */
void fb_threads_turn(struct fb_actor *actor, const struct fb_op *op);
void fb_threads_start(struct fb_actor *actor, const struct fb_op *op);
void fb_threads_join(struct fb_actor *actor, const struct fb_op *op);
void fb_threads_park(struct fb_actor *actor, const struct fb_op *op);
void fb_threads_resume(struct fb_actor *actor, const struct fb_op *op);
void fb_threads_await(struct fb_actor *actor, const struct fb_op *op);

/* Free order: an object of a shared class was stored in slot (or refused): wakes who waits. */
void fb_threads_announce(uint32_t slot);
/* Free order: waits until the object of slot is there. */
void fb_threads_wait_object(const struct fb_object *object, uint32_t slot);

#endif
