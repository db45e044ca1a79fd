#include "base/alloc.h"
#include "base/io.h"
#include "result/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* No workload is longer. */
#define WORKLOAD_MAX_BYTES ((size_t)1 << 20)

static char *workload_path(const char *dir, const char *name)
{
    char *file = fb_cell_file_name(name);
    char *path = fb_format("%s/workloads/%s.yaml", dir, file);
    free(file);
    return path;
}

int fb_store_keep_workload(const char *dir, const char *name, const char *text, size_t size,
                           struct fb_error *err)
{
    char *folder = fb_format("%s/workloads", dir);
    char *path = workload_path(dir, name);
    int status = mkdir(folder, 0777) == 0 || errno == EEXIST
                     ? fb_store_write_file(path, text, size, err)
                     : fb_fail_errno(err, "cannot make folder %s", folder);
    free(path);
    free(folder);
    return status;
}

char *fb_store_read_workload(const char *dir, const char *name)
{
    char *path = workload_path(dir, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    free(path);
    if (fd < 0)
        return NULL;
    char *text = fb_alloc(WORKLOAD_MAX_BYTES + 1, 1);
    ssize_t got = fb_io_read_all(fd, text, WORKLOAD_MAX_BYTES);
    (void)close(fd);
    if (got >= 0)
        return text;
    free(text);
    return NULL;
}
