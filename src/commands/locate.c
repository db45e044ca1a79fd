#include "commands/locate.h"

#include "base/alloc.h"
#include "base/suggest.h"
#include "workload/keys.h"

#include <glob.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FOLDERS 3

/* A folder relative to the executable's, so that an installed tree can be moved. New string. */
static char *from_executable(const char *relative)
{
    char exe[4096];
    ssize_t length = readlink("/proc/self/exe", exe, sizeof exe - 1);
    exe[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(exe, '/');
    if (slash != NULL)
        *slash = '\0';
    return fb_format("%s/%s", exe, relative);
}

/* The folders in the order they are searched. */
static void folders(char *out[FOLDERS])
{
    out[0] = fb_strdup("workloads");
    out[1] = from_executable(FRAGBENCH_WORKLOADS_FROM_BIN);
    out[2] = fb_strdup(FRAGBENCH_SOURCE_WORKLOADS);
}

/* Something before the ending is needed, too. */
static bool ends_in(const char *text, const char *ending)
{
    size_t length = strlen(text), tail = strlen(ending);
    return length > tail && strcmp(text + length - tail, ending) == 0;
}

char *fb_locate_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    size_t length = strlen(name);
    if (ends_in(name, ".yaml"))
        length -= 5;
    return fb_format("%.*s", (int)length, name);
}

static bool has_name(char *const *paths, size_t count, const char *path)
{
    char *name = fb_locate_name(path);
    bool found = false;
    for (size_t i = 0; i < count && !found; i++) {
        char *other = fb_locate_name(paths[i]);
        found = strcmp(other, name) == 0;
        free(other);
    }
    free(name);
    return found;
}

static void add_folder(const char *folder, char ***paths, size_t *count)
{
    char *pattern = fb_format("%s/*.yaml", folder);
    glob_t found = {0};
    if (glob(pattern, 0, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc; i++) {
            if (has_name(*paths, *count, found.gl_pathv[i]))
                continue;
            *paths = fb_realloc(*paths, *count + 1, sizeof **paths);
            (*paths)[(*count)++] = fb_strdup(found.gl_pathv[i]);
        }
    }
    globfree(&found);
    free(pattern);
}

static int by_file_name(const void *left, const void *right)
{
    const char *const *a = left;
    const char *const *b = right;
    const char *slash_a = strrchr(*a, '/');
    const char *slash_b = strrchr(*b, '/');
    return strcmp(slash_a != NULL ? slash_a : *a, slash_b != NULL ? slash_b : *b);
}

char **fb_locate_all(size_t *count)
{
    char *searched[FOLDERS];
    char **paths = NULL;
    *count = 0;
    folders(searched);
    for (size_t i = 0; i < FOLDERS; i++) {
        add_folder(searched[i], &paths, count);
        free(searched[i]);
    }
    if (*count > 0)
        qsort(paths, *count, sizeof *paths, by_file_name);
    return paths;
}

void fb_locate_free(char **paths, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(paths[i]);
    free(paths);
}

static bool looks_like_path(const char *text)
{
    return strchr(text, '/') != NULL || ends_in(text, ".yaml") || ends_in(text, ".fbt") ||
           access(text, F_OK) == 0;
}

static int fail_unknown(const char *word, char **names, size_t count, struct fb_error *err)
{
    const char *near = fb_suggest(word, (const char *const *)names, count);
    if (near != NULL)
        return fb_fail(err, FB_ERROR_INPUT, "no workload \"%s\"; did you mean \"%s\"?", word, near);
    return fb_fail(err, FB_ERROR_INPUT,
                   "no workload \"%s\"; give a path, or a name of `fragbench list workloads`",
                   word);
}

int fb_locate_workload(const char *argument, char **path, struct fb_error *err)
{
    if (looks_like_path(argument)) {
        *path = fb_strdup(argument);
        return 0;
    }
    size_t count = 0;
    char **paths = fb_locate_all(&count);
    char **names = fb_alloc(count, sizeof *names);
    char *found = NULL;
    for (size_t i = 0; i < count; i++) {
        names[i] = fb_locate_name(paths[i]);
        if (found == NULL && strcmp(names[i], argument) == 0)
            found = fb_strdup(paths[i]);
    }
    int status = found != NULL ? 0 : fail_unknown(argument, names, count, err);
    if (found != NULL)
        *path = found;
    fb_locate_free(names, count);
    fb_locate_free(paths, count);
    return status;
}

int fb_locate_template(const char *kind, char **path, struct fb_error *err)
{
    char *installed = from_executable(FRAGBENCH_PLOTS_FROM_BIN);
    char *candidates[] = {fb_format("%s/%s.gp", installed, kind),
                          fb_format(FRAGBENCH_SOURCE_PLOTS "/%s.gp", kind)};
    int status = 0;
    if (access(candidates[0], R_OK) == 0)
        *path = fb_strdup(candidates[0]);
    else if (access(candidates[1], R_OK) == 0)
        *path = fb_strdup(candidates[1]);
    else
        status = fb_fail(err, FB_ERROR_IO, "the template %s is not there; install fragbench again",
                         candidates[0]);
    free(candidates[0]);
    free(candidates[1]);
    free(installed);
    return status;
}
