/* Which library answers malloc, and what it says about blocks and tunables. */
#ifndef FB_WORKER_OWNER_H
#define FB_WORKER_OWNER_H

#include "trace/shared.h"

#include <stdbool.h>

/* Fills malloc_owner and free_owner by dladdr (which does not allocate). */
void fb_owner_report(struct fb_shared *shared);
/* Whether malloc_usable_size comes from the library that answers malloc (asking another
 * library about a foreign block crashes). */
bool fb_owner_knows_usable(void);
/* Whether the library that answers malloc exports the scope contract. */
bool fb_owner_knows_scopes(void);
/* Fills shared->stats from the answering library, where it keeps counters. */
void fb_owner_read_stats(struct fb_shared *shared);
/* Σ malloc_usable_size over the live objects of the table; each also into details, if there are. */
uint64_t fb_owner_usable_bytes(const struct fb_object *objects, struct fb_object_detail *details,
                               uint64_t count);
/* FB_PURGE_DETECT → by which interfaces the answering library exports. */
enum fb_purge fb_owner_detect_purge(void);
/* Answers shared->readback_keys into shared->readback for that kind of allocator. */
void fb_owner_read_back(struct fb_shared *shared, enum fb_purge kind);

#endif
