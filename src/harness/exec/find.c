/* Where the program and the counting library are. */
#include "harness/exec/answer.h"
#include "harness/exec/exec.h"

#include "base/alloc.h"
#include "harness/runner.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_executable(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

static int fail_at(const char *path, struct fb_error *err)
{
    struct stat status;
    if (stat(path, &status) != 0)
        return fb_fail(err, FB_ERROR_INPUT, "cannot run %s: %s", path, strerror(errno));
    if (!S_ISREG(status.st_mode))
        return fb_fail(err, FB_ERROR_INPUT, "cannot run %s: not a file", path);
    return fb_fail(err, FB_ERROR_INPUT, "cannot run %s: not executable (chmod +x)", path);
}

int fb_exec_find(const char *word, char **path, struct fb_error *err)
{
    const char *folders = getenv("PATH");
    if (strchr(word, '/') != NULL) {
        if (!is_executable(word))
            return fail_at(word, err);
        *path = fb_strdup(word);
        return 0;
    }
    for (const char *at = folders != NULL ? folders : "/usr/bin:/bin"; *word != '\0';) {
        size_t length = strcspn(at, ":");
        char *candidate = fb_format("%.*s%s%s", (int)length, at, length > 0 ? "/" : "./", word);
        if (is_executable(candidate)) {
            *path = candidate;
            return 0;
        }
        free(candidate);
        if (at[length] == '\0')
            break;
        at += length + 1;
    }
    return fb_fail(err, FB_ERROR_INPUT,
                   "cannot find a program \"%s\" in PATH; a file in this folder is ./%s", word,
                   word);
}

int fb_exec_live_library(char **path, struct fb_error *err)
{
    char worker[PATH_MAX], clock_library[PATH_MAX];
    if (fb_runner_locate(worker, clock_library, sizeof worker, err) != 0)
        return -1;
    char *found = fb_format("%.*s/" FB_LIVE_LIBRARY, (int)(strrchr(worker, '/') - worker), worker);
    if (access(found, R_OK) != 0) {
        (void)fb_fail_errno(err, "cannot read %s, which --live needs", found);
        free(found);
        return -1;
    }
    *path = found;
    return 0;
}
