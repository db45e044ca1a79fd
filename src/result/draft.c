#include "result/draft.h"

#include "base/alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_special(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && !S_ISREG(status.st_mode);
}

/* Hidden, so that no glob of *.csv or *.json picks up half a file. */
static char *temporary_name(const char *target)
{
    const char *slash = strrchr(target, '/');
    int folder = slash == NULL ? 0 : (int)(slash - target) + 1;
    return fb_format("%.*s.%s.partial", folder, target, target + folder);
}

static void release(struct fb_draft *draft)
{
    free(draft->path);
    free(draft->target);
    free(draft->temporary);
    memset(draft, 0, sizeof *draft);
}

/* A stale temporary file of a killed run is removed first, so O_EXCL only fails for a rival. */
static int open_target(const struct fb_draft *draft)
{
    if (draft->temporary == NULL)
        return open(draft->target, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    (void)unlink(draft->temporary);
    return open(draft->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}

int fb_draft_open(struct fb_draft *draft, const char *path, struct fb_error *err)
{
    bool special = is_special(path);
    char *resolved = special ? NULL : realpath(path, NULL);
    draft->path = fb_strdup(path);
    draft->target = resolved != NULL ? resolved : fb_strdup(path);
    draft->temporary = special ? NULL : temporary_name(draft->target);
    int fd = open_target(draft);
    draft->file = fd < 0 ? NULL : fdopen(fd, "w");
    if (draft->file != NULL)
        return 0;
    (void)fb_fail_errno(err, "cannot write %s", path);
    if (fd >= 0)
        (void)close(fd);
    release(draft);
    return -1;
}

int fb_draft_commit(struct fb_draft *draft, struct fb_error *err)
{
    int result = 0;
    bool failed = ferror(draft->file) != 0;
    int cause = errno;
    if (fclose(draft->file) != 0) {
        failed = true;
        cause = errno;
    }
    if (!failed && draft->temporary != NULL && rename(draft->temporary, draft->target) != 0) {
        failed = true;
        cause = errno;
    }
    if (failed) {
        errno = cause;
        result = fb_fail_errno(err, "cannot write %s", draft->path);
        if (draft->temporary != NULL)
            (void)unlink(draft->temporary);
    }
    release(draft);
    return result;
}
