/* What attribution needs to know of the worker beyond the object table. Nothing here allocates. */
#ifndef FB_WORKER_EXPLAIN_H
#define FB_WORKER_EXPLAIN_H

#include "trace/shared.h"

/* Fills shared->data_ranges: the writable segments of every loaded object, and the main thread's
 * static TLS. Before the first op. Takes the loader's lock for a moment. */
void fb_explain_data_ranges(struct fb_shared *shared);

/* Fills shared->own_account through the interfaces of that kind of allocator. Some of them make
 * the allocator set up tables of its own, so only in a run that ends here. */
void fb_explain_account(struct fb_shared *shared, enum fb_purge kind);

#endif
