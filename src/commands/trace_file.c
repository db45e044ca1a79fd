#include "commands/trace_file.h"

#include "base/alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* A file that never had a name where the file system can do that (O_TMPFILE), else one that loses
 * it at once. */
static int open_unnamed(const char *folder, struct fb_error *err)
{
    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0)
        return fd;
    if (errno == EOPNOTSUPP || errno == EISDIR || errno == ENOENT) {
        char *name = fb_format("%s/.trace-XXXXXX", folder);
        fd = mkostemp(name, O_CLOEXEC);
        if (fd >= 0)
            (void)unlink(name);
        free(name);
    }
    if (fd < 0)
        return fb_fail_errno(err, "cannot make a trace file in %s", folder);
    return fd;
}

static int fill(const char *folder, const struct fb_plan_unit *unit, unsigned seed,
                struct fb_trace_file *file, struct fb_error *err)
{
    struct fb_compile_options options = fb_plan_options(unit, seed);
    const struct fb_totals *totals = &unit->totals[seed];
    struct fb_error why = {0};
    if (fb_compile_trace(unit->workload, &options, totals, file->fd, &why) != 0)
        return fb_fail(err, why.kind, "trace of %s%s in %s: %s", unit->workload->file, unit->suffix,
                       folder, why.text);
    file->size_bytes = (size_t)totals->trace_bytes;
    void *map = mmap(NULL, file->size_bytes, PROT_READ, MAP_SHARED, file->fd, 0);
    if (map == MAP_FAILED)
        return fb_fail_errno(err, "cannot map the trace of %s", unit->workload->file);
    file->header = map;
    return fb_sha256_fd(file->fd, file->sha256, err);
}

int fb_trace_file_make(const char *folder, const struct fb_plan_unit *unit, unsigned seed,
                       struct fb_trace_file *out, struct fb_error *err)
{
    struct fb_trace_file file = {.fd = open_unnamed(folder, err)};
    if (file.fd < 0)
        return -1;
    if (fill(folder, unit, seed, &file, err) != 0) {
        fb_trace_file_close(&file);
        return -1;
    }
    *out = file;
    return 0;
}

void fb_trace_file_close(struct fb_trace_file *file)
{
    if (file->header != NULL)
        (void)munmap((void *)file->header, file->size_bytes);
    (void)close(file->fd);
    *file = (struct fb_trace_file){.fd = -1};
}
