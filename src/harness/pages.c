/* The pages of a process that its footprint counts. */
#include "harness/snapshot.h"

#include "base/alloc.h"
#include "harness/mappings.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* <linux/fs.h> of Linux 6.7: Debian 12's headers are older than kernels it may run on. */
struct scan_region {
    uint64_t start, end, categories;
};
struct scan_request {
    uint64_t size, flags, start, end, walk_end, regions, region_count, max_pages;
    uint64_t category_inverted, category_mask, category_anyof_mask, return_mask;
};
#define SCAN_IOCTL _IOWR('f', 16, struct scan_request)
enum {
    SCAN_FILE = 1 << 2,
    SCAN_PRESENT = 1 << 3,
    SCAN_SWAPPED = 1 << 4,
    SCAN_ZERO = 1 << 5,
    SCAN_HUGE = 1 << 6,
};

/* Bits of a pagemap entry. A page of zeros that is only read is present and of no file, but shared
 * with everyone: exclusive (Linux 4.2) tells it apart without the right to see frame numbers. */
#define ENTRY_PRESENT (UINT64_C(1) << 63)
#define ENTRY_SWAPPED (UINT64_C(1) << 62)
#define ENTRY_FILE (UINT64_C(1) << 61)
#define ENTRY_EXCLUSIVE (UINT64_C(1) << 56)

enum { REGIONS = 1024, ENTRIES = 8192 };

struct collector {
    struct fb_page_runs runs;
    size_t capacity;
    int fd; /* of pagemap */
    uint64_t page_bytes;
};

static void add_run(struct collector *to, uint64_t first, uint64_t count, uint32_t flags)
{
    struct fb_page_run *last = to->runs.count > 0 ? &to->runs.items[to->runs.count - 1] : NULL;
    if (last != NULL && last->first + last->count == first && last->flags == flags) {
        last->count += count;
        return;
    }
    if (to->runs.count == to->capacity) {
        to->capacity = to->capacity == 0 ? 1024 : to->capacity * 2;
        to->runs.items = fb_realloc(to->runs.items, to->capacity, sizeof *to->runs.items);
    }
    to->runs.items[to->runs.count++] = (struct fb_page_run){first, count, flags};
}

static uint32_t flags_of(uint64_t categories)
{
    return ((categories & SCAN_HUGE) != 0 ? FB_PAGES_HUGE : 0U) |
           ((categories & SCAN_SWAPPED) != 0 ? FB_PAGES_SWAPPED : 0U);
}

/* Pages of [start, end) that are present or swapped, of no file, and not the page of zeros. */
static int scan(struct collector *to, uint64_t start, uint64_t end)
{
    struct scan_region regions[REGIONS];
    while (start < end) {
        struct scan_request request = {
            .size = sizeof request,
            .start = start,
            .end = end,
            .regions = (uint64_t)(uintptr_t)regions,
            .region_count = REGIONS,
            .category_inverted = SCAN_FILE | SCAN_ZERO,
            .category_mask = SCAN_FILE | SCAN_ZERO,
            .category_anyof_mask = SCAN_PRESENT | SCAN_SWAPPED,
            .return_mask = SCAN_SWAPPED | SCAN_HUGE,
        };
        int found = ioctl(to->fd, SCAN_IOCTL, &request);
        if (found < 0 && errno == EINTR)
            continue;
        if (found < 0)
            return -1;
        for (int i = 0; i < found; i++)
            add_run(to, regions[i].start / to->page_bytes,
                    (regions[i].end - regions[i].start) / to->page_bytes,
                    flags_of(regions[i].categories));
        /* walk_end is not to be trusted: past 512 regions Linux 6.18 leaves it where its own buffer
         * was first full, and what follows would come twice. */
        start = found == REGIONS ? regions[REGIONS - 1].end : end;
    }
    return 0;
}

static bool counts(uint64_t entry)
{
    if ((entry & ENTRY_SWAPPED) != 0)
        return true;
    return (entry & ENTRY_PRESENT) != 0 && (entry & ENTRY_FILE) == 0 &&
           (entry & ENTRY_EXCLUSIVE) != 0;
}

static int read_entries(struct collector *to, uint64_t start, uint64_t end)
{
    uint64_t *entries = fb_alloc(ENTRIES, sizeof *entries);
    uint64_t page = start / to->page_bytes, last = end / to->page_bytes;
    int result = 0;
    while (page < last && result == 0) {
        uint64_t want = last - page < ENTRIES ? last - page : ENTRIES;
        ssize_t got = pread(to->fd, entries, want * sizeof *entries, (off_t)(page * 8));
        if (got < (ssize_t)sizeof *entries) {
            result = -1; /* the process has gone */
            break;
        }
        uint64_t count = (uint64_t)got / sizeof *entries;
        for (uint64_t i = 0; i < count; i++)
            if (counts(entries[i]))
                add_run(to, page + i, 1, (entries[i] & ENTRY_SWAPPED) != 0 ? FB_PAGES_SWAPPED : 0U);
        page += count;
    }
    free(entries);
    return result;
}

static bool has_ioctl(int fd)
{
    struct scan_request nothing = {.size = sizeof nothing};
    return ioctl(fd, SCAN_IOCTL, &nothing) >= 0;
}

static int collect(struct collector *to, bool by_ioctl, const struct fb_mappings *mappings)
{
    for (size_t i = 0; i < mappings->count; i++) {
        const struct fb_mapping *mapping = &mappings->items[i];
        if (mapping->is_shared || mapping->is_hugetlb || mapping->anonymous_bytes == 0)
            continue;
        int result = by_ioctl ? scan(to, mapping->start, mapping->end)
                              : read_entries(to, mapping->start, mapping->end);
        if (result != 0)
            return -1;
    }
    return 0;
}

int fb_snapshot_pages(pid_t pid, enum fb_page_source source, struct fb_page_runs *out,
                      struct fb_error *err)
{
    char path[64];
    struct fb_mappings mappings = {0};
    (void)snprintf(path, sizeof path, "/proc/%ld/pagemap", (long)pid);
    struct collector collector = {.fd = open(path, O_RDONLY | O_CLOEXEC),
                                  .page_bytes = (uint64_t)sysconf(_SC_PAGESIZE)};
    if (collector.fd < 0)
        return fb_fail_errno(err, "cannot open %s", path);
    bool by_ioctl =
        source == FB_PAGES_IOCTL || (source == FB_PAGES_BEST && has_ioctl(collector.fd));
    /* Reserved address space may be terabytes: an entry for each of its pages would take minutes,
     * so the slower source first asks which mappings have pages at all. */
    int result = fb_mappings_read(pid, !by_ioctl, &mappings, err);
    if (result == 0 && collect(&collector, by_ioctl, &mappings) != 0)
        result = fb_fail_errno(err, "cannot read %s", path);
    if (result == 0)
        *out = collector.runs;
    else
        free(collector.runs.items);
    fb_mappings_deinit(&mappings);
    (void)close(collector.fd);
    return result;
}
