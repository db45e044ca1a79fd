#include "harness/mappings.h"

#include "base/alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "START-END PERM OFFSET DEVICE INODE   NAME", or a line of sizes. */
static bool parse_head(const char *line, struct fb_mapping *out)
{
    char *end;
    uint64_t start = strtoull(line, &end, 16);
    if (end == line || *end != '-')
        return false;
    uint64_t stop = strtoull(end + 1, &end, 16);
    if (*end != ' ' || strnlen(end, 6) < 6)
        return false;
    if (start > INT64_MAX) /* vsyscall, in the kernel's half: no pages of the process */
        return false;
    const char *name = strpbrk(line, "[/");
    *out = (struct fb_mapping){
        .start = start,
        .end = stop,
        .anonymous_bytes = UINT64_MAX,
        .is_shared = end[4] == 's',
        .is_hugetlb = name != NULL && strncmp(name, "/anon_hugepage", 14) == 0,
        .is_file = name != NULL && name[0] == '/' && end[4] == 'p',
        .is_recorder = name != NULL && strstr(name, "/libfragbench-recorder.so") != NULL,
        .is_heap = name != NULL && strncmp(name, "[heap]", 6) == 0,
        .is_stack = name != NULL && (strncmp(name, "[stack]", 7) == 0 ||
                                     strstr(name, "pthread stack") != NULL), /* glibc ≥ 2.39 */
    };
    return true;
}

/* An object's .bss lies right behind its file's last part, without a name of its own. */
static void inherit(const struct fb_mapping *before, const char *line, struct fb_mapping *mapping)
{
    if (strpbrk(line, "[/") != NULL || before->end != mapping->start || mapping->is_shared)
        return;
    mapping->is_file = before->is_file;
    mapping->is_recorder = before->is_recorder;
}

static void add_size(const char *line, struct fb_mapping *to)
{
    bool counted = strncmp(line, "Anonymous:", 10) == 0 || strncmp(line, "Swap:", 5) == 0;
    if (counted)
        to->anonymous_bytes += strtoull(strchr(line, ':') + 1, NULL, 10) * 1024U;
    if (strncmp(line, "VmFlags:", 8) == 0 && strstr(line, " ht") != NULL)
        to->is_hugetlb = true;
}

static void parse(FILE *file, bool with_sizes, struct fb_mappings *out)
{
    char *line = NULL;
    size_t size = 0, capacity = 0;
    struct fb_mapping mapping;
    while (getline(&line, &size, file) > 0) {
        if (!parse_head(line, &mapping)) {
            if (with_sizes && out->count > 0)
                add_size(line, &out->items[out->count - 1]);
            continue;
        }
        if (out->count == capacity) {
            capacity = capacity == 0 ? 128 : capacity * 2;
            out->items = fb_realloc(out->items, capacity, sizeof *out->items);
        }
        if (with_sizes)
            mapping.anonymous_bytes = 0;
        if (out->count > 0)
            inherit(&out->items[out->count - 1], line, &mapping);
        out->items[out->count++] = mapping;
    }
    free(line);
}

int fb_mappings_read(pid_t pid, bool with_sizes, struct fb_mappings *out, struct fb_error *err)
{
    char path[64];
    struct fb_mappings read = {0};
    (void)snprintf(path, sizeof path, "/proc/%ld/%s", (long)pid, with_sizes ? "smaps" : "maps");
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return fb_fail_errno(err, "cannot open %s", path);
    parse(file, with_sizes, &read);
    int result = ferror(file) ? fb_fail_errno(err, "cannot read %s", path) : 0;
    (void)fclose(file);
    if (result == 0)
        *out = read;
    else
        fb_mappings_deinit(&read);
    return result;
}

bool fb_mappings_named(pid_t pid, const char *text)
{
    char path[64], *line = NULL;
    size_t size = 0;
    bool found = false;
    (void)snprintf(path, sizeof path, "/proc/%ld/maps", (long)pid);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return false;
    while (!found && getline(&line, &size, file) > 0)
        found = strstr(line, text) != NULL;
    free(line);
    (void)fclose(file);
    return found;
}

void fb_mappings_deinit(struct fb_mappings *mappings)
{
    free(mappings->items);
    *mappings = (struct fb_mappings){0};
}
