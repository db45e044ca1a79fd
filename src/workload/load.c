/* A workload from a file. */
#include "base/alloc.h"
#include "base/io.h"
#include "trace/recording.h"
#include "workload/replica.h"
#include "workload/text.h"
#include "workload/workload.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void fb_workload_show(const char *path, struct fb_diagnostics *diagnostics)
{
    free(diagnostics->file);
    diagnostics->file = fb_strdup(path);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    char *text = fb_alloc(FB_TEXT_MAX_BYTES + 1, 1);
    ssize_t size = fb_io_read_all(fd, text, FB_TEXT_MAX_BYTES + 1);
    (void)close(fd);
    if (size >= 0)
        (void)fb_text_accept(text, (size_t)size, diagnostics);
    free(text);
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
    ssize_t size = fb_io_read_all(fd, text, FB_TEXT_MAX_BYTES + 1);
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
