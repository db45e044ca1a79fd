/* The shared block of a run: sized from the trace, filled before exec. */
#include "harness/run.h"

#include "base/units.h"
#include "harness/proc.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Distances that no allocator rounds away: odd multiples of a page. */
enum { BRK_SHIFT_PAGES = 37 };

/* Appends count × size bytes at a page boundary; false on overflow. */
static bool place(uint64_t *total, uint64_t count, uint64_t size, uint64_t page_bytes,
                  uint64_t *offset)
{
    uint64_t bytes, end;
    if (__builtin_mul_overflow(count, size, &bytes) ||
        __builtin_add_overflow(*total, bytes, &end) ||
        __builtin_add_overflow(end, page_bytes - 1, &end))
        return false;
    *offset = *total;
    *total = end / page_bytes * page_bytes;
    return true;
}

static int lay_out(struct fb_control *control, const struct fb_run_request *request,
                   struct fb_error *err)
{
    uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t memory, total = 0, all, head;
    char text[64];
    control->sample_capacity = request->mode == FB_MODE_TIMING ? 0 : request->trace->sample_count;
    control->object_count = request->trace->slot_count;
    uint64_t details = request->mode == FB_MODE_TIMING ? 0 : control->object_count;
    control->counters_count = request->trace->thread_peak > 0 ? request->trace->thread_peak : 1;
    if (fb_proc_meminfo("MemTotal:", &memory, err) != 0)
        return -1;
    bool fits = place(&total, 1, sizeof(struct fb_shared), page_bytes, &head) &&
                place(&total, control->sample_capacity, sizeof(struct fb_sample), page_bytes,
                      &control->sample_offset) &&
                place(&total, control->object_count, sizeof(struct fb_object), page_bytes,
                      &control->object_offset) &&
                place(&total, UINT64_C(2) * FB_LATENCY_BUCKETS, sizeof(uint64_t), page_bytes,
                      &control->latency_offset) &&
                place(&total, control->counters_count, sizeof(struct fb_counters), page_bytes,
                      &control->counters_offset);
    all = total;
    fits = fits && place(&all, details, sizeof(struct fb_object_detail), page_bytes,
                         &control->detail_offset);
    if (!fits || (request->explain != FB_EXPLAIN_NONE ? all : total) > memory)
        return fb_fail(err, FB_ERROR_IO,
                       "the trace's object and sample tables do not fit into this machine's %s: "
                       "%llu objects at once; lower --scale",
                       fb_units_bytes(memory, text, sizeof text),
                       (unsigned long long)control->object_count);
    control->total_bytes = total;
    control->detail_bytes = all - total;
    return 0;
}

static void list_keys(struct fb_shared *shared, const struct fb_contender *contender)
{
    size_t used = 0;
    for (size_t i = 0; i < contender->tunable_count; i++) {
        const char *key = contender->tunables[i].key;
        const struct fb_tunable *tunable = fb_backend_tunable(contender->backend, key);
        size_t length = strlen(key);
        if (tunable == NULL || tunable->readback != FB_READBACK_WORKER ||
            used + length + 2 > sizeof shared->readback_keys)
            continue;
        memcpy(shared->readback_keys + used, key, length);
        shared->readback_keys[used + length] = '\n';
        used += length + 1;
    }
}

/* Who wraps another one is purged by purging that. */
static uint32_t purge_of(const struct fb_contender *contender)
{
    const struct fb_backend *backend = contender->backend;
    if (backend == NULL)
        return FB_PURGE_DETECT;
    if ((backend->flags & FB_BACKEND_WRAPS) == 0)
        return (uint32_t)backend->purge;
    return contender->inner != NULL ? (uint32_t)contender->inner->purge : FB_PURGE_GLIBC;
}

static void fill(const struct fb_control *control, const struct fb_run_request *request)
{
    const struct fb_backend *backend = request->contender->backend;
    struct fb_shared *shared = control->shared;
    bool null = backend != NULL && (backend->flags & FB_BACKEND_NULL) != 0;
    shared->magic = FB_SHARED_MAGIC;
    shared->version = FB_SHARED_VERSION;
    shared->clock_mode = request->clock;
    shared->order = request->order;
    shared->mode = request->mode;
    shared->flags = (null ? FB_RUN_NULL : 0U) | (request->verify ? FB_RUN_VERIFY : 0U) |
                    (request->explain != FB_EXPLAIN_NONE ? FB_RUN_EXPLAIN : 0U);
    shared->purge = purge_of(request->contender);
    shared->brk_shift_bytes =
        (uint64_t)request->layout * BRK_SHIFT_PAGES * (uint64_t)sysconf(_SC_PAGESIZE);
    shared->sample_offset = control->sample_offset;
    shared->sample_capacity = control->sample_capacity;
    shared->object_offset = control->object_offset;
    shared->object_count = control->object_count;
    shared->latency_offset = control->latency_offset;
    shared->counters_offset = control->counters_offset;
    shared->counters_count = control->counters_count;
    shared->detail_offset = control->detail_offset;
    shared->detail_bytes = control->detail_bytes;
    shared->pin_cpu = -1;
    shared->total_bytes = control->total_bytes;
    list_keys(shared, request->contender);
    shared->ready = 1;
}

int fb_control_open(struct fb_control *control, const struct fb_run_request *request,
                    struct fb_error *err)
{
    *control = (struct fb_control){.fd = -1};
    if (lay_out(control, request, err) != 0)
        return -1;
    control->fd = memfd_create("fragbench", MFD_CLOEXEC);
    if (control->fd < 0)
        return fb_fail_errno(err, "cannot make the shared block (memfd_create)");
    uint64_t file_bytes = control->total_bytes + control->detail_bytes;
    if (ftruncate(control->fd, (off_t)file_bytes) != 0) {
        (void)fb_fail_errno(err, "cannot size the shared block");
        goto out;
    }
    void *memory = mmap(NULL, file_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, control->fd, 0);
    if (memory == MAP_FAILED) {
        (void)fb_fail_errno(err, "cannot map the shared block");
        goto out;
    }
    control->shared = memory;
    fill(control, request);
    return 0;
out:
    fb_control_close(control);
    return -1;
}

void fb_control_close(struct fb_control *control)
{
    if (control->shared != NULL)
        (void)munmap(control->shared, control->total_bytes + control->detail_bytes);
    if (control->fd >= 0)
        (void)close(control->fd);
    *control = (struct fb_control){.fd = -1};
}
