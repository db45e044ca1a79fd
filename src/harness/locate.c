/* Where the worker and the clock library are. */
#include "harness/runner.h"

#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WORKER "fragbench-worker"
#define CLOCK "libfragbench-clock.so"

/* Fills both paths when both files are in the folder. */
static bool find_in(const char *folder, char *worker, char *clock_library, size_t size)
{
    char resolved[PATH_MAX];
    if (folder == NULL || realpath(folder, resolved) == NULL)
        return false;
    int a = snprintf(worker, size, "%s/" WORKER, resolved);
    int b = snprintf(clock_library, size, "%s/" CLOCK, resolved);
    return a > 0 && (size_t)a < size && b > 0 && (size_t)b < size && access(worker, X_OK) == 0 &&
           access(clock_library, R_OK) == 0;
}

/* The folder of this executable with a suffix, "" when it cannot be told. */
static void beside_executable(const char *suffix, char *folder, size_t size)
{
    char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    folder[0] = '\0';
    if (length <= 0)
        return;
    path[length] = '\0';
    int written = snprintf(folder, size, "%s%s", dirname(path), suffix);
    if (written < 0 || (size_t)written >= size)
        folder[0] = '\0';
}

int fb_runner_locate(char *worker, char *clock_library, size_t size, struct fb_error *err)
{
    char beside[PATH_MAX], relative[PATH_MAX];
    beside_executable("", beside, sizeof beside);
    beside_executable("/../libexec/fragbench", relative, sizeof relative);
    const char *asked = getenv("FRAGBENCH_LIBEXEC");
    /* An explicit folder is not silently passed over. */
    const char *const folders[] = {asked != NULL ? asked : beside, asked != NULL ? NULL : relative,
                                   asked != NULL ? NULL : FB_LIBEXEC_FOLDER};
    bool found = false;
    for (size_t i = 0; i < sizeof folders / sizeof folders[0] && !found; i++)
        found = find_in(folders[i], worker, clock_library, size);
    if (!found && asked != NULL)
        return fb_fail(err, FB_ERROR_IO,
                       "no " WORKER " and " CLOCK " in %s (FRAGBENCH_LIBEXEC); unset it or set it "
                       "to their folder",
                       asked);
    if (!found)
        return fb_fail(err, FB_ERROR_IO,
                       "cannot find " WORKER " and " CLOCK " beside the executable (%s) or in %s; "
                       "set FRAGBENCH_LIBEXEC to their folder",
                       beside, FB_LIBEXEC_FOLDER);
    if (strpbrk(clock_library, ": \t") == NULL)
        return 0;
    return fb_fail(err, FB_ERROR_IO,
                   "%s has a colon or a space in its path, which LD_PRELOAD cannot carry; install "
                   "fragbench elsewhere",
                   clock_library);
}
