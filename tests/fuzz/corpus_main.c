/* Runs the fuzz target over the files of the folders that are given, those with its ending
 * (FUZZ_ENDING): what the fuzzer found once, and all that ships, stays tested where there is no
 * libFuzzer. */
#include "workload_fuzz.h"

#include "base/alloc.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef FUZZ_ENDING
#define FUZZ_ENDING ".yaml"
#endif

enum { ROOM = 2 << 20 };

static int run_file(const char *path, unsigned char *room)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return -1;
    size_t size = fread(room, 1, ROOM, file);
    (void)fclose(file);
    /* An exact copy, so that the sanitizer sees a read behind the end. */
    unsigned char *data = fb_alloc(size, 1);
    memcpy(data, room, size);
    (void)LLVMFuzzerTestOneInput(data, size);
    free(data);
    return 0;
}

/* Number of files run, -1 when one or the folder could not be read. */
static int run_folder(const char *folder_path, unsigned char *room)
{
    DIR *folder = opendir(folder_path);
    int count = 0;
    if (folder == NULL)
        return -1;
    for (struct dirent *entry = readdir(folder); entry != NULL && count >= 0;
         entry = readdir(folder)) {
        size_t length = strlen(entry->d_name), ending = strlen(FUZZ_ENDING);
        if (length < ending || strcmp(entry->d_name + length - ending, FUZZ_ENDING) != 0)
            continue;
        char *path = fb_format("%s/%s", folder_path, entry->d_name);
        count = run_file(path, room) == 0 ? count + 1 : -1;
        free(path);
    }
    (void)closedir(folder);
    return count;
}

int main(int argc, char **argv)
{
    unsigned char *room = fb_alloc(ROOM, 1);
    int failed = argc < 2;
    for (int i = 1; i < argc; i++) {
        int count = run_folder(argv[i], room);
        (void)printf("%s: %d files\n", argv[i], count);
        failed = failed || count <= 0;
    }
    free(room);
    return failed;
}
