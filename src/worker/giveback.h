/* Asking the allocator to give back all it can: the last of the retained_* marks. */
#ifndef FB_WORKER_GIVEBACK_H
#define FB_WORKER_GIVEBACK_H

#include "trace/shared.h"

/* Empties the calling thread's cache. Nothing when the kind has no interface. */
void fb_giveback_own(enum fb_purge kind);
/* Purges globally. */
void fb_giveback(enum fb_purge kind);

#endif
