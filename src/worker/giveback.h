/* Asking the allocator to give back all it can: the last of the retained_* marks. */
#ifndef FB_WORKER_GIVEBACK_H
#define FB_WORKER_GIVEBACK_H

#include "trace/shared.h"

/* Frees this thread's cache, then purges globally. Nothing when the kind has no interface. */
void fb_giveback(enum fb_purge kind);

#endif
