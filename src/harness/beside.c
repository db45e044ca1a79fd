#include "harness/beside.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define PAGEMAP_PRESENT (UINT64_C(1) << 63)
#define PAGEMAP_SWAPPED (UINT64_C(1) << 62)
#define PAGEMAP_FILE (UINT64_C(1) << 61) /* or shared anonymous */
#define WORDS 1024U

struct sum {
    const struct fb_beside *beside;
    int pagemap;
    uint64_t page_bytes;
    struct fb_beside_sum total;
};

/* Resident or swapped pages of a private range that are nobody's but the process's. */
static uint64_t anonymous_in(const struct sum *sum, uint64_t start, uint64_t end)
{
    uint64_t words[WORDS], found = 0;
    for (uint64_t page = start / sum->page_bytes; page < end / sum->page_bytes;) {
        uint64_t want = end / sum->page_bytes - page;
        want = want < WORDS ? want : WORDS;
        ssize_t got = pread(sum->pagemap, words, want * sizeof *words, (off_t)(page * 8));
        if (got < (ssize_t)sizeof *words)
            break;
        uint64_t count = (uint64_t)got / sizeof *words;
        for (uint64_t i = 0; i < count; i++)
            found += (words[i] & PAGEMAP_FILE) == 0 &&
                     (words[i] & (PAGEMAP_PRESENT | PAGEMAP_SWAPPED)) != 0;
        page += count;
    }
    return found * sum->page_bytes;
}

/* The mapping's bytes from start to end; at most `left` of them are not counted yet. */
static uint64_t part_of(const struct sum *sum, const struct fb_mapping *mapping, uint64_t start,
                        uint64_t end, uint64_t left)
{
    uint64_t bytes = 0;
    if (start <= mapping->start && end >= mapping->end)
        bytes = mapping->anonymous_bytes;
    else if (sum->pagemap >= 0)
        bytes = anonymous_in(sum, start, end);
    else
        bytes = (uint64_t)((double)mapping->anonymous_bytes * (double)(end - start) /
                           (double)(mapping->end - mapping->start));
    return bytes < left ? bytes : left;
}

/* Whether the mapping has a thread's stack, from its start (below is the guard) to *end: two that
 * meet, as a stack and an allocator's memory above it, are one mapping to the kernel. */
static bool has_stack(const struct sum *sum, const struct fb_mapping *mapping, uint64_t *end)
{
    bool found = false;
    for (size_t i = 0; i < sum->beside->stack_count; i++) {
        uint64_t top = sum->beside->stacks[i];
        if (top < mapping->start || top >= mapping->end)
            continue;
        uint64_t stack_end = (top / sum->page_bytes + 1) * sum->page_bytes;
        *end = !found || stack_end > *end ? stack_end : *end;
        found = true;
    }
    return found;
}

/* What the program mapped, from start on. Returns its bytes. */
static uint64_t mapped_in(const struct sum *sum, const struct fb_mapping *mapping, uint64_t start,
                          uint64_t left)
{
    const struct fb_ranges *mapped = sum->beside->mapped;
    uint64_t all = left;
    for (size_t i = fb_ranges_find(mapped, start); i < mapped->count; i++) {
        const struct fb_range *range = &mapped->items[i];
        if (range->start >= mapping->end)
            break;
        uint64_t from = range->start > start ? range->start : start;
        uint64_t to = range->end < mapping->end ? range->end : mapping->end;
        left -= part_of(sum, mapping, from, to, left);
    }
    return all - left;
}

/* Data of a file, a stack, what the program mapped: one mapping may be each in part, in this
 * order. */
static void add_parts(struct sum *sum, const struct fb_mapping *mapping)
{
    struct fb_recording_memory *memory = &sum->total.memory;
    uint64_t left = mapping->anonymous_bytes, start = mapping->data_end, stack_end = 0;
    if (mapping->data_end > mapping->start) {
        uint64_t bytes = part_of(sum, mapping, mapping->start, mapping->data_end, left);
        *(mapping->is_recorder ? &sum->total.recorder_bytes : &memory->library_bytes) += bytes;
        left -= bytes;
        memory->anonymous_bytes += mapping->is_recorder ? 0 : bytes;
    }
    memory->anonymous_bytes += left;
    if (fb_ranges_overlap(sum->beside->mapped, start, start + 1) == 0 &&
        has_stack(sum, mapping, &stack_end)) {
        uint64_t bytes = part_of(sum, mapping, start, stack_end, left);
        memory->stack_bytes += bytes;
        left -= bytes;
        start = stack_end;
    }
    memory->mapped_bytes += mapped_in(sum, mapping, start, left);
}

static void add_mapping(struct sum *sum, const struct fb_mapping *mapping)
{
    if (mapping->is_shared || mapping->anonymous_bytes == 0)
        return;
    if (!mapping->is_heap && !mapping->is_stack) {
        add_parts(sum, mapping);
        return;
    }
    sum->total.memory.anonymous_bytes += mapping->anonymous_bytes;
    if (mapping->is_stack)
        sum->total.memory.stack_bytes += mapping->anonymous_bytes;
}

void fb_beside_sum(const struct fb_mappings *mappings, int pagemap, const struct fb_beside *beside,
                   struct fb_beside_sum *out)
{
    struct sum sum = {
        .beside = beside, .pagemap = pagemap, .page_bytes = (uint64_t)sysconf(_SC_PAGESIZE)};
    for (size_t i = 0; i < mappings->count; i++)
        add_mapping(&sum, &mappings->items[i]);
    struct fb_recording_memory *memory = &sum.total.memory;
    uint64_t heap = memory->anonymous_bytes - fb_recording_beside_bytes(memory);
    uint64_t own = beside->own_bytes < heap ? beside->own_bytes : heap;
    memory->anonymous_bytes -= own;
    sum.total.recorder_bytes += own;
    *out = sum.total;
}

int fb_beside_measure(pid_t pid, const struct fb_beside *beside, struct fb_beside_sum *out,
                      struct fb_error *err)
{
    char path[64];
    struct fb_mappings mappings;
    if (fb_mappings_read(pid, true, &mappings, err) != 0)
        return -1;
    (void)snprintf(path, sizeof path, "/proc/%ld/pagemap", (long)pid);
    int pagemap = open(path, O_RDONLY | O_CLOEXEC);
    fb_beside_sum(&mappings, pagemap, beside, out);
    if (pagemap >= 0)
        (void)close(pagemap);
    fb_mappings_deinit(&mappings);
    return 0;
}
