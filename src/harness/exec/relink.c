#include "harness/exec/relink.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "harness/capture.h"

#include <stdlib.h>
#include <string.h>

#define LIST_CAP_BYTES ((size_t)1 << 20)

/* "\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x7f…)": the path; NULL in other lines. */
static char *listed_path(const char *line, size_t length)
{
    const char *arrow = memmem(line, length, "=> /", 4);
    if (arrow == NULL)
        return NULL;
    return fb_format("%.*s", (int)strcspn(arrow + 3, " \n"), arrow + 3);
}

static bool is_libc(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL && strncmp(slash, "/libc.so", 8) == 0;
}

/* Keeps the first libc and the first object that defines malloc. */
static void consider(char *path, struct fb_binaries *objects, struct fb_relink *found)
{
    if (found->libc == NULL && is_libc(path))
        found->libc = fb_strdup(path);
    if (found->linked_to == NULL && fb_binaries_get(objects, path, path)->defines_malloc)
        found->linked_to = fb_strdup(path);
    free(path);
}

void fb_relink_parse(const char *list, struct fb_binaries *objects, struct fb_relink *out)
{
    struct fb_relink found = {0};
    while (*list != '\0') {
        size_t length = strcspn(list, "\n");
        char *path = listed_path(list, length);
        if (path != NULL)
            consider(path, objects, &found);
        list += length + (list[length] == '\n');
    }
    if (found.libc == NULL || found.linked_to == NULL || is_libc(found.linked_to))
        fb_relink_deinit(&found);
    *out = found;
}

void fb_relink_find(const char *path, char *const *environment, struct fb_binaries *objects,
                    struct fb_relink *out)
{
    const struct fb_binary *object = fb_binaries_get(objects, path, path);
    *out = (struct fb_relink){0};
    if (!object->elf || object->interpreter[0] == '\0' || object->defines_malloc)
        return;
    char *folders = NULL;
    for (; *environment != NULL && folders == NULL; environment++)
        if (strncmp(*environment, "LD_LIBRARY_PATH=", 16) == 0)
            folders = fb_strdup(*environment);
    char list_option[] = "--list", *program = fb_strdup(path);
    char *interpreter = fb_strdup(object->interpreter);
    char *const argv[] = {interpreter, list_option, program, NULL};
    char *const variables[] = {folders, NULL};
    struct fb_buf list;
    fb_buf_init(&list, LIST_CAP_BYTES);
    if (fb_capture(argv, variables, &list, NULL) == 0)
        fb_relink_parse(list.text, objects, out);
    fb_buf_deinit(&list);
    free(folders);
    free(program);
    free(interpreter);
}

void fb_relink_deinit(struct fb_relink *relink)
{
    free(relink->libc);
    free(relink->linked_to);
    *relink = (struct fb_relink){0};
}
