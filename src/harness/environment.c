#include "harness/environment.h"

#include "base/alloc.h"
#include "harness/library.h"

#include <stdlib.h>
#include <string.h>

#define PAD_NAME "FRAGBENCH_PAD="

static char *pad(size_t used)
{
    size_t least = used + sizeof PAD_NAME;
    size_t whole = (least + FB_ENVIRONMENT_BYTES - 1) / FB_ENVIRONMENT_BYTES * FB_ENVIRONMENT_BYTES;
    size_t fill = whole - least;
    char *text = fb_alloc(sizeof PAD_NAME + fill, 1);
    memcpy(text, PAD_NAME, sizeof PAD_NAME - 1);
    memset(text + sizeof PAD_NAME - 1, 'x', fill);
    return text;
}

/* ld.so maps its cache while it looks for a dependency, and the hole that is left behind is as long
 * as the cache: with it the addresses of every allocator's first mappings would hang on what else
 * is installed (jemalloc's footprint moved by pages). A library that is found in LD_LIBRARY_PATH
 * needs no cache. One that brings a DT_RUNPATH keeps its own dependencies: LD_LIBRARY_PATH would
 * come before it. New string, or NULL. */
static char *library_path(const struct fb_contender *contender)
{
    const char *const libraries[] = {contender->path, contender->inner_path};
    for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; i++)
        if (libraries[i] != NULL && fb_library_has_runpath(libraries[i]))
            return NULL;
    char *folder = fb_library_libc_folder();
    if (folder == NULL)
        return NULL;
    /* Where /lib and /usr/lib are not one, other libraries are in the latter. */
    bool usr = strncmp(folder, "/lib", 4) == 0;
    char *path = usr ? fb_format("LD_LIBRARY_PATH=%s:/usr%s", folder, folder)
                     : fb_format("LD_LIBRARY_PATH=%s", folder);
    free(folder);
    return path;
}

char **fb_environment_new(const struct fb_contender *contender, const char *clock_library)
{
    char **list = fb_alloc(contender->env_count + 6, sizeof *list);
    size_t count = 0, used = 0;
    bool preloads = contender->path != NULL;
    bool wraps = contender->inner_path != NULL;
    list[count++] = fb_format("LD_PRELOAD=%s%s%s%s%s", clock_library, preloads ? ":" : "",
                              preloads ? contender->path : "", wraps ? ":" : "",
                              wraps ? contender->inner_path : "");
    list[count++] = fb_strdup("LC_ALL=C");
    list[count++] = fb_strdup("PATH=/usr/local/bin:/usr/bin:/bin");
    for (size_t i = 0; i < contender->env_count; i++)
        list[count++] = fb_format("%s=%s", contender->env[i].key, contender->env[i].value);
    char *found_in = library_path(contender);
    if (found_in != NULL)
        list[count++] = found_in;
    for (size_t i = 0; i < count; i++)
        used += strlen(list[i]) + 1;
    list[count] = pad(used);
    return list;
}

void fb_environment_free(char **environment)
{
    for (size_t i = 0; environment[i] != NULL; i++)
        free(environment[i]);
    free(environment);
}
