/* Interfaces of the allocators under test, as weak references: NULL where the
 * preloaded library has none. dlsym would allocate its error text on failure. */
#ifndef FB_WORKER_FOREIGN_H
#define FB_WORKER_FOREIGN_H

#include "trace/shared.h"

#include <stdbool.h>
#include <stddef.h>

#define FB_WEAK __attribute__((weak))

/* struct mallinfo2, which <malloc.h> of glibc before 2.33 lacks. */
struct fb_mallinfo {
    size_t arena, ordblks, smblks, hblks, hblkhd, usmblks, fsmblks, uordblks, fordblks, keepcost;
};

/* jemalloc */
FB_WEAK int mallctl(const char *name, void *old, size_t *old_size, void *new_value,
                    size_t new_size);
/* gperftools */
FB_WEAK void MallocExtension_ReleaseFreeMemory(void);
FB_WEAK void MallocExtension_MarkThreadIdle(void);
FB_WEAK int MallocExtension_GetNumericProperty(const char *property, size_t *value);
/* mimalloc */
FB_WEAK void mi_collect(bool force);
FB_WEAK int mi_version(void);
FB_WEAK void mi_process_info(size_t *elapsed_ms, size_t *user_ms, size_t *system_ms,
                             size_t *current_rss, size_t *peak_rss, size_t *current_commit,
                             size_t *peak_commit, size_t *page_faults);
/* oneTBB */
FB_WEAK int scalable_allocation_command(int command, void *param);
/* the scope contract, allocators/include/fragbench/scope.h */
FB_WEAK void fragbench_scope_begin(void);
FB_WEAK void *fragbench_scope_alloc(size_t size, size_t align);
FB_WEAK void fragbench_scope_end(void);
/* the counters' contract, allocators/include/fragbench/stats.h; the same layout as struct fb_stat
 */
FB_WEAK size_t fragbench_stats(struct fb_stat *out, size_t count);
/* giving back, allocators/include/fragbench/purge.h */
FB_WEAK void fragbench_purge(void);
/* glibc and scudo */
FB_WEAK struct fb_mallinfo mallinfo2(void);
FB_WEAK int malloc_trim(size_t pad);
FB_WEAK int mallopt(int param, int value);
FB_WEAK size_t malloc_usable_size(void *block);

#endif
