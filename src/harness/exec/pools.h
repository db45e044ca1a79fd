/* Pools above malloc: runtimes that take memory from the system by themselves. */
#ifndef FB_HARNESS_EXEC_POOLS_H
#define FB_HARNESS_EXEC_POOLS_H

/* A sentence about the object of this file name, with what to do; NULL when none is known, or when
 * the environment has switched the pool off. Static text. */
const char *fb_pool_note(const char *file_name, char *const *environment);

#endif
