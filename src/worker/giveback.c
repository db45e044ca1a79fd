#include "worker/giveback.h"

#include "worker/foreign.h"

enum { SCUDO_PURGE = -101, TBB_CLEAN_ALL_BUFFERS = 0, TBB_CLEAN_THREAD_BUFFERS = 1 };

void fb_giveback_own(enum fb_purge kind)
{
    if (kind == FB_PURGE_JEMALLOC && mallctl != NULL)
        (void)mallctl("thread.tcache.flush", NULL, NULL, NULL, 0);
    if (kind == FB_PURGE_TCMALLOC && MallocExtension_MarkThreadIdle != NULL)
        MallocExtension_MarkThreadIdle(); /* moves this thread's cache to the page heap */
    if (kind == FB_PURGE_MIMALLOC && mi_collect != NULL)
        mi_collect(true);
    if (kind == FB_PURGE_TBB && scalable_allocation_command != NULL)
        (void)scalable_allocation_command(TBB_CLEAN_THREAD_BUFFERS, NULL);
    if (kind == FB_PURGE_OWN && fragbench_purge != NULL)
        fragbench_purge();
}

void fb_giveback(enum fb_purge kind)
{
    switch (kind) {
    case FB_PURGE_GLIBC:
        if (malloc_trim != NULL)
            (void)malloc_trim(0);
        break;
    case FB_PURGE_JEMALLOC:
        if (mallctl != NULL) /* 4096 = MALLCTL_ARENAS_ALL */
            (void)mallctl("arena.4096.purge", NULL, NULL, NULL, 0);
        break;
    case FB_PURGE_TCMALLOC:
        if (MallocExtension_ReleaseFreeMemory != NULL)
            MallocExtension_ReleaseFreeMemory();
        break;
    case FB_PURGE_SCUDO:
        if (mallopt != NULL)
            (void)mallopt(SCUDO_PURGE, 0);
        break;
    case FB_PURGE_TBB:
        if (scalable_allocation_command != NULL)
            (void)scalable_allocation_command(TBB_CLEAN_ALL_BUFFERS, NULL);
        break;
    case FB_PURGE_MIMALLOC: /* these have done it all by then */
    case FB_PURGE_OWN:
    case FB_PURGE_DETECT:
    case FB_PURGE_NONE:
        break;
    }
}
