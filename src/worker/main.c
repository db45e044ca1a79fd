/* fragbench-worker: replays one trace under the allocator that is preloaded.
 *
 * Started by fragbench only, with three descriptors (trace/shared.h). Exit codes:
 * 0 the outcome is in the shared block, 70 it could not even start.
 */
#include "worker/clock.h"
#include "worker/doorbell.h"
#include "worker/explain.h"
#include "worker/owner.h"
#include "worker/replay.h"
#include "worker/statm.h"

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { EXIT_NO_START = 70 };

static int complain(const char *text)
{
    const struct iovec line[] = {{(void *)(uintptr_t) "fragbench-worker: ", 18},
                                 {(void *)(uintptr_t)text, strlen(text)},
                                 {(void *)(uintptr_t) "\n", 1}};
    if (writev(STDERR_FILENO, line, 3) < 0)
        return EXIT_NO_START + 1; /* nobody will read it, but the code tells */
    return EXIT_NO_START;
}

static struct fb_shared *map_shared(void)
{
    struct stat status;
    uint64_t bytes = 0;
    if (fstat(FB_FD_SHARED, &status) != 0 || (size_t)status.st_size < sizeof(struct fb_shared) ||
        pread(FB_FD_SHARED, &bytes, sizeof bytes, offsetof(struct fb_shared, total_bytes)) !=
            (ssize_t)sizeof bytes ||
        bytes < sizeof(struct fb_shared) || bytes > (uint64_t)status.st_size)
        return NULL;
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, FB_FD_SHARED, 0);
    if (memory == MAP_FAILED)
        return NULL;
    struct fb_shared *shared = memory;
    bool right = shared->magic == FB_SHARED_MAGIC && shared->version == FB_SHARED_VERSION &&
                 shared->total_bytes + shared->detail_bytes == (uint64_t)status.st_size &&
                 shared->ready == 1;
    return right ? shared : NULL;
}

static bool map_details(struct fb_replay *replay)
{
    const struct fb_shared *shared = replay->shared;
    if (shared->detail_bytes == 0)
        return (shared->flags & FB_RUN_EXPLAIN) == 0;
    void *memory =
        mmap((void *)(uintptr_t)FB_DETAIL_ADDRESS, shared->detail_bytes, PROT_READ | PROT_WRITE,
             MAP_SHARED | MAP_FIXED_NOREPLACE, FB_FD_SHARED, (off_t)shared->detail_offset);
    if (memory == MAP_FAILED)
        return false;
    if ((shared->flags & FB_RUN_EXPLAIN) != 0)
        replay->details = memory;
    return true;
}

/* Faults on our own mappings would be booked to the allocator's account: take them first. */
static void prefault(const struct fb_replay *replay)
{
    enum { LIMIT = 1 << 30 };
    size_t table = replay->shared->object_count * sizeof *replay->objects;
    if (replay->trace.size_bytes <= LIMIT)
        (void)madvise((void *)(uintptr_t)replay->trace.header, replay->trace.size_bytes,
                      MADV_POPULATE_READ);
    if (table > 0 && table <= LIMIT)
        (void)madvise(replay->objects, table, MADV_POPULATE_WRITE);
    size_t details = replay->shared->object_count * sizeof *replay->details;
    if (replay->details != NULL && details > 0 && details <= LIMIT)
        (void)madvise(replay->details, details, MADV_POPULATE_WRITE);
    if (replay->shared->mode == FB_MODE_TIMING)
        (void)madvise(replay->alloc_latency, sizeof(uint64_t) * FB_LATENCY_BUCKETS * 2,
                      MADV_POPULATE_WRITE);
}

static void place(struct fb_replay *replay)
{
    char *base = (char *)replay->shared;
    replay->samples = (struct fb_sample *)(void *)(base + replay->shared->sample_offset);
    replay->objects = (struct fb_object *)(void *)(base + replay->shared->object_offset);
    replay->alloc_latency = (uint64_t *)(void *)(base + replay->shared->latency_offset);
    replay->free_latency = replay->alloc_latency + FB_LATENCY_BUCKETS;
    replay->counters = fb_shared_counters(replay->shared);
}

static uint64_t timer_ticks(void)
{
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < 1000; i++) {
        uint64_t begin = fb_clock_ticks();
        uint64_t ticks = fb_clock_ticks() - begin;
        least = ticks < least ? ticks : least;
    }
    return least;
}

static void introduce(struct fb_replay *replay)
{
    struct fb_shared *shared = replay->shared;
    fb_owner_report(shared);
    fb_explain_data_ranges(shared);
    shared->page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
    shared->cpus_seen = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
    replay->purge = (enum fb_purge)shared->purge;
    bool null = (shared->flags & FB_RUN_NULL) != 0;
    if (replay->purge == FB_PURGE_DETECT && !null)
        replay->purge = fb_owner_detect_purge();
    shared->purge_used = replay->purge;
    replay->usable_known = !null && fb_owner_knows_usable();
    replay->scopes = !null && fb_owner_knows_scopes();
    shared->timer_ticks = timer_ticks();
    fb_owner_read_back(shared, replay->purge);
}

int main(void)
{
    struct fb_replay replay = {.shared = map_shared(), .statm_fd = fb_statm_open()};
    if (replay.shared == NULL)
        return complain("no shared block: it is started by fragbench, not by hand");
    if (replay.statm_fd < 0)
        return complain("cannot open /proc/self/statm");
    const char *fault = fb_trace_open(FB_FD_TRACE, &replay.trace);
    if (fault != NULL)
        return complain(fault);
    if (replay.trace.header->slot_count > replay.shared->object_count)
        return complain("the shared block is smaller than the trace needs");
    uint64_t threads = replay.trace.header->thread_peak;
    if (threads > replay.shared->counters_count)
        return complain("the shared block has room for fewer threads than the trace needs");
    place(&replay);
    if (!map_details(&replay))
        return complain("cannot map the objects' details");
    introduce(&replay);
    prefault(&replay);
    struct fb_bell bell = {.kind = FB_BELL_READY};
    if (fb_doorbell_ring(&bell, true) < 0)
        return complain("the harness is gone");
    fb_replay_run(&replay);
    bell.kind = FB_BELL_END;
    (void)fb_doorbell_ring(&bell, false);
    /* Not exit(): destructors of the allocator under test may print or hang; nothing of ours needs
     * them. */
    _exit(0);
}
