#include "harness/proc.h"

#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_SIZE = 64, TEXT_SIZE = 8192 };

int fb_proc_read(const char *path, char *buffer, size_t size, struct fb_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fb_fail_errno(err, "cannot open %s", path);
    ssize_t got = fb_io_read_all(fd, buffer, size - 1);
    int saved = errno;
    (void)close(fd);
    errno = saved;
    if (got < 0)
        return fb_fail_errno(err, "cannot read %s", path);
    buffer[got] = '\0';
    return 0;
}

static int read_of(pid_t pid, const char *name, char *text, size_t size, struct fb_error *err)
{
    char path[PATH_SIZE];
    (void)snprintf(path, sizeof path, "/proc/%ld/%s", (long)pid, name);
    return fb_proc_read(path, text, size, err);
}

/* The text after key at the start of a line, or NULL. */
static const char *after_key(const char *text, const char *key)
{
    size_t length = strlen(key);
    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        if (*line == '\n')
            line++;
        if (strncmp(line, key, length) == 0)
            return line + length;
    }
    return NULL;
}

int fb_proc_field_parse(const char *text, const char *key, uint64_t *bytes)
{
    const char *value = after_key(text, key);
    if (value == NULL)
        return -1;
    char *end;
    errno = 0;
    unsigned long long number = strtoull(value, &end, 10);
    if (end == value || errno != 0)
        return -1;
    *bytes = strncmp(end, " kB", 3) == 0 ? number * 1024U : number;
    return 0;
}

int fb_proc_statm_parse(const char *text, uint64_t page_bytes, struct fb_statm *out)
{
    uint64_t pages[3]; /* size, resident, shared */
    for (size_t i = 0; i < 3; i++) {
        char *end;
        pages[i] = strtoull(text, &end, 10);
        if (end == text)
            return -1;
        text = end;
    }
    *out = (struct fb_statm){pages[1] * page_bytes, pages[2] * page_bytes};
    return 0;
}

int fb_proc_statm(pid_t pid, struct fb_statm *out, struct fb_error *err)
{
    char text[PATH_SIZE * 2];
    if (read_of(pid, "statm", text, sizeof text, err) != 0)
        return -1;
    if (fb_proc_statm_parse(text, (uint64_t)sysconf(_SC_PAGESIZE), out) != 0)
        return fb_fail(err, FB_ERROR_IO, "/proc/%ld/statm is empty: the process has ended",
                       (long)pid);
    return 0;
}

int fb_proc_rollup_parse(const char *text, struct fb_rollup *out)
{
    struct fb_rollup read = {0};
    const struct {
        const char *key;
        uint64_t *value;
    } rows[] = {
        {"Rss:", &read.rss_bytes},           {"Anonymous:", &read.anonymous_bytes},
        {"LazyFree:", &read.lazyfree_bytes}, {"AnonHugePages:", &read.huge_bytes},
        {"Swap:", &read.swap_bytes},         {"Pss_Shmem:", &read.shmem_bytes},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (fb_proc_field_parse(text, rows[i].key, rows[i].value) != 0)
            return -1;
    *out = read;
    return 0;
}

int fb_proc_rollup(pid_t pid, struct fb_rollup *out, struct fb_error *err)
{
    char text[TEXT_SIZE] = "";
    if (read_of(pid, "smaps_rollup", text, sizeof text, err) != 0)
        return -1;
    if (fb_proc_rollup_parse(text, out) != 0)
        return fb_fail(err, FB_ERROR_IO, "/proc/%ld/smaps_rollup lacks fields of Linux 5.10",
                       (long)pid);
    return 0;
}

int fb_proc_held(pid_t pid, uint64_t *bytes, struct fb_error *err)
{
    char text[TEXT_SIZE] = "";
    uint64_t anonymous, swap = 0;
    if (read_of(pid, "status", text, sizeof text, err) != 0)
        return -1;
    if (fb_proc_field_parse(text, "RssAnon:", &anonymous) != 0)
        return fb_fail(err, FB_ERROR_IO, "/proc/%ld/status has no RssAnon: the process has ended",
                       (long)pid);
    if (fb_proc_field_parse(text, "VmSwap:", &swap) != 0)
        swap = 0; /* a kernel built without swap has no such line */
    *bytes = anonymous + swap;
    return 0;
}

int fb_proc_meminfo(const char *key, uint64_t *bytes, struct fb_error *err)
{
    char text[TEXT_SIZE] = "";
    if (fb_proc_read("/proc/meminfo", text, sizeof text, err) != 0)
        return -1;
    if (fb_proc_field_parse(text, key, bytes) != 0)
        return fb_fail(err, FB_ERROR_IO, "/proc/meminfo has no \"%s\"", key);
    return 0;
}

int fb_proc_oom_kills(uint64_t *count, struct fb_error *err)
{
    char text[TEXT_SIZE * 2] = "";
    if (fb_proc_read("/proc/vmstat", text, sizeof text, err) != 0)
        return -1;
    if (fb_proc_field_parse(text, "oom_kill ", count) != 0)
        return fb_fail(err, FB_ERROR_IO, "/proc/vmstat has no oom_kill");
    return 0;
}
