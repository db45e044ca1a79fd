/* The mappings of a worker: how many, and how much of its RSS is the harness's own.
 *
 * Every shared mapping is the harness's: the block, the trace, thread stacks. No allocator that
 * fragbench knows makes one. Told by the flag: inode and device of a mapping and of fstat() differ
 * on overlayfs and btrfs. */
#include "harness/proc.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PAGEMAP_PRESENT (UINT64_C(1) << 63)

struct walk {
    int pagemap; /* -1: count only */
    uint64_t page_bytes;
};

struct mapping {
    uint64_t start, end;
    bool is_shared; /* the fourth permission letter */
};

/* "START-END PERM …", hexadecimal. */
static bool parse_line(const char *line, struct mapping *out)
{
    char *end;
    out->start = strtoull(line, &end, 16);
    if (*end != '-')
        return false;
    out->end = strtoull(end + 1, &end, 16);
    if (*end != ' ' || strnlen(end, 6) < 6)
        return false;
    out->is_shared = end[4] == 's';
    return true;
}

static uint64_t present_bytes(const struct walk *walk, const struct mapping *mapping)
{
    uint64_t words[1024], present = 0;
    uint64_t page = mapping->start / walk->page_bytes, last = mapping->end / walk->page_bytes;
    while (page < last) {
        uint64_t want = last - page < 1024 ? last - page : 1024;
        ssize_t got = pread(walk->pagemap, words, want * sizeof *words, (off_t)(page * 8));
        if (got < (ssize_t)sizeof *words)
            break; /* the process has gone; the caller notices by itself */
        uint64_t count = (uint64_t)got / sizeof *words;
        for (uint64_t i = 0; i < count; i++)
            present += (words[i] & PAGEMAP_PRESENT) != 0;
        page += count;
    }
    return present * walk->page_bytes;
}

static int walk_maps(FILE *maps, const struct walk *walk, struct fb_maps *out)
{
    char *line = NULL;
    size_t size = 0;
    struct fb_maps found = {0};
    struct mapping mapping;
    while (getline(&line, &size, maps) > 0) {
        found.count++;
        if (walk->pagemap >= 0 && parse_line(line, &mapping) && mapping.is_shared)
            found.harness_bytes += present_bytes(walk, &mapping);
    }
    free(line);
    if (ferror(maps))
        return -1;
    *out = found;
    return 0;
}

static int read_maps(pid_t pid, const struct walk *walk, struct fb_maps *out, struct fb_error *err)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%ld/maps", (long)pid);
    FILE *maps = fopen(path, "re");
    int result = maps == NULL ? -1 : walk_maps(maps, walk, out);
    if (result != 0)
        (void)fb_fail_errno(err, "cannot read %s", path);
    if (maps != NULL)
        (void)fclose(maps);
    return result;
}

int fb_proc_maps(pid_t pid, struct fb_maps *out, struct fb_error *err)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%ld/pagemap", (long)pid);
    struct walk walk = {open(path, O_RDONLY | O_CLOEXEC), (uint64_t)sysconf(_SC_PAGESIZE)};
    if (walk.pagemap < 0)
        return fb_fail_errno(err, "cannot open %s", path);
    int result = read_maps(pid, &walk, out, err);
    (void)close(walk.pagemap);
    return result;
}

int fb_proc_mappings(pid_t pid, uint64_t *count, struct fb_error *err)
{
    struct walk walk = {.pagemap = -1};
    struct fb_maps maps;
    if (read_maps(pid, &walk, &maps, err) != 0)
        return -1;
    *count = maps.count;
    return 0;
}
