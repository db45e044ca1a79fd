/* Which room a thread has, from its first scope to its end. */
#ifndef ALLOCATORS_REQUEST_ARENA_THREADS_H
#define ALLOCATORS_REQUEST_ARENA_THREADS_H

#include "allocators/request_arena/room.h"

/* Reads the options and so on, once; any thread, at any time. */
void fra_threads_open(void);
/* The calling thread's room, made or taken over if it has none yet; NULL without memory. */
struct fra_room *fra_threads_room(void);
/* Sums up the counters and records of all rooms; returns how many threads have one. */
size_t fra_threads_count(struct fra_counters *sum, struct fra_record *record);

void fra_threads_lock(void);
void fra_threads_unlock(void);

#endif
