#include "harness/exec/linkmap.h"

#include "base/alloc.h"
#include "harness/proc.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum { AUXV_MAX = 64, SEGMENTS_MAX = 64, DYNAMIC_MAX = 256 };

struct auxiliary {
    uint64_t segments, segment_count, secure;
};

int fb_linkmap_peek(pid_t pid, uint64_t address, void *out, size_t size)
{
    /* cppcheck-suppress ctuuninitvar ; out is written to */
    struct iovec local = {out, size}, remote = {(void *)(uintptr_t)address, size};
    return process_vm_readv(pid, &local, 1, &remote, 1, 0) == (ssize_t)size ? 0 : -1;
}

/* A string that may end close to the end of its page. */
static char *peek_text(pid_t pid, uint64_t address)
{
    char text[PATH_MAX];
    size_t used = 0;
    while (used < sizeof text) {
        size_t piece = 64 - (size_t)((address + used) % 64);
        if (piece > sizeof text - used)
            piece = sizeof text - used;
        if (fb_linkmap_peek(pid, address + used, text + used, piece) != 0)
            return NULL;
        if (memchr(text + used, '\0', piece) != NULL)
            return fb_strdup(text);
        used += piece;
    }
    return NULL;
}

/* errno tells whether it was forbidden. */
static int read_auxiliary(pid_t pid, struct auxiliary *out)
{
    char path[64];
    Elf64_auxv_t vector[AUXV_MAX];
    (void)snprintf(path, sizeof path, "/proc/%ld/auxv", (long)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    ssize_t got = read(fd, vector, sizeof vector);
    (void)close(fd);
    if (got < (ssize_t)sizeof *vector) { /* empty when the process is ending */
        errno = ESRCH;
        return -1;
    }
    *out = (struct auxiliary){0};
    for (size_t i = 0; i < (size_t)got / sizeof *vector; i++) {
        if (vector[i].a_type == AT_PHDR)
            out->segments = vector[i].a_un.a_val;
        else if (vector[i].a_type == AT_PHNUM)
            out->segment_count = vector[i].a_un.a_val;
        else if (vector[i].a_type == AT_SECURE)
            out->secure = vector[i].a_un.a_val;
    }
    return 0;
}

/* Whether the process took another user's or group's rights than who started it, as
 * /proc/PID/status says: "Uid:\t1000\t0\t…", real and effective. */
static bool has_raised(pid_t pid)
{
    static const char *const keys[] = {"\nUid:", "\nGid:"};
    char path[64], text[4096];
    (void)snprintf(path, sizeof path, "/proc/%ld/status", (long)pid);
    if (fb_proc_read(path, text, sizeof text, NULL) != 0)
        return false;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        char *at = strstr(text, keys[i]);
        if (at == NULL)
            continue;
        unsigned long real = strtoul(at + strlen(keys[i]), &at, 10);
        if (strtoul(at, NULL, 10) != real)
            return true;
    }
    return false;
}

/* What the program headers in memory say. */
struct layout {
    bool interpreter;
    uint64_t dynamic; /* address; 0: none */
};

static int read_layout(pid_t pid, const struct auxiliary *auxiliary, struct layout *out)
{
    Elf64_Phdr segments[SEGMENTS_MAX];
    size_t count = auxiliary->segment_count;
    if (count == 0 || count > SEGMENTS_MAX ||
        fb_linkmap_peek(pid, auxiliary->segments, segments, count * sizeof *segments) != 0)
        return -1;
    uint64_t base = 0;
    *out = (struct layout){0};
    for (size_t i = 0; i < count; i++)
        if (segments[i].p_type == PT_PHDR)
            base = auxiliary->segments - segments[i].p_vaddr;
    for (size_t i = 0; i < count; i++) {
        if (segments[i].p_type == PT_INTERP)
            out->interpreter = true;
        else if (segments[i].p_type == PT_DYNAMIC)
            out->dynamic = base + segments[i].p_vaddr;
    }
    return 0;
}

/* ld.so leaves the address of its list in the program's dynamic section; 0 until then. */
static uint64_t find_list(pid_t pid, uint64_t dynamic)
{
    struct r_debug debug;
    for (size_t i = 0; i < DYNAMIC_MAX; i++) {
        Elf64_Dyn entry;
        if (fb_linkmap_peek(pid, dynamic + i * sizeof entry, &entry, sizeof entry) != 0 ||
            entry.d_tag == DT_NULL)
            return 0;
        if (entry.d_tag != DT_DEBUG || entry.d_un.d_ptr == 0)
            continue;
        if (fb_linkmap_peek(pid, entry.d_un.d_ptr, &debug, sizeof debug) != 0 ||
            debug.r_state != RT_CONSISTENT)
            return 0;
        return (uint64_t)(uintptr_t)debug.r_map;
    }
    return 0;
}

static char *executable_of(pid_t pid)
{
    char path[64], target[PATH_MAX];
    (void)snprintf(path, sizeof path, "/proc/%ld/exe", (long)pid);
    ssize_t length = readlink(path, target, sizeof target - 1);
    if (length <= 0)
        return NULL;
    target[length] = '\0';
    return fb_strdup(target);
}

static bool add(struct fb_linkmap *map, char *path, uint64_t base)
{
    if (path == NULL)
        return false;
    map->objects = fb_realloc(map->objects, map->count + 1, sizeof *map->objects);
    map->objects[map->count++] = (struct fb_linkmap_object){path, base};
    return true;
}

static bool read_list(pid_t pid, uint64_t address, struct fb_linkmap *map)
{
    for (size_t i = 0; address != 0 && i < FB_LINKMAP_MAX; i++) {
        struct link_map
            object; /* its public head: address, name, dynamic section, next, previous */
        if (fb_linkmap_peek(pid, address, &object, sizeof object) != 0)
            return false;
        char *path =
            i == 0 ? executable_of(pid) : peek_text(pid, (uint64_t)(uintptr_t)object.l_name);
        if (!add(map, path, object.l_addr))
            return false;
        address = (uint64_t)(uintptr_t)object.l_next;
    }
    return map->count > 1;
}

static bool is_foreign(pid_t pid)
{
    char path[64];
    unsigned char identity[EI_NIDENT];
    (void)snprintf(path, sizeof path, "/proc/%ld/exe", (long)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? read(fd, identity, sizeof identity) : -1;
    if (fd >= 0)
        (void)close(fd);
    return got == (ssize_t)sizeof identity && identity[EI_CLASS] != ELFCLASS64;
}

static enum fb_linkmap_kind read_map(pid_t pid, struct fb_linkmap *map)
{
    struct auxiliary auxiliary;
    struct layout layout;
    if (is_foreign(pid))
        return FB_LINKMAP_FOREIGN;
    if (read_auxiliary(pid, &auxiliary) != 0) {
        if (errno != EACCES && errno != EPERM)
            return FB_LINKMAP_GONE;
        return has_raised(pid) ? FB_LINKMAP_SECURE : FB_LINKMAP_UNREADABLE;
    }
    if (auxiliary.secure != 0)
        return FB_LINKMAP_SECURE;
    if (read_layout(pid, &auxiliary, &layout) != 0)
        return errno == EPERM ? FB_LINKMAP_UNREADABLE : FB_LINKMAP_EARLY;
    if (!layout.interpreter || layout.dynamic == 0)
        return FB_LINKMAP_STATIC;
    uint64_t list = find_list(pid, layout.dynamic);
    return list != 0 && read_list(pid, list, map) ? FB_LINKMAP_COMPLETE : FB_LINKMAP_EARLY;
}

void fb_linkmap_read(pid_t pid, struct fb_linkmap *out)
{
    *out = (struct fb_linkmap){0};
    out->kind = read_map(pid, out);
}

void fb_linkmap_deinit(struct fb_linkmap *map)
{
    for (size_t i = 0; i < map->count; i++)
        free(map->objects[i].path);
    free(map->objects);
    *map = (struct fb_linkmap){0};
}
