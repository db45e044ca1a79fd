#include "harness/probe.h"

#include "harness/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* linux/fs.h of 6.7; Debian 12's headers lack it. */
struct scan {
    uint64_t size, flags, start, end, walk_end, vec, vec_len, max_pages;
    uint64_t category_inverted, category_mask, category_anyof_mask, return_mask;
};
struct region {
    uint64_t start, end, categories;
};
#define SCAN_IOCTL _IOWR('f', 16, struct scan)
#define SCAN_PRESENT (UINT64_C(1) << 3)
#define PAGEMAP_PRESENT (UINT64_C(1) << 63)
#define THP_EXCEPT_ADVISED (1UL << 1)

enum { TRY_PAGES = 4 };

static size_t page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static unsigned char *map_pages(size_t pages)
{
    void *memory =
        mmap(NULL, pages * page_size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static uint64_t footprint_pages(void)
{
    struct fb_statm statm = {0, 0};
    if (fb_proc_statm(getpid(), &statm, NULL) != 0)
        return 0;
    return (statm.resident_bytes - statm.shared_bytes) / page_size();
}

/* How far statm is off after touching so many pages. */
static uint64_t statm_error(size_t pages)
{
    unsigned char *memory = map_pages(pages);
    if (memory == NULL)
        return UINT64_MAX;
    (void)madvise(memory, pages * page_size(), MADV_NOHUGEPAGE);
    (void)footprint_pages(); /* the reading's own stack pages are there from now on */
    uint64_t before = footprint_pages();
    for (size_t i = 0; i < pages; i++)
        *(volatile unsigned char *)(memory + i * page_size()) = 1;
    uint64_t grown = footprint_pages() - before;
    (void)munmap(memory, pages * page_size());
    return grown > pages ? grown - pages : pages - grown;
}

bool fb_probe_statm(uint64_t *worst_pages)
{
    static const size_t counts[] = {1, 3, 17, 63, 64, 65, 257, 1000};
    uint64_t worst = 0;
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        uint64_t error = statm_error(counts[i]);
        worst = error > worst ? error : worst;
    }
    if (worst_pages != NULL)
        *worst_pages = worst;
    return worst == 0;
}

/* Runs the attempt in a child, for settings that cannot be taken back. */
static bool in_child(bool (*attempt)(void))
{
    int status = 0;
    pid_t pid = fork();
    if (pid == 0)
        _exit(attempt() ? 0 : 1);
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool switch_randomisation_off(void)
{
    int now = personality(0xffffffff);
    return now >= 0 && personality((unsigned long)now | ADDR_NO_RANDOMIZE) >= 0;
}

bool fb_probe_personality(void)
{
    return in_child(switch_randomisation_off);
}

static bool disable_thp_except_advised(void)
{
    return prctl(PR_SET_THP_DISABLE, 1UL, THP_EXCEPT_ADVISED, 0UL, 0UL) == 0;
}

bool fb_probe_thp_except_advised(void)
{
    return in_child(disable_thp_except_advised);
}

bool fb_probe_memfd(void)
{
    int fd = memfd_create("fragbench-probe", MFD_CLOEXEC);
    if (fd < 0)
        return false;
    bool sized = ftruncate(fd, (off_t)page_size()) == 0;
    (void)close(fd);
    return sized;
}

/* Pages 0 and 2 of four touched, so that a right answer is not all or nothing. */
static unsigned char *map_pattern(void)
{
    unsigned char *memory = map_pages(TRY_PAGES);
    if (memory != NULL) {
        *(volatile unsigned char *)memory = 1;
        *(volatile unsigned char *)(memory + 2 * page_size()) = 1;
    }
    return memory;
}

bool fb_probe_pagemap(void)
{
    uint64_t words[TRY_PAGES] = {0};
    unsigned char *memory = map_pattern();
    int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    off_t offset = (off_t)((uintptr_t)memory / page_size() * sizeof words[0]);
    bool read_all = memory != NULL && fd >= 0 &&
                    pread(fd, words, sizeof words, offset) == (ssize_t)sizeof words;
    if (fd >= 0)
        (void)close(fd);
    if (memory != NULL)
        (void)munmap(memory, TRY_PAGES * page_size());
    return read_all && (words[0] & PAGEMAP_PRESENT) != 0 && (words[1] & PAGEMAP_PRESENT) == 0 &&
           (words[2] & PAGEMAP_PRESENT) != 0 && (words[3] & PAGEMAP_PRESENT) == 0;
}

bool fb_probe_pagemap_scan(void)
{
    struct region regions[TRY_PAGES];
    unsigned char *memory = map_pattern();
    int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    struct scan scan = {.size = sizeof scan,
                        .start = (uintptr_t)memory,
                        .end = (uintptr_t)memory + TRY_PAGES * page_size(),
                        .vec = (uintptr_t)regions,
                        .vec_len = TRY_PAGES,
                        .category_mask = SCAN_PRESENT,
                        .return_mask = SCAN_PRESENT};
    bool found = memory != NULL && fd >= 0 && ioctl(fd, SCAN_IOCTL, &scan) == 2;
    if (fd >= 0)
        (void)close(fd);
    if (memory != NULL)
        (void)munmap(memory, TRY_PAGES * page_size());
    return found;
}
