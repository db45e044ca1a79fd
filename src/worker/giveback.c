#include "worker/giveback.h"

#include "worker/foreign.h"

/* The idle mark empties this thread's cache into the page heap, which the second call returns. */
static void give_back_tcmalloc(void)
{
    if (MallocExtension_MarkThreadIdle != NULL)
        MallocExtension_MarkThreadIdle();
    if (MallocExtension_ReleaseFreeMemory != NULL)
        MallocExtension_ReleaseFreeMemory();
}

static void give_back_jemalloc(void)
{
    if (mallctl == NULL)
        return;
    (void)mallctl("thread.tcache.flush", NULL, NULL, NULL, 0);
    (void)mallctl("arena.4096.purge", NULL, NULL, NULL, 0); /* 4096 = MALLCTL_ARENAS_ALL */
}

void fb_giveback(enum fb_purge kind)
{
    enum { SCUDO_PURGE = -101, TBB_CLEAN_ALL_BUFFERS = 0 };
    switch (kind) {
    case FB_PURGE_GLIBC:
        if (malloc_trim != NULL)
            (void)malloc_trim(0);
        break;
    case FB_PURGE_JEMALLOC:
        give_back_jemalloc();
        break;
    case FB_PURGE_TCMALLOC:
        give_back_tcmalloc();
        break;
    case FB_PURGE_MIMALLOC:
        if (mi_collect != NULL)
            mi_collect(true);
        break;
    case FB_PURGE_SCUDO:
        if (mallopt != NULL)
            (void)mallopt(SCUDO_PURGE, 0);
        break;
    case FB_PURGE_TBB:
        if (scalable_allocation_command != NULL)
            (void)scalable_allocation_command(TBB_CLEAN_ALL_BUFFERS, NULL);
        break;
    case FB_PURGE_DETECT:
    case FB_PURGE_NONE:
        break;
    }
}
