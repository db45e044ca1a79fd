/* A workload from a file. */
#include "base/alloc.h"
#include "trace/recording.h"
#include "workload/replica.h"
#include "workload/text.h"
#include "workload/workload.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Reads to the end of the file, or one byte past the limit (so that it is noticed); the size or
 * -1 with errno. Not by stat's size: a pipe or /proc file has none. */
static ssize_t read_all(int fd, char *text, size_t size)
{
    size_t used = 0;
    while (used < size) {
        ssize_t got = read(fd, text + used, size - used);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        used += (size_t)got;
    }
    return (ssize_t)used;
}

static int refuse(const char *path, struct fb_diagnostics *diagnostics)
{
    const char *reason = errno == EISDIR ? "it is a directory; name a file in it"
                         : errno == ENOENT
                             ? "there is no such file; \"fragbench list workloads\" shows those "
                               "that come with it"
                             : strerror(errno);
    free(diagnostics->file);
    diagnostics->file = fb_strdup(path);
    fb_diagnostics_add(diagnostics, 0, 0, 1, "unreadable", "cannot read it: %s", reason);
    return -1;
}

int fb_workload_load(const char *path, const struct fb_override *overrides, size_t override_count,
                     struct fb_workload **out, struct fb_diagnostics *diagnostics)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return refuse(path, diagnostics);
    char *text = fb_alloc(FB_TEXT_MAX_BYTES + 1, 1);
    ssize_t size = read_all(fd, text, FB_TEXT_MAX_BYTES + 1);
    int saved = errno;
    (void)close(fd);
    errno = saved;
    int result = 0;
    if (size < 0)
        result = refuse(path, diagnostics);
    else if (fb_recording_is(text, (size_t)size))
        result = fb_replica_load(path, override_count, out, diagnostics);
    else
        result = fb_workload_parse(path, text, (size_t)size, overrides, override_count, out,
                                   diagnostics);
    free(text);
    return result;
}
