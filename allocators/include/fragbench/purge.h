/* Giving back on demand: fragbench's worker asks, to tell what is cached from what is stuck.
 *
 * An allocator that can give memory back exports fragbench_purge() next to malloc; a program finds
 * it as a weak symbol.
 */
#ifndef FRAGBENCH_PURGE_H
#define FRAGBENCH_PURGE_H

#ifdef __cplusplus
extern "C" {
#endif

/* Gives all free memory back to the kernel, the calling thread's cache included; caches of other
 * threads are for them to empty. On any thread, at any time. For the moment when a service knows
 * that it will rest. */
void fragbench_purge(void);

#ifdef __cplusplus
}
#endif

#endif
