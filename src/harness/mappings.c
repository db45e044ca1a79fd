#include "harness/mappings.h"

#include "base/alloc.h"
#include "harness/data_end.h"

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
        .is_recorder = name != NULL && strstr(name, "/libfragbench-recorder.so") != NULL,
        .is_heap = name != NULL && strncmp(name, "[heap]", 6) == 0,
        .is_stack = name != NULL && (strncmp(name, "[stack]", 7) == 0 ||
                                     strstr(name, "pthread stack") != NULL), /* glibc ≥ 2.39 */
    };
    bool is_file = name != NULL && name[0] == '/' && !out->is_shared;
    out->data_end = is_file ? out->end : out->start;
    return true;
}

/* The object whose file mappings were met last. */
struct module {
    pid_t pid;
    char *name;
    uint64_t start; /* of the one that has the file's first byte; 0: not met */
    bool is_data;   /* the last one met may be followed by .bss: private, and not code */
};

/* The name's own copy, without the newline; NULL: the mapping has none of a file. */
static char *file_name(const char *line)
{
    const char *name = strpbrk(line, "[/");
    return name != NULL && name[0] == '/' ? fb_format("%.*s", (int)strcspn(name, "\n"), name)
                                          : NULL;
}

/* The object's file as the process sees it, whose root may be another. */
static uint64_t module_end(const struct module *module)
{
    char *path = fb_format("/proc/%ld/root%s", (long)module->pid, module->name);
    uint64_t end = fb_data_end(path, module->start);
    free(path);
    return end;
}

/* "r-xp" and the offset in the file. */
static const char *protection(const char *line)
{
    return strchr(line, ' ') + 1;
}

/* Code may be mapped a second time, from the middle of its file, as V8 does with its own: an object
 * begins where its file's first byte is. */
static void meet_file(struct module *module, char *name, const char *line,
                      const struct fb_mapping *mapping)
{
    bool first_byte = strtoull(strchr(protection(line), ' '), NULL, 16) == 0;
    if (module->name == NULL || strcmp(module->name, name) != 0)
        module->start = 0;
    if (first_byte)
        module->start = mapping->start;
    module->is_data = protection(line)[2] != 'x' && !mapping->is_shared;
    free(module->name);
    module->name = name;
}

static void follow_module(struct module *module, const char *line, const struct fb_mapping *before,
                          struct fb_mapping *mapping)
{
    char *name = file_name(line);
    if (name != NULL) {
        meet_file(module, name, line, mapping);
        return;
    }
    bool writable = protection(line)[1] == 'w';
    module->is_data = module->is_data && writable;
    if (!module->is_data || module->start == 0 || before == NULL ||
        before->data_end != mapping->start || before->data_end == before->start ||
        mapping->is_shared || strchr(line, '[') != NULL)
        return;
    uint64_t end = module_end(module);
    if (end > mapping->start)
        mapping->data_end = end < mapping->end ? end : mapping->end;
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

static void parse(FILE *file, pid_t pid, bool with_sizes, struct fb_mappings *out)
{
    struct module module = {.pid = pid};
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
        if (with_sizes) {
            mapping.anonymous_bytes = 0;
            follow_module(&module, line, out->count > 0 ? &out->items[out->count - 1] : NULL,
                          &mapping);
        }
        out->items[out->count++] = mapping;
    }
    free(line);
    free(module.name);
}

int fb_mappings_read(pid_t pid, bool with_sizes, struct fb_mappings *out, struct fb_error *err)
{
    char path[64];
    struct fb_mappings read = {0};
    (void)snprintf(path, sizeof path, "/proc/%ld/%s", (long)pid, with_sizes ? "smaps" : "maps");
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return fb_fail_errno(err, "cannot open %s", path);
    parse(file, pid, with_sizes, &read);
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
