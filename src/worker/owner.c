#include "worker/owner.h"

#include "worker/foreign.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef void any_function(void);

/* The path of the object that defines function; "" when it has none. */
static const char *object_of(any_function *function)
{
    Dl_info info;
    if (function == NULL || dladdr((void *)(uintptr_t)function, &info) == 0 ||
        info.dli_fname == NULL)
        return "";
    return info.dli_fname;
}

static bool same_object(any_function *function)
{
    const char *owner = object_of(function);
    return owner[0] != '\0' && strcmp(owner, object_of((any_function *)malloc)) == 0;
}

void fb_owner_report(struct fb_shared *shared)
{
    strncpy(shared->malloc_owner, object_of((any_function *)malloc), FB_OWNER_MAX - 1);
    strncpy(shared->free_owner, object_of((any_function *)free), FB_OWNER_MAX - 1);
}

bool fb_owner_knows_usable(void)
{
    return same_object((any_function *)malloc_usable_size);
}

bool fb_owner_knows_scopes(void)
{
    return same_object((any_function *)fragbench_scope_begin) &&
           same_object((any_function *)fragbench_scope_alloc) &&
           same_object((any_function *)fragbench_scope_end);
}

void fb_owner_read_stats(struct fb_shared *shared)
{
    if (!same_object((any_function *)fragbench_stats))
        return;
    size_t count = fragbench_stats(shared->stats, FB_STATS_MAX);
    shared->stat_count = count < FB_STATS_MAX ? (uint32_t)count : FB_STATS_MAX;
}

uint64_t fb_owner_usable_bytes(const struct fb_object *objects, struct fb_object_detail *details,
                               uint64_t count)
{
    uint64_t total = 0;
    for (uint64_t i = 0; i < count; i++) {
        if ((uintptr_t)objects[i].address <= (uintptr_t)FB_OBJECT_REFUSED)
            continue;
        size_t usable = malloc_usable_size(objects[i].address);
        total += usable;
        if (details != NULL)
            details[i].usable_bytes = usable;
    }
    return total;
}

enum fb_purge fb_owner_detect_purge(void)
{
    const struct {
        any_function *function;
        enum fb_purge purge;
    } rows[] = {
        {(any_function *)mallctl, FB_PURGE_JEMALLOC},
        {(any_function *)mi_collect, FB_PURGE_MIMALLOC},
        {(any_function *)MallocExtension_ReleaseFreeMemory, FB_PURGE_TCMALLOC},
        {(any_function *)fragbench_purge, FB_PURGE_OWN},
        {(any_function *)malloc_trim, FB_PURGE_GLIBC},
        {(any_function *)mallopt, FB_PURGE_SCUDO},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (same_object(rows[i].function))
            return rows[i].purge;
    return scalable_allocation_command != NULL ? FB_PURGE_TBB : FB_PURGE_NONE;
}
