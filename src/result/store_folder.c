#include "base/alloc.h"
#include "result/store.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int make_folder(const char *path, struct fb_error *err)
{
    struct stat status;
    if (mkdir(path, 0777) == 0)
        return 0;
    if (errno == EEXIST && stat(path, &status) == 0 && S_ISDIR(status.st_mode))
        return 0;
    if (errno == EEXIST)
        return fb_fail(err, FB_ERROR_INPUT, "%s is a file; give a folder with -o", path);
    return fb_fail_errno(err, "cannot make folder %s", path);
}

static int make_folders(const char *dir, struct fb_error *err)
{
    char *path = fb_strdup(dir);
    int result = 0;
    for (char *slash = strchr(path + 1, '/'); slash != NULL && result == 0;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        result = make_folder(path, err);
        *slash = '/';
    }
    if (result == 0)
        result = make_folder(path, err);
    free(path);
    return result;
}

static bool is_empty(const char *dir)
{
    DIR *folder = opendir(dir);
    if (folder == NULL)
        return true;
    bool empty = true;
    for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            empty = false;
    (void)closedir(folder);
    return empty;
}

static bool ends_with(const char *name, const char *end)
{
    size_t length = strlen(name), tail = strlen(end);
    return length >= tail && strcmp(name + length - tail, end) == 0;
}

/* What runs write, and nothing else: a person's notes beside it survive -f. */
static const struct {
    const char *folder;
    const char *end;
} ours[] = {
    {"series", ".csv"},         {"plots", ".svg"},      {"plots", ".png"}, {"plots", ".txt"},
    {"series", ".csv.partial"}, {"plots", ".gp"},       {"plots", ".dat"}, {"heat", ".csv"},
    {"heat", ".csv.partial"},   {"workloads", ".yaml"}, {"logs", ".log"},
};

static bool is_ours(const char *folder, const char *name)
{
    for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++)
        if (strcmp(ours[i].folder, folder) == 0 && ends_with(name, ours[i].end))
            return true;
    return false;
}

static int remove_file(const char *path, struct fb_error *err)
{
    if (unlink(path) == 0 || errno == ENOENT)
        return 0;
    return fb_fail_errno(err, "cannot remove %s of an earlier run", path);
}

static int clear_folder(const char *dir, const char *folder, struct fb_error *err)
{
    char *path = fb_format("%s/%s", dir, folder);
    DIR *stream = opendir(path);
    int result = 0;
    while (stream != NULL && result == 0) {
        const struct dirent *entry = readdir(stream);
        if (entry == NULL)
            break;
        if (!is_ours(folder, entry->d_name))
            continue;
        char *file = fb_format("%s/%s", path, entry->d_name);
        result = remove_file(file, err);
        free(file);
    }
    if (stream != NULL)
        (void)closedir(stream);
    free(path);
    return result;
}

static int clear(const char *dir, struct fb_error *err)
{
    static const char *const files[] = {"result.json", ".result.json.partial", "report.html"};
    static const char *const folders[] = {"series", "plots", "heat", "workloads", "logs"};
    int result = 0;
    for (size_t i = 0; i < sizeof files / sizeof files[0] && result == 0; i++) {
        char *path = fb_format("%s/%s", dir, files[i]);
        result = remove_file(path, err);
        free(path);
    }
    for (size_t i = 0; i < sizeof folders / sizeof folders[0] && result == 0; i++)
        result = clear_folder(dir, folders[i], err);
    return result;
}

int fb_store_create(const char *dir, bool force, struct fb_error *err)
{
    if (make_folders(dir, err) != 0)
        return -1;
    if (!force && !is_empty(dir))
        return fb_fail(err, FB_ERROR_INPUT,
                       "folder %s is not empty; give another with -o, or -f to replace the result "
                       "in it",
                       dir);
    if (force && clear(dir, err) != 0)
        return -1;
    return fb_store_make_folder(dir, "series", err);
}

int fb_store_make_folder(const char *dir, const char *name, struct fb_error *err)
{
    char *path = fb_format("%s/%s", dir, name);
    int result = make_folder(path, err);
    free(path);
    return result;
}
