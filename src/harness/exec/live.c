#include "harness/exec/live.h"

#include "base/alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const size_t block_bytes =
    sizeof(struct fb_live_block) + FB_LIVE_SLOTS * sizeof(struct fb_live_slot);

int fb_live_open(struct fb_live *live, struct fb_error *err)
{
    *live = (struct fb_live){.fd = memfd_create("fragbench-live", MFD_CLOEXEC)};
    if (live->fd < 0 || ftruncate(live->fd, (off_t)block_bytes) != 0) {
        (void)fb_fail_errno(err, "cannot make the block that counts live bytes");
        fb_live_close(live);
        return -1;
    }
    void *memory = mmap(NULL, block_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, live->fd, 0);
    if (memory == MAP_FAILED) {
        (void)fb_fail_errno(err, "cannot map the block that counts live bytes");
        fb_live_close(live);
        return -1;
    }
    live->block = memory;
    live->block->slot_count = FB_LIVE_SLOTS;
    live->block->magic = FB_LIVE_MAGIC;
    (void)snprintf(live->path, sizeof live->path, "/proc/%ld/fd/%d", (long)getpid(), live->fd);
    return 0;
}

void fb_live_close(struct fb_live *live)
{
    if (live->block != NULL)
        (void)munmap(live->block, block_bytes);
    if (live->fd >= 0)
        (void)close(live->fd);
    *live = (struct fb_live){.fd = -1};
}

static void forget(struct fb_live *live, struct fb_live_slot *slot)
{
    live->gone_bytes += atomic_load_explicit(&slot->allocated_bytes, memory_order_relaxed);
    live->gone_calls += atomic_load_explicit(&slot->calls, memory_order_relaxed);
    atomic_store_explicit(&slot->allocated_bytes, 0, memory_order_relaxed);
    atomic_store_explicit(&slot->freed_bytes, 0, memory_order_relaxed);
    atomic_store_explicit(&slot->calls, 0, memory_order_relaxed);
    atomic_store_explicit(&slot->idle, 0, memory_order_relaxed);
    atomic_store_explicit(&slot->owner, 0, memory_order_release);
}

/* A process that the last scan has not seen yet may already own slots: only one that is a zombie or
 * cannot be signalled any more is gone. */
static bool is_gone(const struct fb_family *family, pid_t pid)
{
    const struct fb_process *process = fb_family_find(family, pid);
    char path[64];
    if (process != NULL)
        return process->zombie;
    (void)snprintf(path, sizeof path, "/proc/%ld", (long)pid);
    return access(path, F_OK) != 0;
}

void fb_live_read(struct fb_live *live, const struct fb_family *family, struct fb_live_count *out)
{
    uint32_t used = atomic_load_explicit(&live->block->used, memory_order_acquire);
    int64_t *balance = fb_alloc(family->count + 1, sizeof *balance);
    *out = (struct fb_live_count){0};
    for (uint32_t i = 0; i < used && i < FB_LIVE_SLOTS; i++) {
        struct fb_live_slot *slot = &live->block->slots[i];
        pid_t owner = atomic_load_explicit(&slot->owner, memory_order_acquire);
        if (owner == 0)
            continue;
        const struct fb_process *process = fb_family_find(family, owner);
        if (is_gone(family, owner)) {
            forget(live, slot);
            continue;
        }
        /* Freed first: a block that comes and goes in between then counts as live, not as −1. */
        uint64_t freed = atomic_load_explicit(&slot->freed_bytes, memory_order_acquire);
        uint64_t allocated = atomic_load_explicit(&slot->allocated_bytes, memory_order_acquire);
        out->volume_bytes += allocated;
        out->calls += atomic_load_explicit(&slot->calls, memory_order_relaxed);
        balance[process != NULL ? process - family->members : (ptrdiff_t)family->count] +=
            (int64_t)(allocated - freed);
    }
    for (size_t i = 0; i <= family->count; i++)
        out->live_bytes += balance[i] > 0 ? (uint64_t)balance[i] : 0;
    out->volume_bytes += live->gone_bytes;
    out->calls += live->gone_calls;
    free(balance);
}
