#include "tensor_arena/os.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <time.h>

enum { ANONYMOUS = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE };

static void *map_with(size_t bytes, int protection)
{
    int saved = errno;
    void *start = mmap(NULL, bytes, protection, ANONYMOUS, -1, 0);
    errno = saved;
    return start == MAP_FAILED ? NULL : start;
}

static int settle(int result, int saved)
{
    errno = saved;
    return result;
}

static void *reserve(size_t bytes)
{
    return map_with(bytes, PROT_NONE);
}

static int commit(void *start, size_t bytes)
{
    int saved = errno;
    return settle(mprotect(start, bytes, PROT_READ | PROT_WRITE), saved);
}

static void *map(size_t bytes)
{
    return map_with(bytes, PROT_READ | PROT_WRITE);
}

static void unmap(void *start, size_t bytes)
{
    int saved = errno;
    (void)munmap(start, bytes);
    errno = saved;
}

static void *remap(void *start, size_t old_bytes, size_t new_bytes)
{
    int saved = errno;
    void *moved = mremap(start, old_bytes, new_bytes, MREMAP_MAYMOVE);
    errno = saved;
    return moved == MAP_FAILED ? NULL : moved;
}

static int purge(void *start, size_t bytes)
{
    int saved = errno;
    return settle(madvise(start, bytes, MADV_DONTNEED), saved);
}

static int huge(void *start, size_t bytes, bool wanted)
{
    int saved = errno;
    return settle(madvise(start, bytes, wanted ? MADV_HUGEPAGE : MADV_NOHUGEPAGE), saved);
}

/* The coarse clock costs a third of the fine one, and pauses of less than 5 ms mean nothing here.
 */
static uint64_t now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

const struct ta_os ta_os_linux = {
    .reserve = reserve,
    .commit = commit,
    .map = map,
    .unmap = unmap,
    .remap = remap,
    .purge = purge,
    .huge = huge,
    .now_ns = now_ns,
};

const struct ta_os *ta_os = &ta_os_linux;

void ta_os_set(const struct ta_os *calls)
{
    ta_os = calls;
}

uint64_t ta_os_memory_bytes(void)
{
    struct sysinfo info;
    return sysinfo(&info) == 0 ? (uint64_t)info.totalram * info.mem_unit : UINT64_C(1) << 32;
}

uint64_t ta_os_address_bytes(void)
{
    struct rlimit limit;
    bool limited = getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
    return limited ? limit.rlim_cur : UINT64_C(1) << 46;
}
