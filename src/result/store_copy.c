#include "base/alloc.h"
#include "result/draft.h"
#include "result/store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define CHUNK_BYTES 65536U

/* A result from elsewhere must not make us read or write outside its folder: the name is
 * "series/NAME" or "heat/NAME", as in the schema. */
static int check_name(const char *dir, const char *relative, struct fb_error *err)
{
    static const char *const folders[] = {"series/", "heat/"};
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        size_t length = strlen(folders[i]);
        const char *name = relative + length;
        if (strncmp(relative, folders[i], length) == 0 && *name != '\0' &&
            strchr(name, '/') == NULL && strcmp(name, "..") != 0)
            return 0;
    }
    return fb_fail(err, FB_ERROR_INPUT, "%s: series \"%s\" leads outside of the folder", dir,
                   relative);
}

typedef int visit_fn(const char *dir, const char *relative, const void *user, struct fb_error *err);

static int for_each_of(const char *dir, const struct fb_repetition *repetition, visit_fn *visit,
                       const void *user, struct fb_error *err)
{
    if (repetition->series_file != NULL && visit(dir, repetition->series_file, user, err) != 0)
        return -1;
    for (size_t i = 0; i < repetition->checkpoint_count; i++) {
        const struct fb_attribution *attribution = repetition->checkpoints[i].attribution;
        if (attribution != NULL && attribution->heat_file != NULL &&
            visit(dir, attribution->heat_file, user, err) != 0)
            return -1;
    }
    return 0;
}

static int for_each_series(const char *dir, const struct fb_result *result, visit_fn *visit,
                           const void *user, struct fb_error *err)
{
    for (size_t c = 0; c < result->cell_count; c++) {
        const struct fb_cell *cell = &result->cells[c];
        for (size_t r = 0; r < cell->repetition_count; r++)
            if (for_each_of(dir, &cell->repetitions[r], visit, user, err) != 0)
                return -1;
    }
    return 0;
}

static int check_series(const char *dir, const char *relative, const void *user,
                        struct fb_error *err)
{
    struct stat status;
    (void)user;
    if (check_name(dir, relative, err) != 0)
        return -1;
    char *path = fb_format("%s/%s", dir, relative);
    int result = 0;
    if (stat(path, &status) != 0)
        result = fb_fail_errno(err, "%s belongs to the result, but cannot be read", path);
    else if (!S_ISREG(status.st_mode))
        result = fb_fail(err, FB_ERROR_INPUT, "%s is no file", path);
    free(path);
    return result;
}

static int copy_bytes(FILE *from, const char *path, struct fb_draft *to, struct fb_error *err)
{
    char chunk[CHUNK_BYTES];
    size_t size = 0;
    while ((size = fread(chunk, 1, sizeof chunk, from)) > 0)
        (void)fwrite(chunk, 1, size, to->file);
    if (ferror(from))
        return fb_fail_errno(err, "cannot read %s", path);
    return 0;
}

/* heat/ is only there where something was explained. */
static int make_parent(const char *path, struct fb_error *err)
{
    char *parent = fb_format("%.*s", (int)(strrchr(path, '/') - path), path);
    int status = mkdir(parent, 0777) == 0 || errno == EEXIST
                     ? 0
                     : fb_fail_errno(err, "cannot make folder %s", parent);
    free(parent);
    return status;
}

static int copy_series(const char *dir, const char *relative, const void *user,
                       struct fb_error *err)
{
    char *path = fb_format("%s/%s", dir, relative);
    char *target = fb_format("%s/%s", (const char *)user, relative);
    struct fb_draft draft;
    int result = -1;
    FILE *from = fopen(path, "re");
    if (from == NULL) {
        (void)fb_fail_errno(err, "cannot read %s", path);
        goto out;
    }
    if (make_parent(target, err) == 0 && fb_draft_open(&draft, target, err) == 0) {
        int copied = copy_bytes(from, path, &draft, err);
        result = fb_draft_commit(&draft, err) == 0 ? copied : -1;
    }
    (void)fclose(from);
out:
    free(target);
    free(path);
    return result;
}

int fb_store_check_series(const char *dir, const struct fb_result *result, struct fb_error *err)
{
    return for_each_series(dir, result, check_series, NULL, err);
}

int fb_store_copy_series(const char *from, const struct fb_result *result, const char *to,
                         struct fb_error *err)
{
    return for_each_series(from, result, copy_series, to, err);
}

char *fb_store_folder_of(const char *path)
{
    struct stat status;
    const char *slash = strrchr(path, '/');
    if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
        return fb_strdup(path);
    if (slash == NULL)
        return fb_strdup(".");
    return fb_format("%.*s", slash == path ? 1 : (int)(slash - path), path);
}
