#include "scratch.h"

#include "base/alloc.h"

#include <dirent.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int scratch_setup(void **state)
{
    const char *base = getenv("TMPDIR");
    char *path = fb_format("%s/fragbench-test-XXXXXX", base == NULL ? "/tmp" : base);
    *state = mkdtemp(path);
    return *state == NULL ? -1 : 0;
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *at)
{
    (void)status;
    (void)type;
    (void)at;
    return remove(path);
}

int scratch_teardown(void **state)
{
    int result = nftw(*state, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    free(*state);
    return result;
}

char *scratch_read(const char *dir, const char *name)
{
    char *path = fb_format("%s/%s", dir, name);
    FILE *file = fopen(path, "re");
    free(path);
    if (file == NULL)
        return NULL;
    char *text = fb_alloc(1 << 20, 1);
    size_t size = fread(text, 1, (1 << 20) - 1, file);
    text[size] = '\0';
    (void)fclose(file);
    return text;
}

void scratch_write(const char *dir, const char *name, const char *text)
{
    char *path = fb_format("%s/%s", dir, name);
    FILE *file = fopen(path, "we");
    free(path);
    if (file == NULL || fputs(text, file) < 0 || fclose(file) != 0)
        abort();
}

int scratch_exists(const char *dir, const char *name)
{
    char *path = fb_format("%s/%s", dir, name);
    int exists = access(path, F_OK) == 0;
    free(path);
    return exists;
}

int scratch_entries(const char *dir)
{
    int count = 0;
    DIR *folder = opendir(dir);
    for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder))
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    (void)closedir(folder);
    return count;
}
